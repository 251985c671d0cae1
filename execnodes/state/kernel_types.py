"""How values look inside kernels: a small set of Polars types, the same in rows and in state.

| Flink type | in a kernel | in a slot at the exchange |
|---|---|---|
| BOOLEAN | Boolean | bigint 0/1 |
| TINYINT … BIGINT, intervals | Int64 | bigint |
| DATE / TIME / TIMESTAMP, TIMESTAMP_LTZ | Int64: epoch days / milliseconds of day / epoch microseconds | bigint |
| FLOAT / DOUBLE | Float32 / Float64 | double |
| DECIMAL(p, s), p <= 18 / p > 18 | Int64 / Int128, unscaled | bigint / text of the unscaled number |
| CHAR, VARCHAR | String | string |
| BINARY, VARBINARY | Binary | binary |
| ARRAY, MAP, MULTISET, ROW | String: canonical JSON text | string |
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import polars as pl

from execnodes.core.types import LogicalType, Root


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an operator's input, output or state."""

    name: str
    type: LogicalType

    @property
    def dtype(self) -> pl.DataType:
        """Its type inside kernels."""
        return kernel_dtype(self.type)


def free_name(name: str, taken: Container[str]) -> str:
    """The name, longer if it is taken: for what an operator adds to the columns of its input.

    Nodes name their own output; an input may be called otherwise, by whoever else reads it.
    """
    while name in taken:
        name += "_"
    return name


def kernel_dtype(t: LogicalType) -> pl.DataType:
    """Polars type of a Flink type inside kernels."""
    match t.root:
        case Root.BOOLEAN:
            return pl.Boolean()
        case Root.FLOAT:
            return pl.Float32()
        case Root.DOUBLE:
            return pl.Float64()
        case Root.DECIMAL if t.precision > 18:
            return pl.Int128()
        case Root.BINARY | Root.VARBINARY:
            return pl.Binary()
        case Root.CHAR | Root.VARCHAR | Root.ARRAY | Root.MAP | Root.MULTISET | Root.ROW:
            return pl.String()
        case (
            Root.TINYINT
            | Root.SMALLINT
            | Root.INT
            | Root.BIGINT
            | Root.DATE
            | Root.TIME
            | Root.TIMESTAMP
            | Root.TIMESTAMP_LTZ
            | Root.INTERVAL_DAY_TIME
            | Root.INTERVAL_YEAR_MONTH
            | Root.DECIMAL
            | Root.NULL
        ):
            return pl.Int64()


def schema_of(columns: tuple[Column, ...]) -> dict[str, pl.DataType]:
    """Names and kernel types of columns."""
    return {column.name: column.dtype for column in columns}
