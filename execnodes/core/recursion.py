"""Room for what walks trees by recursion: as much as plans within the limits need, and an error of ours beyond."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from execnodes.core.errors import RekindleError

FRAMES = 10_000
"""Calls inside each other that are allowed at least. Python's own limit, 1,000, is less than the limits of the planner
need; the stack of a thread, 8 MB, does for more than twice as many."""


@contextmanager
def room(refused: Callable[[], RekindleError]) -> Iterator[None]:
    """Nothing in here ends in a RecursionError: what nests deeper is refused with the error given.

    The limit of the process stays as it is then: other threads may be deep in something of their own.
    """
    if sys.getrecursionlimit() < FRAMES:
        sys.setrecursionlimit(FRAMES)
    try:
        yield
    except RecursionError:
        raise refused() from None
