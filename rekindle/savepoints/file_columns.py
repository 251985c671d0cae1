"""Columns of a saved state's files: which there are, their types for DuckDB and Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from execnodes.core.types import BINARIES, NESTED, TEXTS, LogicalType, Root, parse_type

if TYPE_CHECKING:
    import pyarrow as pa

    from rekindle.savepoints.manifest import SavedState

BUCKET, WRITTEN = "rk_bucket", "rk_written"
"""When a row of a bucketed state fires, and when a row with a TTL was last written; epoch ms."""
_TYPES = {
    Root.DATE: "DATE",
    Root.TIMESTAMP: "TIMESTAMP",
    Root.TIMESTAMP_LTZ: "TIMESTAMP WITH TIME ZONE",
    Root.FLOAT: "FLOAT",
    Root.DOUBLE: "DOUBLE",
    Root.BOOLEAN: "BOOLEAN",
}


def duckdb_type(t: LogicalType) -> str:
    """DuckDB type that a state's file holds values of `t` in (see `rekindle.savepoints.take.readable`)."""
    if t.root in NESTED or t.root in TEXTS:
        return "VARCHAR"
    if t.root in BINARIES:
        return "BLOB"
    if t.root is Root.DECIMAL:
        return f"DECIMAL({t.precision}, {t.scale})"
    return _TYPES.get(t.root, "BIGINT")


def arrow_type(t: LogicalType) -> pa.DataType:
    """The same for Arrow."""
    import pyarrow as pa

    if t.root is Root.DECIMAL:
        return pa.decimal128(t.precision, t.scale)
    types = {
        "VARCHAR": pa.string(),
        "BLOB": pa.binary(),
        "DATE": pa.date32(),
        "TIMESTAMP": pa.timestamp("us"),
        "TIMESTAMP WITH TIME ZONE": pa.timestamp("us", "UTC"),
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "BIGINT": pa.int64(),
    }
    return types[duckdb_type(t)]


def file_columns(state: SavedState) -> dict[str, LogicalType]:
    """Columns of a state's files to their Flink types, in order."""
    bigint = parse_type("BIGINT")
    head = {BUCKET: bigint} if state.bucketed else {}
    return {**head, **column_types(state), **({WRITTEN: bigint} if state.ttl_ms else {})}


def column_types(state: SavedState) -> dict[str, LogicalType]:
    """A state's own columns to their Flink types."""
    return {name: parse_type(text) for name, text in state.schema}


def address_columns(state: SavedState) -> tuple[str, ...]:
    """Columns that say where a row belongs: its bucket, and its key."""
    return (*([BUCKET] if state.bucketed else []), *state.key)


def literal(text: str) -> str:
    """A DuckDB text."""
    return "'" + text.replace("'", "''") + "'"


def distinct_names(names: Iterable[str]) -> tuple[str, ...]:
    """Column names as DuckDB tells them apart, for it takes ``a`` and ``A`` for one: the second becomes ``A_1``."""
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        each, number = name, 0
        while each.lower() in taken:
            number += 1
            each = f"{name}_{number}"
        taken.add(each.lower())
        found.append(each)
    return tuple(found)


def positional(count: int) -> Sequence[str]:
    """Names of columns by their place: c0, c1 and so on."""
    return [f"c{i}" for i in range(count)]
