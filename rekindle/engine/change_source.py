"""A stream of a job's changes, as a source of Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from rekindle.engine.change_reader import ChangeReader
from rekindle.spark.releases import names_streams

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamReader
    from pyspark.sql.types import StructType

FORMAT = "rekindle_changes"


class ChangeSource(DataSource):
    """The options are the folder, the job's id, and the columns."""

    @classmethod
    def name(cls) -> str:
        """Of the format."""
        return FORMAT

    def schema(self) -> str:
        """As the option has it."""
        return self.options["columns"]

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        """One that is told where a query ends with what there is, where Spark tells it."""
        if not names_streams():
            return ChangeReader(self.options["folder"], self.options["job"], schema)
        # PySpark 4.1 cannot load it.
        from rekindle.engine.ending_reader import EndingReader

        return EndingReader(self.options["folder"], self.options["job"], schema)
