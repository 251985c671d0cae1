"""A stream of the numbers 0, 1, 2, …: what generated tables are computed from, in the JVM.

The offset of the stream is the next number, so a generator can go on from any position.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceStreamReader

from rekindle.spark.releases import named, names_streams, require_named_streams
from tests.streams.number_reader import NumberReader, Numbers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_FORMAT = "rekindle_numbers"


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
        # PySpark 4.1 cannot load it.
        from tests.streams.limited_numbers import LimitedReader

        return LimitedReader(numbers)
