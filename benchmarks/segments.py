"""The store alone: what 1,000 addresses cost to read and to write against the rows there are, 100,000 and 10 million.

Ratios of milliseconds in one process, medians of many micro-batches with all merging; no Spark.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.common import median
from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import StateSpec
from rekindle.connectors.positions import News
from rekindle.engine.micro_batch import MicroBatch, MicroBatches, Ran
from rekindle.engine.store.call import StoreCall
from rekindle.engine.store.disk import LocalDisk
from rekindle.engine.store.state_list import StateId

SPEC = StateSpec("s", (Column("k", BIGINT), Column("v", BIGINT), Column("n", BIGINT)))
ID = StateId("operator", "s", 0)
FEW, MANY, ASKED = 100_000, 10_000_000, 1_000
_BATCHES = 60
_FILLED = 1_000_000


class _Upserts:
    """A source and a program: fill a state, then read and write some addresses in each micro-batch."""

    def __init__(self, folder: str, rows: int) -> None:
        self._disk = LocalDisk(folder)
        self._random = np.random.default_rng(rows)
        self._hashes = self._random.integers(-(2**63), 2**63 - 1, rows)
        self.read: list[float] = []
        self.timeouts: dict[str, int] = {}

    def plan(self, position: int | None) -> News:
        """One step further."""
        return News((position or 0) + 1)

    def run(self, batch: MicroBatch) -> Ran:
        """Fill it, as long as there is something to fill it with."""
        call = StoreCall(self._disk, batch.newest, 0, batch.sparse)
        state = call.state(ID, SPEC)
        fills = self._hashes[batch.number * _FILLED : (batch.number + 1) * _FILLED]
        if len(fills):
            state.append(_frame(fills))
        else:
            asked = _frame(self._random.choice(self._hashes, ASKED))
            began = time.perf_counter()
            found = state.read(asked)
            self.read.append(time.perf_counter() - began)
            state.write(found.with_columns(pl.col("v") + 1))
        return Ran((call.finish(),))


def _frame(hashes: NDArray[np.int64]) -> pl.DataFrame:
    return pl.DataFrame({HASH: hashes, "k": hashes, "v": hashes, "n": hashes}, schema=SPEC.schema)


@dataclass
class _Job:
    """A job with one subtask of one operator."""

    loop: MicroBatches
    program: _Upserts
    took: list[float] = field(default_factory=list)

    @classmethod
    def filled(cls, folder: str, rows: int) -> _Job:
        """With so many rows of state."""
        program = _Upserts(folder, rows)
        job = cls(MicroBatches(LocalDisk(folder), {"source": program}, program, lambda: 0), program)
        for _ in range(0, rows, _FILLED):
            job.loop.step()
        return job

    def step(self) -> None:
        """A micro-batch, with its commit."""
        began = time.perf_counter()
        self.loop.step()
        self.took.append(time.perf_counter() - began)


def figures() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        jobs = {rows: _Job.filled(f"{folder}/{rows}", rows) for rows in (FEW, MANY)}
        # In turns, so that what the machine does besides meets both.
        for _ in range(_BATCHES):
            for job in jobs.values():
                job.step()
    few, many = jobs[FEW], jobs[MANY]
    return {
        f"reading {ASKED:,} addresses of {FEW:,} rows, milliseconds": 1000 * median(few.program.read),
        f"reading them of {MANY:,} rows, times as long": median(many.program.read) / median(few.program.read),
        f"the micro-batch with its commit, {FEW:,} rows, milliseconds": 1000 * median(few.took),
        f"the micro-batch, {MANY:,} rows, times as long": median(many.took) / median(few.took),
        "all micro-batches with what is merged, times as long": sum(many.took) / sum(few.took),
    }
