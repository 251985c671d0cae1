"""Connector print: rows on standard output, as ``+I[1, abc]``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.print import CONNECTOR
from execnodes.core.changelog import RowKind
from execnodes.core.connectors import ConnectorDeclaration
from rekindle.connectors.arrow import changes, printed
from rekindle.connectors.base import RowsWriter, SinkConnector, SinkRequest, SinkWriter
from rekindle.connectors.options import TableOption

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

OPTIONS = (
    TableOption("print-identifier", "text", "", "Stands before each row, with '> '."),
    TableOption("standard-error", "bool", "false", "Print to standard error."),
    TableOption("sink.parallelism", "int", "", "Accepted for Flink's sake; it has no effect."),
)


class Print(SinkConnector):
    """Takes every kind of row."""

    declaration: ClassVar[ConnectorDeclaration] = CONNECTOR

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """Flink's options."""
        return OPTIONS

    def writer(self, spark: SparkSession, request: SinkRequest) -> SinkWriter:
        """Prints a micro-batch at a time."""
        options = self.opened(request.table, "sink", request.name)
        return _Writer(request, options.text("print-identifier"), options.flag("standard-error"))


class _Writer(RowsWriter):
    def __init__(self, request: SinkRequest, prefix: str, to_stderr: bool) -> None:
        self._types = [column.data_type for column in request.columns]
        self._prefix = f"{prefix}> " if prefix else ""
        self._to_stderr = to_stderr

    def write_rows(self, rows: pa.Table, batch_id: int) -> None:
        """A row a line. What a crashed batch has printed stays printed."""
        lines = []
        for kind, values in changes(rows):
            cells = (printed(value, t) for value, t in zip(values, self._types, strict=True))
            lines.append(f"{self._prefix}{RowKind(kind).short}[{', '.join(cells)}]\n")
        stream = sys.stderr if self._to_stderr else sys.stdout
        # In one call, so that lines of several jobs do not mix; what stands in for a terminal may have no `writelines`.
        stream.write("".join(lines))
        stream.flush()
