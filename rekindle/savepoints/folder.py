"""Folders that appear whole or not at all: written under a hidden name, synced, renamed."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from execnodes.core.errors import StateError


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A hidden folder that becomes `target` at the end, or is removed if there is an error; StateError if it exists."""
    refuse_existing(target)
    hidden = target.with_name(f".{target.name}.{uuid.uuid4().hex}.partial")
    try:
        hidden.mkdir(parents=True)
        yield hidden
        for place, _, files in os.walk(hidden):
            for name in files:
                sync(Path(place, name))
            sync(Path(place))
        # A folder that has come meanwhile is not replaced, even if it is empty.
        refuse_existing(target)
        hidden.rename(target)
        sync(target.parent)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def refuse_existing(target: Path) -> None:
    """StateError if there is something already."""
    if target.exists():
        raise StateError("the folder exists already", where=str(target), hint="Give a new folder.")


def sync(path: Path) -> None:
    """Wait until a file or folder is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
