"""What formats of change records share: one line becomes rows with row kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.tables import Column
from execnodes.core.types import Field, LogicalType, row
from execnodes.lowering.stream import KIND, SEQUENCE, quote
from rekindle.connectors.json_text import JsonReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACES = 1024
"""More than the rows of one line."""


def row_of(columns: tuple[Column, ...]) -> LogicalType:
    """The table's row as it stands inside a change record."""
    return row(*(Field(column.name, column.data_type) for column in columns))


def parsed(rows: DataFrame, reader: JsonReader) -> DataFrame:
    """Lines with the fields of the record as p0, p1, …; lines that are no records are dealt with."""
    read = rows.selectExpr("*", reader.parsed()).selectExpr("*", reader.second()).where(reader.condition())
    return read.selectExpr("*", *(f"{reader.value(i)} AS p{i}" for i in range(len(reader.fields))))


def exploded(rows: DataFrame, changes: str, columns: tuple[Column, ...], hidden: tuple[str, ...]) -> DataFrame:
    """c0, c1, …, `rk_kind` and the columns `hidden` from an array of structs (k: row kind, r: row) per line."""
    kept = [quote(name) for name in hidden]
    each = rows.selectExpr(*kept, f"posexplode({changes}) AS (rk_place, rk_change)")
    values = [f"rk_change.r.{quote(column.name)} AS c{i}" for i, column in enumerate(columns)]
    # The parts of an update keep the order of their line.
    numbered = [
        f"{SEQUENCE} * {_PLACES} + rk_place AS {SEQUENCE}" if name == SEQUENCE else quote(name) for name in hidden
    ]
    return each.selectExpr(*values, f"CAST(rk_change.k AS TINYINT) AS {KIND}", *numbered)


def change(kind: int, image: str) -> str:
    """One element of the array that `exploded` takes."""
    return f"named_struct('k', {kind}, 'r', {image})"
