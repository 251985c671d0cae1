"""The store alone: what 1,000 addresses cost to read and to write against the rows there are, 100,000 and 10 million.

Ratios of milliseconds in one process, medians of many micro-batches with all merging; no Spark.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import polars as pl

from benchmarks.common import median
from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import StateSpec
from rekindle.engine.log import Log
from rekindle.engine.store.call import StoreCall
from rekindle.engine.store.disk import LocalDisk
from rekindle.engine.store.inventory import Inventory
from rekindle.engine.store.segment_file import path_of
from rekindle.engine.store.state_list import StateId

SPEC = StateSpec("s", (Column("k", BIGINT), Column("v", BIGINT), Column("n", BIGINT)))
ID = StateId("operator", "s", 0)
FEW, MANY, ASKED = 100_000, 10_000_000, 1_000
_BATCHES = 60
_FILLED = 1_000_000


class _Job:
    """A job with one subtask of one operator, in a folder of its own."""

    def __init__(self, folder: str, rows: int) -> None:
        self._disk = LocalDisk(folder)
        self._log = Log(self._disk)
        self._inventory = Inventory(self._disk, {})
        self._random = np.random.default_rng(rows)
        self._hashes = self._random.integers(-(2**63), 2**63 - 1, rows)
        self.read: list[float] = []
        self.committed: list[float] = []
        for start in range(0, rows, _FILLED):
            with self._batch() as call:
                call.state(ID, SPEC).append(self._frame(self._hashes[start : start + _FILLED]))

    def batch(self) -> None:
        """Read some addresses, write them, commit."""
        began = time.perf_counter()
        with self._batch() as call:
            state = call.state(ID, SPEC)
            asked = self._frame(self._random.choice(self._hashes, ASKED))
            start = time.perf_counter()
            found = state.read(asked)
            self.read.append(time.perf_counter() - start)
            state.write(found.with_columns(pl.col("v") + 1))
        self.committed.append(time.perf_counter() - began)

    @contextmanager
    def _batch(self) -> Iterator[StoreCall]:
        plan = self._log.plan({})
        call = StoreCall(self._disk, self._inventory.newest, 0, self._inventory.sparse())
        yield call
        written = call.finish()
        newest = dict.fromkeys(written.states, written.file or "")
        self._log.commit(plan, None, {**self._inventory.newest, **newest}, {})
        for name in self._inventory.apply(newest, written.emptied):
            self._disk.remove(path_of(name))
        self._log.tidy()

    @staticmethod
    def _frame(hashes: np.ndarray) -> pl.DataFrame:
        return pl.DataFrame({HASH: hashes, "k": hashes, "v": hashes, "n": hashes}, schema=SPEC.schema)


def figures() -> dict[str, float]:
    jobs, folders = {}, []
    for rows in (FEW, MANY):
        folders.append(tempfile.mkdtemp(prefix="segments-"))
        jobs[rows] = _Job(folders[-1], rows)
    # In turns, so that what the machine does besides meets both.
    for _ in range(_BATCHES):
        for job in jobs.values():
            job.batch()
    for folder in folders:
        shutil.rmtree(folder)
    few, many = jobs[FEW], jobs[MANY]
    return {
        f"reading {ASKED:,} addresses of {FEW:,} rows, milliseconds": 1000 * median(few.read),
        f"reading them of {MANY:,} rows, times as long": median(many.read) / median(few.read),
        f"the micro-batch with its commit, {FEW:,} rows, milliseconds": 1000 * median(few.committed),
        f"the micro-batch, {MANY:,} rows, times as long": median(many.committed) / median(few.committed),
        "all micro-batches with what is merged, times as long": sum(many.committed) / sum(few.committed),
    }
