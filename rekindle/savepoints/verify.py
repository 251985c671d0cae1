"""Whether rows may become a state's: columns, types, values, keys; everything that does not fit is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from execnodes.core.types import NESTED, LogicalType, Root
from execnodes.core.words import counted
from rekindle.connectors.duckdb_sql import quoted
from rekindle.savepoints.file_columns import (
    WRITTEN,
    address_columns,
    distinct_names,
    duckdb_type,
    file_columns,
    positional,
)
from rekindle.savepoints.manifest import SavedState

if TYPE_CHECKING:
    import duckdb

_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32}
_TEXT = "VARCHAR"


def fitted(connection: duckdb.DuckDBPyConnection, state: SavedState, query: str) -> str:
    """A query of the same rows with the columns, order and types of the state's files.

    Columns may come in any order and in other types, texts among them, as long as no value changes; StateError if
    they do not fit. Without a column `WRITTEN` rows begin to age when they are restored.
    """
    relation = connection.sql(query)
    wanted = file_columns(state)
    shown = distinct_names(wanted)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    missing = [name for name in shown if name not in types and name != WRITTEN]
    extra = [name for name in types if name not in shown]
    if missing or extra:
        told = [f"missing: {', '.join(missing)}"] * bool(missing) + [f"not of the state: {', '.join(extra)}"] * bool(
            extra
        )
        columns = ", ".join(f"{name} {duckdb_type(t)}" for name, t in zip(shown, wanted.values(), strict=True))
        raise StateError(f"the columns differ: {'; '.join(told)}", where=state.title, hint=f"They are: {columns}")
    cells = dict(zip(types, positional(len(types)), strict=True))
    checks, casts = [], []
    for name, t in zip(shown, wanted.values(), strict=True):
        target = duckdb_type(t)
        if name not in types:
            casts.append(f"CAST(NULL AS {target}) AS {quoted(name)}")
            continue
        if types[name] not in (target, _TEXT) and target in ("VARCHAR", "BLOB", "BOOLEAN"):
            # Of another kind; a column of NULLs may be of any.
            checks.append((name, t, "true"))
            casts.append(f"CAST(NULL AS {target}) AS {quoted(name)}")
            continue
        checks.append((name, t, " OR ".join(_wrong(cells[name], types[name], t))))
        casts.append(f"CAST({cells[name]} AS {target}) AS {quoted(name)}")
    source = f"({query}) AS r({', '.join(cells.values())})"
    _check(connection, state, source, [(name, cells[name], t, text) for name, t, text in checks if text])
    return f"SELECT {', '.join(casts)} FROM {source}"


def _wrong(cell: str, source: str, t: LogicalType) -> Iterator[str]:
    """Conditions that a value's type changes it, or that it is none of its type."""
    target = duckdb_type(t)
    if source.replace(",", ", ") != target:
        yield f"TRY_CAST({cell} AS {target}) IS NULL"
        # Casts round; texts must be written as the type writes them.
        if source != _TEXT:
            yield f"CAST(TRY_CAST({cell} AS {target}) AS {source}) IS DISTINCT FROM {cell}"
        elif target == "BIGINT":
            yield f"NOT regexp_full_match({cell}, '[+-]?[0-9]+')"
        elif t.root is Root.DECIMAL:
            yield f"NOT regexp_full_match({cell}, '[+-]?[0-9]*([.][0-9]{{0,{t.scale}}}0*)?')"
    if t.root in _BITS:
        most = 2 ** (_BITS[t.root] - 1)
        yield f"TRY_CAST({cell} AS BIGINT) NOT BETWEEN {-most} AND {most - 1}"
    if t.root in NESTED:
        kind = "OBJECT" if t.root is Root.ROW else "ARRAY"
        yield f"CASE WHEN json_valid({cell}) THEN json_type({cell}) ELSE '' END <> '{kind}'"
    if t.root in (Root.CHAR, Root.VARCHAR):
        yield f"length({cell}) > {t.length}"


def _check(
    connection: duckdb.DuckDBPyConnection,
    state: SavedState,
    source: str,
    checks: list[tuple[str, str, LogicalType, str]],
) -> None:
    if not checks:
        return
    counts = ", ".join(
        f"count(*) FILTER ({cell} IS NOT NULL AND ({text})), first({cell}) FILTER ({cell} IS NOT NULL AND ({text}))"
        for _, cell, _, text in checks
    )
    found = connection.execute(f"SELECT {counts} FROM {source}").fetchall()[0]
    problems = [
        f"column {name}: {counted(count, 'value is', 'values are')} no {t}, such as {example!r}"
        for (name, _, t, _), count, example in zip(checks, found[::2], found[1::2], strict=True)
        if count
    ]
    if problems:
        raise StateError("\n  ".join(problems), where=state.title, hint="Nothing has been written.")


def refuse_new_duplicates(connection: duckdb.DuckDBPyConnection, state: SavedState, before: str, after: str) -> None:
    """StateError if a key (of a bucket) has several rows in one query, and none had in the other, which had rows."""
    if not connection.execute(f"SELECT 1 FROM ({before}) LIMIT 1").fetchall():
        return
    if duplicate(connection, state, before) is None and (key := duplicate(connection, state, after)) is not None:
        raise StateError(
            f"several rows would have the key {key}; so far each key has one",
            where=state.title,
            hint="If the operator keeps several rows a key, say --allow-duplicate-keys.",
        )


def duplicate(connection: duckdb.DuckDBPyConnection, state: SavedState, rows: str) -> str | None:
    """A key that has several rows, as text."""
    names = _address(state)
    keys = ", ".join(names) or "1"
    found = connection.execute(
        f"SELECT {_as_text(names)} FROM ({rows}) GROUP BY {keys} HAVING count(*) > 1 LIMIT 1"
    ).fetchall()
    return str(found[0][0]) if found else None


def common_key(connection: duckdb.DuckDBPyConnection, state: SavedState, one: str, other: str) -> str | None:
    """A key (of a bucket) that both queries have rows of, as text."""
    names = _address(state)
    same = " AND ".join(f"a.{each} IS NOT DISTINCT FROM b.{each}" for each in names) or "true"
    found = connection.execute(
        f"SELECT {_as_text([f'a.{each}' for each in names])} FROM ({one}) AS a "
        f"WHERE EXISTS (SELECT 1 FROM ({other}) AS b WHERE {same}) LIMIT 1"
    ).fetchall()
    return str(found[0][0]) if found else None


def _address(state: SavedState) -> list[str]:
    names = dict(zip(file_columns(state), distinct_names(file_columns(state)), strict=True))
    return [quoted(names[each]) for each in address_columns(state)]


def _as_text(names: list[str]) -> str:
    values = ", ', ', ".join(f"coalesce(CAST({each} AS VARCHAR), 'NULL')" for each in names)
    return f"concat('(', {values}, ')')" if names else "'()'"
