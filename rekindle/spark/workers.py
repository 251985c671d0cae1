"""Spark's Python workers, which serve one task after the other."""

from __future__ import annotations

import gc
from functools import lru_cache


@lru_cache(maxsize=1)
def settle() -> None:
    """Leave what this process has loaded by its first task out of garbage collection.

    A worker collects behind each task, and looks at all that there is: modules, above all, which takes longer than few
    rows do.
    """
    gc.collect()
    gc.freeze()
