"""Connector data-stream: a DataFrame of the caller's program, which the session knows by its uid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.data_stream import CONNECTOR
from execnodes.core.connectors import ConnectorDeclaration
from execnodes.core.errors import ConnectorError, PlanError
from execnodes.core.tables import Column
from execnodes.core.types import TIMESTAMPS
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import quote
from rekindle.connectors.base import SourceConnector, SourceFrame, SourceRequest
from rekindle.connectors.foreign_frame import adopt
from rekindle.connectors.line_text import stream_name
from rekindle.connectors.options import TableOption, TableOptions
from rekindle.connectors.positions import Once
from rekindle.connectors.whole_file import numbered, whole_file
from rekindle.files.paths import for_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UID = "uid"
OPTIONS = (TableOption(UID, "text", "", "Of TableEnvironment.register_data_stream.", roles=("source",)),)


@dataclass(frozen=True)
class DataStream:
    """A registered DataFrame."""

    frame: DataFrame
    bounded: bool
    """Whether it ends by itself, once all that it has now is read."""


class DataStreamSource(SourceConnector):
    """Columns by name; rows are inserts."""

    declaration: ClassVar[ConnectorDeclaration] = CONNECTOR

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """The uid only."""
        return OPTIONS

    def check(self, options: Mapping[str, str], role: str, table: str) -> TableOptions:
        """PlanError without a uid: nothing else tells a plan which DataFrame is meant."""
        checked = super().check(options, role, table)
        if role == "source" and not checked.text(UID):
            raise PlanError(
                "a data stream without a uid cannot be compiled: the plan could not name it",
                where=f"table {table}",
                hint="Give it one: from_data_stream(df, uid='orders'); a job that restores the plan registers its "
                "DataFrame under the same uid.",
            )
        return checked

    def positions(self, spark: SparkSession, request: SourceRequest) -> Once | None:
        """A DataFrame that does not stream is one micro-batch."""
        uid = self.opened(request.table, "source", request.name).text(UID)
        stream = request.data_streams.get(uid)
        return None if stream is None or stream.frame.isStreaming else Once({"done": True}, request.name)

    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        """A streaming DataFrame as it is; any other as its rows when the job first starts, through a Parquet file."""
        uid = self.opened(request.table, "source", request.name).text(UID)
        stream = request.data_streams.get(uid)
        if stream is None:
            raise ConnectorError(
                f"no data stream has the uid {uid!r}",
                where=f"table {request.name}",
                hint=f"Write register_data_stream(df, {uid!r}) in the program that runs the plan.",
            )
        cells = [f"{_cell(column)} AS c{i}" for i, column in enumerate(request.columns)]
        name = stream_name(request.uid)
        rows = adopt(spark, stream.frame, name, f"data stream {uid!r}").selectExpr(*cells)
        if request.batch and request.between is None:
            return SourceFrame(rows, not rows.isStreaming)
        if not rows.isStreaming:
            return SourceFrame(whole_file(spark, request, _exported(rows, request)), True)
        if request.start is not None:
            raise ConnectorError(
                f"the data stream {uid!r} cannot go on from a savepoint's position",
                where=f"table {request.name}",
                hint=f"Register a DataFrame that begins there, and run with --allow-drop-state {request.uid}:position.",
            )
        return SourceFrame(numbered(rows, [f"c{i}" for i in range(len(cells))], request.ordered), stream.bounded)


def _cell(column: Column) -> str:
    """Times lose the digits that their type does not have."""
    t, text = column.data_type, quote(column.name)
    if t.root in TIMESTAMPS and t.precision < 6:
        unit = 10 ** (6 - t.precision)
        micros = f"unix_micros(CAST({text} AS TIMESTAMP))"
        text = f"timestamp_micros({micros} - pmod({micros}, {unit}L))"
    return f"CAST({text} AS {spark_type(t)})"


def _exported(frame: DataFrame, request: SourceRequest) -> Path:
    target = request.job_dir / "sources" / stream_name(request.uid) / "rows.parquet"
    if not target.exists():
        partial = target.with_name("_rows.tmp")
        frame.coalesce(1).write.mode("overwrite").parquet(for_spark(frame.sparkSession, partial))
        (file,) = partial.glob("part-*.parquet")
        file.replace(target)
    return target
