"""Folders that appear whole or not at all: written under a hidden name, synced, renamed. Only their owner can enter."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from execnodes.core.errors import StateError
from rekindle.files.atomic_file import make_private, private_folder
from rekindle.files.paths import entered

_log = logging.getLogger("rekindle.savepoints")
_LONGEST = 40
"""Characters of a name that its hidden name has; names have an end."""
_YOUNG = 60.0
"""Seconds for which nobody takes a hidden folder for one that was left: its writer has no lock on it yet."""
_LEFT = re.compile(r"\..*\.([0-9a-f]{8})-[0-9a-f]{16}\.partial")


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A hidden folder that becomes `target` at the end, or is removed if there is an error.

    StateError if it exists, or if it cannot be written. What writers have left that were killed is removed.
    """
    target = entered(target)
    refuse_existing(target)
    hidden = target.with_name(f".{target.name[:_LONGEST]}.{_machine()}-{uuid.uuid4().hex[:16]}.partial")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_left(target.parent)
        private_folder(hidden)
        handle = os.open(hidden, os.O_RDONLY)
        try:
            # Held until the writer ends, whichever way: so others know that this one is alive.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield hidden
            for place, _, files in os.walk(hidden):
                for name in files:
                    make_private(Path(place, name))
                    sync(Path(place, name))
                make_private(Path(place))
                sync(Path(place))
            # A folder that has come meanwhile is not replaced, even if it is empty.
            refuse_existing(target)
            try:
                hidden.rename(target)
            except OSError:
                # It has come just now: another savepoint to the same place.
                refuse_existing(target)
                raise
            sync(target.parent)
        finally:
            os.close(handle)
            shutil.rmtree(hidden, ignore_errors=True)


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """What the system refuses becomes a StateError."""
    try:
        yield
    except OSError as error:
        raise StateError(
            f"the savepoint cannot be written: {error.strerror or error}",
            where=str(error.filename or place),
            hint="Check the place, its space and its permissions.",
        ) from error


def _remove_left(parent: Path) -> None:
    """Folders of writers of this machine that are no more; others can only be named."""
    for each in sorted(parent.glob(".*.partial")):
        found = _LEFT.fullmatch(each.name)
        if found is None or found[1] != _machine() or each.is_symlink():
            _log.warning("%s may be half of a savepoint; remove it, if no other machine writes there", each)
            continue
        # It may become a savepoint at any moment.
        with suppress(FileNotFoundError, NotADirectoryError):
            _remove_dead(each)


def _remove_dead(hidden: Path) -> None:
    if time.time() - hidden.stat().st_mtime < _YOUNG:
        return
    handle = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # Its writer is at work.
        return
    else:
        shutil.rmtree(hidden, ignore_errors=True)
        _log.info("%s was half of a savepoint, whose writer is no more; it is removed", hidden)
    finally:
        os.close(handle)


def _machine() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def new_file(path: Path, text: str) -> None:
    """A text file that is not there yet."""
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def refuse_existing(target: Path) -> None:
    """StateError if there is something already, be it a link that leads nowhere."""
    if os.path.lexists(target):
        raise StateError("the folder exists already", where=str(target), hint="Give a new folder.")


def state_folder(folder: Path, uid: str, name: str) -> Path:
    """Where the files of a state are, whatever an operator is called."""
    return folder / "state" / _file_name(uid) / f"{_file_name(name)}.parquet"


def _file_name(text: str) -> str:
    """The text, if a file can be called so; else as much of it as can be, and what tells it from others."""
    if re.fullmatch(r"[\w$@ -][\w$@. -]{0,99}", text):
        return text
    plain = re.sub(r"[^A-Za-z0-9-]", "_", text[:_LONGEST])
    return f"{plain}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def sync(path: Path) -> None:
    """Wait until a file or folder is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
