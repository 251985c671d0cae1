"""A stream of the numbers 0, 1, 2, …: what generated tables are computed from, in the JVM.

The offset of the stream is the next number, so a generator can go on from any position.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_FORMAT = "rekindle_numbers"
_BATCH = 100_000
_MOST = 500_000
"""Numbers in a micro-batch of a stream without end and pace."""


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


def number_stream(spark: SparkSession, name: str, numbers: Numbers) -> DataFrame:
    """A streaming DataFrame with the column n BIGINT."""
    spark.dataSource.register(NumberSource)
    options = {key: str(value) for key, value in asdict(numbers).items()}
    return spark.readStream.format(_FORMAT).options(**options).name(name).load()


class NumberSource(DataSource):
    """Spark's side of `number_stream`."""

    @classmethod
    def name(cls) -> str:
        """Of the format."""
        return _FORMAT

    def schema(self) -> str:
        """One column."""
        return "n BIGINT"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        """The reader."""
        return NumberReader(Numbers(**{key: int(self.options[key]) for key in asdict(Numbers())}))


class NumberReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are ``{"n": next number}``."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._began: tuple[float, int] | None = None
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Before the first number."""
        return {"n": self._numbers.start}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Bounded by option, or where there is neither an end nor a pace."""
        if self._numbers.max_rows > 0:
            return ReadMaxRows(self._numbers.max_rows)
        if self._numbers.end < 0 and self._numbers.per_second == 0:
            return ReadMaxRows(_MOST)
        return super().getDefaultReadLimit()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """A stream without end stops after one bounded step."""
        if self._numbers.end < 0:
            self._target = -1

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """As far as pace, end and limit allow."""
        at = start["n"]
        if self._numbers.hold:
            return {"n": at}
        if self._target is not None and self._target < 0:
            self._target = at + (self._numbers.per_second or _MOST)
        latest = self._due(at)
        for bound in (self._target, self._numbers.end if self._numbers.end >= 0 else None):
            latest = latest if bound is None else min(latest, bound)
        if isinstance(limit, ReadMaxRows):
            latest = min(latest, at + limit.max_rows)
        return {"n": max(latest, at)}

    def _due(self, at: int) -> int:
        if self._numbers.per_second == 0:
            return self._numbers.end if self._numbers.end >= 0 else at + _MOST
        if self._began is None:
            self._began = (time.monotonic(), at)
        since, base = self._began
        # The first second's numbers are there at once, so that no micro-batch is empty.
        return base + int((time.monotonic() - since + 1) * self._numbers.per_second)

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
