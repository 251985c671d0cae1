"""Spark's Python workers: forks of one process, which serve one task after the other."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from functools import lru_cache
from importlib import import_module

_LOADED = (
    "numpy",
    "polars",
    "pyarrow.compute",
    "pandas",
    "pyarrow.parquet",
    "pyspark.worker",
    "rekindle.connectors.plain_files",
    "rekindle.engine.host",
)
"""What tasks of jobs use. None of it starts threads that a fork would miss: Polars starts them with its first work."""


def load_ahead() -> None:
    """Load what workers need before they are forked.

    Each would take a second for it, and a job may have a worker for each of its operators; now they share the memory.
    """
    if sys.platform != "linux":
        # Libraries of macOS that NumPy may use do not outlive a fork.
        return
    # Python warns of forks where there are threads: those of memory allocators, which begin anew in each fork.
    warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
    for name in _LOADED:
        import_module(name)
    os.register_at_fork(after_in_child=_seed)
    _freeze()


def _seed() -> None:
    """Python seeds its random numbers anew in each fork, NumPy does not: functions would get the same ones in all."""
    import numpy as np

    np.random.seed()


@lru_cache(maxsize=1)
def settle() -> None:
    """Leave what this process has loaded by its first task out of garbage collection.

    A worker collects behind each task, and looks at all that there is: modules, above all, which takes longer than few
    rows do.
    """
    _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()
