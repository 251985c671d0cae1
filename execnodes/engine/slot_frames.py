"""Slot frames (what Spark hands over) to kernel frames and back; the Python half of `execnodes.lowering.slots`."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.types import LONG_DIGITS, LogicalType, Root
from execnodes.lowering.slots import SPARK_TYPES, SlotLayout, assign, slot_kind
from execnodes.lowering.stream import HASH, KIND, MAJOR, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column

SLOT_DTYPES = {"l": pl.Int64(), "d": pl.Float64(), "s": pl.String(), "b": pl.Binary()}


def to_kernel(rows: pl.DataFrame, columns: Sequence[Column], hidden: Sequence[str]) -> pl.DataFrame:
    """The columns of an operator's input, named, in kernel types; hidden columns come along."""
    slots = assign(column.type for column in columns)
    decoded = [_decode(column.type, slot).alias(column.name) for column, slot in zip(columns, slots, strict=True)]
    return rows.select(*decoded, *(pl.col(name) for name in hidden))


def to_slots(
    changes: pl.DataFrame, columns: Sequence[Column], layout: SlotLayout, hidden: Sequence[str]
) -> pl.DataFrame:
    """Kernel columns as slots of a layout; unused slots and absent hidden columns are null."""
    slots = assign(column.type for column in columns)
    encoded = {slot: _encode(column.type, column.name).alias(slot) for column, slot in zip(columns, slots, strict=True)}
    present = set(changes.columns)
    absent = [name for name in hidden if name not in present]
    return changes.select(
        *(pl.col(name) if name in present else pl.lit(None, HIDDEN_DTYPES[name]).alias(name) for name in hidden),
        *(encoded.get(name, pl.lit(None, SLOT_DTYPES[name[0]]).alias(name)) for name in layout.names()),
    ).with_columns(pl.col(name).cast(HIDDEN_DTYPES[name]) for name in hidden if name not in absent)


def read_column(t: LogicalType, name: str) -> pl.Expr:
    """The slot of a value of Spark's Arrow type; not of nested values."""
    column = pl.col(name)
    match t.root:
        case Root.DECIMAL:
            unscaled = column.to_physical()
            return unscaled.cast(pl.Int64) if t.precision <= LONG_DIGITS else unscaled.cast(pl.String)
        case _:
            # Texts and bytes as they are, whatever else is a number.
            return column.cast(SLOT_DTYPES[slot_kind(t)])


def spark_column(name: str) -> str:
    """Spark type of a hidden or slot column."""
    return _HIDDEN_SPARK_TYPES.get(name) or SPARK_TYPES[name[0]]


_HIDDEN_SPARK_TYPES = {
    KIND: "tinyint",
    HASH: "bigint",
    SEQUENCE: "bigint",
    MAJOR: "string",
    WATERMARK: "bigint",
}
HIDDEN_DTYPES: dict[str, pl.DataType] = {
    KIND: pl.Int8(),
    HASH: pl.Int64(),
    SEQUENCE: pl.Int64(),
    MAJOR: pl.String(),
    WATERMARK: pl.Int64(),
}


def _decode(t: LogicalType, slot: str) -> pl.Expr:
    column = pl.col(slot)
    match t.root:
        case Root.BOOLEAN:
            return column.cast(pl.Boolean)
        case Root.FLOAT:
            return column.cast(pl.Float32)
        case Root.DECIMAL if t.precision > 18:
            return column.cast(pl.Int128)
        case _:
            # A slot has it as it is.
            return column.cast(SLOT_DTYPES[slot_kind(t)])


def _encode(t: LogicalType, name: str) -> pl.Expr:
    column = pl.col(name)
    match t.root:
        case Root.DECIMAL if t.precision > 18:
            return column.cast(pl.String)
        case _:
            # A slot has it as it is.
            return column.cast(SLOT_DTYPES[slot_kind(t)])
