"""What rows are spared on their way from the JVM into Python, and are given there.

Every column that Spark hands over costs as much as the rows are many, 100 ns a value. What is the same for all rows, or
follows from the rest, is not handed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from execnodes.engine.hashes import hashes
from execnodes.engine.slot_frames import HIDDEN_DTYPES, SUBTASK, TAG
from execnodes.lowering.stream import HASH


@dataclass(frozen=True)
class Inlet:
    """Columns that frames lack."""

    constants: Mapping[str, int] = field(default_factory=dict)
    """Hidden columns of one value."""
    keys: tuple[str, ...] | None = None
    """Slots whose hash is `HASH`; None where rows bring their hash or need none."""

    def read(self, batches: Iterable[Any]) -> pl.DataFrame:
        """Record batches as a whole frame."""
        import pyarrow as pa

        frame = pl.DataFrame(pa.Table.from_batches(list(batches)))
        given = (
            pl.lit(value, HIDDEN_DTYPES.get(name, pl.Int32())).alias(name) for name, value in self.constants.items()
        )
        frame = frame.with_columns(given)
        return frame if self.keys is None else with_hash(frame, self.keys)


def with_hash(frame: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """The frame with `HASH` of slots."""
    columns = (frame[name].to_arrow(compat_level=pl.CompatLevel.oldest()) for name in keys)
    return frame.with_columns(pl.Series(HASH, hashes(columns, frame.height)))


@dataclass(frozen=True)
class Spread:
    """How rows with a hash are spread over subtasks (see rekindle/pipeline/subtasks.py)."""

    max_parallelism: int
    numbers: Mapping[int, tuple[int, ...]]
    """Tag to the numbers of its subtasks, in order."""

    def subtasks(self, rows: pl.DataFrame, fallback: int = 0) -> pl.DataFrame:
        """Rows with `SUBTASK`; those without a hash, which only pass through, go by `fallback`."""
        groups = np.mod(rows[HASH].fill_null(fallback).to_numpy(), self.max_parallelism)
        found = np.zeros(rows.height, np.int32)
        for tag, numbers in self.numbers.items():
            own = np.array(numbers, np.int32)[groups * len(numbers) // self.max_parallelism]
            found = own if len(self.numbers) == 1 else np.where(rows[TAG].to_numpy() == tag, own, found)
        return rows.with_columns(pl.Series(SUBTASK, found))
