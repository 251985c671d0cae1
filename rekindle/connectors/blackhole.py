"""Connector blackhole: takes rows and forgets them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.blackhole import CONNECTOR
from execnodes.core.connectors import ConnectorDeclaration
from rekindle.connectors.base import RowsWriter, SinkConnector, SinkRequest, SinkWriter
from rekindle.connectors.options import TableOption

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


class Blackhole(SinkConnector):
    """Takes every kind of row but -U."""

    declaration: ClassVar[ConnectorDeclaration] = CONNECTOR

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """None of its own."""
        return ()

    def writer(self, spark: SparkSession, request: SinkRequest) -> SinkWriter:
        """Computes all columns of each batch, in the JVM."""
        self.opened(request.table, "sink", request.name)
        return _Writer()


class _Writer(RowsWriter):
    concurrent: ClassVar[bool] = True
    single_pass: ClassVar[bool] = True

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """Run the batch to its end."""
        batch.write.format("noop").mode("overwrite").save()

    def write_rows(self, rows: pa.Table, batch_id: int) -> None:
        """They are there, and that is all."""
