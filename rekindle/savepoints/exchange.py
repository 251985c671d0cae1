"""Rows of a state in files of others: Parquet, CSV, JSON lines."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from rekindle.connectors.duckdb_sql import quoted
from rekindle.files.paths import for_duckdb, for_duckdb_to_write, local_path
from rekindle.savepoints.database import connected, paths, select
from rekindle.savepoints.file_columns import literal
from rekindle.savepoints.reader import SavepointReader

if TYPE_CHECKING:
    import duckdb

_FORMATS: Mapping[str, str] = {
    ".parquet": "FORMAT parquet",
    ".csv": "FORMAT csv, HEADER",
    ".json": "FORMAT json",
    ".jsonl": "FORMAT json",
}


def _format(path: Path) -> str:
    """DuckDB's options to write a file, by its suffix; StateError for others."""
    found = _FORMATS.get(path.suffix.lower())
    if found is None:
        raise StateError(
            "the file's suffix tells no format", where=str(path), hint=f"Use one of {', '.join(_FORMATS)}."
        )
    return found


def check_new_file(target: Path) -> None:
    """StateError if there is something already, or the suffix tells no format."""
    _format(target)
    if target.exists():
        raise StateError("the file exists already", where=str(target), hint="Give a new file.")


def reading(path: Path, columns: Iterable[str]) -> str:
    """A query of a file's rows; the values of CSV and JSON come as texts. `columns` are those of JSON without rows."""
    _format(path)
    if not path.is_file():
        raise StateError("there is no such file", where=str(path))
    file = literal(for_duckdb(path))
    match path.suffix.lower():
        case ".parquet":
            return f"SELECT * FROM read_parquet({file}, hive_partitioning = false)"
        case ".csv":
            options = (
                "header = true, all_varchar = true, hive_partitioning = false, delim = ',', quote = '\"', escape = '\"'"
            )
            return f"SELECT * FROM read_csv({file}, {options}, allow_quoted_nulls = false)"
        case _:
            # JSON: `_format` has refused all else.
            return f"SELECT * FROM ({_json_texts(path, columns)})"


def _json_texts(path: Path, absent: Iterable[str]) -> str:
    """A query of JSON lines whose values are texts, for DuckDB's own guesses at types change some."""
    names: dict[str, None] = {}
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line) if line.strip() else {}
            except ValueError as error:
                raise StateError(f"line {number} is no JSON: {error}", where=str(path)) from error
            if not isinstance(row, dict):
                raise StateError(f"line {number} is no JSON object", where=str(path))
            names |= dict.fromkeys(row)
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names or absent)
    options = f"format = 'newline_delimited', hive_partitioning = false, columns = {{{columns}}}"
    return f"FROM read_json({literal(for_duckdb(path))}, {options})"


def export_state(reader: SavepointReader, address: str, target: str | Path) -> int:
    """Write a state's rows into a new file, whole or not at all; gives their number.

    Columns are those of the state's files (`rekindle.savepoints.file_columns.file_columns`). In CSV and JSON bytes
    are escaped; what DuckDB cannot tell apart by name (``a``, ``A``) becomes ``a``, ``A_1``.
    """
    target = local_path(target)
    check_new_file(target)
    state = reader.state(address)
    with connected(reader.folder) as connection:
        write_file(connection, select(state, paths(reader.folder, state)), target)
    return state.rows


def write_file(connection: duckdb.DuckDBPyConnection, rows: str, target: Path) -> None:
    """The rows of a query as a new file."""
    temporary = target.with_name(f".{uuid.uuid4().hex}.tmp")
    if "json" in _format(target):
        rows = _exact(connection, rows)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        connection.execute(f"COPY ({rows}) TO {literal(for_duckdb_to_write(temporary))} ({_format(target)})")
        temporary.replace(target)
    except OSError as error:
        raise StateError(f"the file cannot be written: {error.strerror}", where=str(target)) from error
    finally:
        temporary.unlink(missing_ok=True)


def _exact(connection: duckdb.DuckDBPyConnection, rows: str) -> str:
    """A query whose decimals are texts: as numbers of JSON they would become doubles."""
    relation = connection.sql(rows)
    cells = [
        f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if str(t).startswith("DECIMAL") else quoted(name)
        for name, t in zip(relation.columns, relation.types, strict=True)
    ]
    return f"SELECT {', '.join(cells)} FROM ({rows})"
