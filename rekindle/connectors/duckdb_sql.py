"""DuckDB's names, types and errors."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import ConnectorError, PassingError
from execnodes.core.tables import Column
from execnodes.core.types import BINARIES, TEXTS, LogicalType, Root
from rekindle.connectors.base import SourceRequest
from rekindle.files.paths import for_duckdb_database, for_duckdb_to_write

if TYPE_CHECKING:
    import duckdb


_BUSY = re.compile(
    r"Could not set lock on file|Conflicting lock|same database file with a different configuration", re.I
)
"""Another process, or another connection of this one, has the database open."""
_CONFLICT = re.compile(r"\bconflict\b", re.I)
_PAUSE = 0.1
"""Seconds from one try to the next."""


@contextmanager
def connect(path: str, table: str, *, read_only: bool, patience: float = 0.0) -> Iterator[duckdb.DuckDBPyConnection]:
    """An open database, closed at the end; ConnectorError for everything DuckDB refuses.

    `patience`: seconds to wait for one that others have open; PassingError after that.
    """
    import duckdb

    try:
        with _opened(path, read_only, time.monotonic() + patience) as database:
            database.execute("SET TimeZone = 'UTC'")
            yield database
    except duckdb.Error as error:
        raise failure(error, path, table) from error


def _opened(path: str, read_only: bool, until: float) -> duckdb.DuckDBPyConnection:
    import duckdb

    while True:
        try:
            return duckdb.connect(for_duckdb_database(path), read_only=read_only)
        except duckdb.Error as error:
            if not _BUSY.search(str(error)) or time.monotonic() >= until:
                raise
        time.sleep(_PAUSE)


def failure(error: Exception, path: str, table: str) -> ConnectorError:
    """DuckDB's refusal in our terms; a PassingError where it is about others who use the database."""
    import duckdb

    text, where = f"DuckDB ({path}): {str(error).strip()}", f"table {table}"
    if _BUSY.search(text):
        hint = "Close the other process that has the database open, or give 'sink.busy-timeout' a longer time."
        return PassingError(text, where=where, hint=hint)
    if isinstance(error, duckdb.TransactionException) and _CONFLICT.search(text):
        return PassingError(text, where=where, hint="Let one process at a time change the table.")
    return ConnectorError(text, where=where)


def quoted(name: str) -> str:
    """A DuckDB identifier."""
    return '"' + name.replace('"', '""') + '"'


def identifier(name: str) -> str:
    """A table's name, also ``schema.table``."""
    return ".".join(map(quoted, name.split(".")))


def column_type(t: LogicalType) -> str:
    """The DuckDB type a column is made with."""
    return "TIME" if t.root is Root.TIME else _type(t)


def _type(t: LogicalType) -> str:
    match t.root:
        case root if root in TEXTS:
            return "VARCHAR"
        case root if root in BINARIES:
            return "BLOB"
        case Root.DECIMAL:
            return f"DECIMAL({t.precision}, {t.scale})"
        case Root.INT | Root.TIME | Root.INTERVAL_YEAR_MONTH | Root.NULL:
            return "INTEGER"
        case Root.INTERVAL_DAY_TIME:
            return "BIGINT"
        case Root.TIMESTAMP_LTZ:
            return "TIMESTAMPTZ"
        case Root.ARRAY:
            return f"{_type(t.element)}[]"
        case Root.MAP:
            return f"MAP({_type(t.key)}, {_type(t.element)})"
        case Root.MULTISET:
            return f"MAP({_type(t.element)}, INTEGER)"
        case Root.ROW:
            return f"STRUCT({', '.join(f'{quoted(f.name)} {_type(f.type)}' for f in t.fields)})"
        case _:
            # Numbers, dates and truth values are called alike.
            return str(t.root)


def stored(t: LogicalType, x: str) -> str:
    """A value from Arrow as a column stores it; TIMEs arrive as milliseconds."""
    if t.root is Root.TIME:
        return f"TIME '00:00:00' + to_milliseconds({x})"
    return f"CAST({x} AS {_type(t)})"


def cell(column: Column, table: str = "") -> str:
    """The value of a column in its declared type, as Arrow is to have it; `table`: its alias."""
    x = f"{table}.{quoted(column.name)}" if table else quoted(column.name)
    if column.data_type.root is Root.TIME:
        return f"CAST(epoch_ms({x}) AS INTEGER)"
    return f"CAST({x} AS {_type(column.data_type)})"


def exported(database: duckdb.DuckDBPyConnection, source: str, request: SourceRequest, target: Path) -> None:
    """Write the wanted columns of a table into a Parquet file, as c0, c1, … of the declared types."""
    chosen = ", ".join(f"{cell(column)} AS c{i}" for i, column in enumerate(request.columns)) or "1 AS rk_none"
    file = for_duckdb_to_write(target).replace("'", "''")
    database.execute(f"COPY (SELECT {chosen} FROM {source}) TO '{file}' (FORMAT parquet)")
