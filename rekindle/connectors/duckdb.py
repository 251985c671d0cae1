"""Connector duckdb: tables of an embedded DuckDB database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.duckdb import CONNECTOR
from execnodes.core.connectors import ConnectorDeclaration
from execnodes.core.errors import ConnectorError
from rekindle.connectors.base import (
    LookupRequest,
    LookupTable,
    SinkConnector,
    SinkRequest,
    SinkWriter,
    SourceConnector,
    SourceFrame,
    SourceRequest,
)
from rekindle.connectors.duckdb_lookup import DuckdbLookup
from rekindle.connectors.duckdb_sql import connect, exported, identifier
from rekindle.connectors.duckdb_write import DuckdbWriter
from rekindle.connectors.line_text import stream_name
from rekindle.connectors.options import TableOption
from rekindle.connectors.positions import Once
from rekindle.connectors.whole_file import whole_file
from rekindle.files.paths import entered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _found(path: str, table: str) -> Path:
    """Of a database; ConnectorError if there is none."""
    found = entered(path)
    if not found.exists():
        raise ConnectorError(f"there is no database {found}", where=f"table {table}", hint="Correct the option 'path'.")
    return found


OPTIONS = (
    TableOption("path", "path", "", "The database file; a sink creates it.", required=True),
    TableOption("table", "text", "", "Table in the database, also schema.table; a sink creates it.", required=True),
    TableOption(
        "sink.busy-timeout",
        "duration",
        "30 s",
        "How long a micro-batch waits for a database that another process has open; then the restart strategy applies.",
        roles=("sink",),
    ),
    TableOption(
        "source.busy-timeout",
        "duration",
        "30 s",
        "How long the start of a job, or a lookup, waits for a database that another process is writing.",
        roles=("source",),
    ),
)


class Duckdb(SourceConnector, SinkConnector):
    """A bounded source; a sink that appends, or upserts and deletes by primary key, or retracts whole rows."""

    declaration: ClassVar[ConnectorDeclaration] = CONNECTOR

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """Where the table is."""
        return OPTIONS

    def writer(self, spark: SparkSession, request: SinkRequest) -> SinkWriter:
        """One transaction a micro-batch."""
        options = self.opened(request.table, "sink", request.name)
        patience = options.seconds("sink.busy-timeout")
        return DuckdbWriter(request, options.text("path"), options.text("table"), patience)

    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        """The table as it is when the job first starts, through a Parquet file in the job's folder."""
        options = self.opened(request.table, "source", request.name)
        target = request.job_dir / "sources" / stream_name(request.uid) / "rows.parquet"
        if not target.exists():
            path = _found(options.text("path"), request.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            patience = options.seconds("source.busy-timeout")
            with connect(str(path), request.name, read_only=True, patience=patience) as database:
                partial = target.with_name("_rows.tmp")
                exported(database, identifier(options.text("table")), request, partial)
                partial.replace(target)
        return SourceFrame(whole_file(spark, request, target), True)

    def lookup(self, request: LookupRequest) -> LookupTable:
        """The table as it is when rows come, found by a query for each batch of them."""
        asked = request.source
        options = self.opened(asked.table, "source", asked.name)
        reader = DuckdbLookup(
            str(_found(options.text("path"), asked.name)),
            options.text("table"),
            asked.name,
            asked.columns,
            request.keys,
            request.types,
            options.seconds("source.busy-timeout"),
        )
        return LookupTable(reader)

    def positions(self, spark: SparkSession, request: SourceRequest) -> Once:
        """The table as it was when the job first started is one micro-batch."""
        return Once({"done": True}, request.name)

    def position(self, offset: str, log: Path, start: str | None) -> str:
        """A table is read at once: what has an offset is done."""
        return '{"done": true}'
