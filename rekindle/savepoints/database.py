"""A savepoint as an in-memory DuckDB database: a view for each state, and tables about the savepoint."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import StateError
from rekindle.connectors.duckdb_sql import quoted
from rekindle.files.paths import for_duckdb
from rekindle.savepoints.file_columns import distinct_names, duckdb_type, file_columns, literal, positional
from rekindle.savepoints.manifest import Manifest, SavedState

if TYPE_CHECKING:
    import duckdb

_CATALOGUE: Mapping[str, str] = {
    "savepoint": "uid VARCHAR, name VARCHAR, rows BIGINT, bytes BIGINT, key VARCHAR[], bucketed BOOLEAN, "
    "ttl_ms BIGINT, max_parallelism BIGINT",
    "savepoint_columns": "uid VARCHAR, name VARCHAR, column_name VARCHAR, type VARCHAR, is_key BOOLEAN, "
    "meaning VARCHAR",
    "savepoint_sources": "uid VARCHAR, source VARCHAR, position VARCHAR",
    "savepoint_history": "number BIGINT, operation VARCHAR, uid VARCHAR, name VARCHAR, rows_before BIGINT, "
    "rows_after BIGINT, detail VARCHAR",
}


@contextmanager
def connected(where: Path | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in UTC; what DuckDB refuses becomes a StateError, of that savepoint."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise StateError("the package duckdb is missing", hint="Install it: pip install duckdb") from None
    try:
        # Of its own, so that nobody else can put links there.
        scratch = tempfile.TemporaryDirectory(prefix="rekindle-duckdb-", ignore_cleanup_errors=True)
        with scratch as place, duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"SET temp_directory = {literal(place)}")
            yield connection
    except duckdb.Error as error:
        raise StateError(str(error).strip(), where=None if where is None else str(where)) from error


def create_views(connection: duckdb.DuckDBPyConnection, folder: Path, manifest: Manifest) -> None:
    """``"uid"."name"`` for each state, ``"name"`` alone where it is the only one, and the tables of `_CATALOGUE`."""
    names = Counter(each.name.lower() for each in manifest.states)
    for table, columns in _CATALOGUE.items():
        connection.execute(f"CREATE TABLE {table} ({columns})")
        rows = [list(row) for row in _catalogue(table, manifest)]
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    for state in manifest.states:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(state.uid)}")
        connection.execute(f"CREATE VIEW {view(state)} AS {select(state, paths(folder, state))}")
        if names[state.name.lower()] == 1 and state.name not in _CATALOGUE:
            connection.execute(f"CREATE VIEW main.{quoted(state.name)} AS FROM {view(state)}")


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
    """Columns and rows of a query; times with a zone come as texts."""
    relation = connection.sql(query)
    # As values they would need the package pytz.
    cells = [
        f"CAST({cell} AS VARCHAR)" if "TIME ZONE" in str(t) else cell
        for cell, t in zip(positional(len(relation.types)), relation.types, strict=True)
    ]
    names = ", ".join(positional(len(cells)))
    result = connection.execute(f"SELECT {', '.join(cells)} FROM ({query.rstrip().rstrip(';')}\n) AS r({names})")
    return tuple(relation.columns), _fetched(result)


def _fetched(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := result.fetchmany(1000):
        yield from rows


def view(state: SavedState) -> str:
    """The name of a state's view."""
    return f"{quoted(state.uid)}.{quoted(state.name)}"


def paths(folder: Path, state: SavedState) -> list[Path]:
    """The files of a state, in order."""
    return [folder / name for name in sorted(state.files)]


def select(state: SavedState, files: Iterable[Path]) -> str:
    """A query of a state's rows, with the types a state has and names that DuckDB can tell apart."""
    columns = file_columns(state)
    types = [duckdb_type(t) for t in columns.values()]
    shown = [quoted(each) for each in distinct_names(columns)]
    texts = []
    for names, group in _by_layout(files).items():
        cells = dict(zip(names, positional(len(names)), strict=True))
        absent = [name for name in columns if name not in cells]
        if absent:
            raise StateError(
                f"the file has no column {', '.join(absent)}", where=str(group[0]), hint="Use another savepoint."
            )
        picked = ", ".join(
            f"CAST({cells[name]} AS {t}) AS {alias}" for name, t, alias in zip(columns, types, shown, strict=True)
        )
        listed = ", ".join(literal(for_duckdb(each)) for each in group)
        # A folder called k=v is no column k.
        inner = f"read_parquet([{listed}], hive_partitioning = false) AS r({', '.join(cells.values())})"
        texts.append(f"SELECT {picked} FROM {inner}")
    nulls = ", ".join(f"CAST(NULL AS {t}) AS {alias}" for t, alias in zip(types, shown, strict=True))
    return " UNION ALL ".join(texts) or f"SELECT {nulls or '1 AS nothing'} WHERE false"


def _by_layout(files: Iterable[Path]) -> dict[tuple[str, ...], list[Path]]:
    """Files that have the same columns in the same order, together."""
    import pyarrow.parquet as pq

    found: dict[tuple[str, ...], list[Path]] = {}
    for each in files:
        found.setdefault(tuple(pq.read_schema(each).names), []).append(each)
    return found


def _catalogue(table: str, manifest: Manifest) -> Iterator[tuple[Any, ...]]:
    match table:
        case "savepoint":
            for each in manifest.states:
                numbers = (each.rows, each.bytes, list(each.key), each.bucketed, each.ttl_ms, each.max_parallelism)
                yield (each.uid, each.name, *numbers)
        case "savepoint_columns":
            for each in manifest.states:
                for (name, t), meaning in zip(each.schema, each.meanings, strict=True):
                    yield each.uid, each.name, name, t, name in each.key, meaning.text
        case "savepoint_sources":
            for uid in sorted({**manifest.sources, **manifest.positions}):
                parts = {label: term.text for label, term in manifest.sources.get(uid, {}).items()}
                yield uid, json.dumps(parts), manifest.positions.get(uid)
        case "savepoint_history":
            for number, step in enumerate(manifest.history, 1):
                yield number, step.operation, step.uid, step.name, step.rows_before, step.rows_after, step.detail
