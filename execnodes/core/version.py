"""Engine versions: which release wrote a plan or a savepoint, and which of them this release reads."""

from __future__ import annotations

import re

RELEASE = "2.5.0.dev0"
"""Version of the package; between two releases that of the next one with ``.dev0``."""
ENGINE_VERSION = ".".join(RELEASE.split(".")[:2])
"""What plans and savepoints carry, the same in a release, its patches, and what leads up to it."""
OLDEST_READABLE = "1.0"
"""The first release whose plans and savepoints are still read."""


def version_tuple(text: object) -> tuple[int, int]:
    """(major, minor) of a text such as ``1.0``; ValueError for anything else."""
    match = re.fullmatch(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)", text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r} is not an engine version; expected e.g. '{ENGINE_VERSION}'")
    return int(match[1]), int(match[2])
