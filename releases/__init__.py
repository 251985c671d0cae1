"""The releases there have been: for each a folder with its wheel and `release.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

FOLDER = Path(__file__).parent
MANIFEST = "release.json"


@dataclass(frozen=True)
class Release:
    """A release, as its folder says."""

    version: str
    """``1.0.0``, the name of the folder."""
    commit: str
    """What it was built from."""
    date: str
    """Of that commit, UTC."""
    wheel: str
    """Name of the file."""
    sha256: str
    """Of the wheel."""
    nodes: Mapping[str, Any]
    """Node version to the hashes of its JSON and of its state layouts (`tests.completeness.frozen`)."""

    @property
    def path(self) -> Path:
        """Where the wheel lies."""
        return FOLDER / self.version / self.wheel

    @property
    def engine_version(self) -> str:
        """What its plans and savepoints carry: ``1.0``."""
        return ".".join(self.version.split(".")[:2])


def releases() -> tuple[Release, ...]:
    """All there are, oldest first."""
    files = FOLDER.glob(f"*/{MANIFEST}")
    found = [Release(**json.loads(each.read_text(encoding="utf-8"))) for each in files]
    return tuple(sorted(found, key=lambda each: Version(each.version)))
