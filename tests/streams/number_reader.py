"""Which numbers a stream of numbers has, and reading them in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 100_000


@dataclass(frozen=True)
class Numbers:
    """Which numbers come, and how fast."""

    start: int = 0
    end: int = -1
    """Exclusive; -1 for no end."""
    per_second: int = 0
    """0: as fast as they are taken."""
    max_rows: int = 0
    """Most in a micro-batch; 0 for no bound."""
    parts: int = 2
    """Tasks of a micro-batch."""
    hold: int = 0
    """1: no new numbers."""


class NumberReader(DataSourceStreamReader):
    """All numbers in one micro-batch. Offsets are ``{"n": next number}``."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Before the first number."""
        return {"n": self._numbers.start}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:  # noqa: N802
        """Behind the last number; PySpark 4.1 gives no arguments."""
        return {"n": max(self._numbers.start, self._numbers.end)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Equal pieces."""
        first, last = start["n"], end["n"]
        parts = max(1, min(self._numbers.parts, (last - first) // 1000 + 1))
        edges = [first + (last - first) * i // parts for i in range(parts + 1)]
        return [InputPartition((a, b)) for a, b in pairwise(edges) if a < b]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Arrow batches."""
        import numpy as np
        import pyarrow as pa

        first, last = _edges(partition)
        for at in range(first, last, _BATCH):
            numbers = np.arange(at, min(at + _BATCH, last), dtype=np.int64)
            yield pa.RecordBatch.from_arrays([pa.array(numbers)], names=["n"])


def _edges(partition: Any) -> tuple[int, int]:
    first, last = partition.value
    return int(first), int(last)
