"""Engine versions: which release wrote a plan or a savepoint, and which of them this release reads."""

from __future__ import annotations

import re

ENGINE_VERSION = "1.0"
"""This release; plans and savepoints carry it."""
OLDEST_READABLE = "1.0"
"""The first release whose plans and savepoints are still read."""


def version_tuple(text: object) -> tuple[int, int]:
    """(major, minor) of a text such as ``1.0``; ValueError for anything else."""
    match = re.fullmatch(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)", text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r} is not an engine version; expected e.g. '{ENGINE_VERSION}'")
    return int(match[1]), int(match[2])
