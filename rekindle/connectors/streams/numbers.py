"""A stream of the numbers 0, 1, 2, …: what generated tables are computed from, in the JVM.

The offset of the stream is the next number, so a generator can go on from any position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from rekindle.spark.releases import named, names_streams, require_named_streams

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_FORMAT = "rekindle_numbers"
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


def number_stream(spark: SparkSession, name: str, numbers: Numbers, where: str) -> DataFrame:
    """A streaming DataFrame with the column n BIGINT; ConnectorError, at `where`, for what PySpark 4.1 cannot do."""
    if numbers.end < 0 or numbers.per_second or numbers.max_rows:
        hint = "Give it an end, 'rows-per-second' = '0', and execution.micro-batch.max-rows 0; or install a newer one."
        require_named_streams("a generated table with a pace, bounded micro-batches or no end", where, hint)
    spark.dataSource.register(NumberSource)
    options = {key: str(value) for key, value in asdict(numbers).items()}
    return named(spark.readStream.format(_FORMAT).options(**options), name).load()


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
        """What reads the numbers; one that ends by itself where Spark takes such."""
        numbers = Numbers(**{key: int(self.options[key]) for key in asdict(Numbers())})
        if not names_streams():
            return NumberReader(numbers)
        from rekindle.connectors.streams.limited_numbers import LimitedReader

        return LimitedReader(numbers)


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
