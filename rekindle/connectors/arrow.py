"""Rows of a micro-batch in the driver, through Arrow, a piece at a time; and values as Flink prints them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from execnodes.core.changelog import RowKind
from execnodes.core.types import LogicalType, Root
from execnodes.lowering.stream import KIND, MAJOR, SEQUENCE
from rekindle.connectors import eras
from rekindle.connectors.eras import python_values

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

HIDDEN = (KIND, MAJOR, SEQUENCE)
_ADDS = "rk_adds"


def arrow_table(batch: DataFrame) -> pa.Table:
    """A micro-batch as one Arrow table, see `in_order`."""
    return in_order(nullable(batch).toArrow())


def in_order(table: pa.Table) -> pa.Table:
    """The rows as their order columns say, if it has any; of one row's changes the removals first."""
    order = [name for name in (MAJOR, SEQUENCE) if name in table.column_names]
    if not order:
        return table
    import pyarrow.compute as pc

    adds = pc.is_in(table[KIND], value_set=pc.cast([RowKind.INSERT, RowKind.UPDATE_AFTER], table[KIND].type))
    keys = [*order, _ADDS]
    return table.append_column(_ADDS, adds).sort_by([(name, "ascending") for name in keys]).drop_columns(_ADDS)


def nullable(batch: DataFrame) -> DataFrame:
    """The same rows with nested fields that may be NULL: Arrow refuses a NULL struct of fields that may not."""
    from pyspark.sql.types import StructType

    text = batch.schema.json()
    loose = re.sub(r'"(nullable|containsNull|valueContainsNull)":false', r'"\1":true', text)
    return batch if loose == text else batch.to(StructType.fromJson(json.loads(loose)))


def rows_with_kinds(batch: DataFrame) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """(row kind, values) of a micro-batch, in order where it has order columns. ROWs come as dicts, MAPs as pairs."""
    return changes(arrow_table(batch))


def changes(table: pa.Table) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """As `rows_with_kinds`, of rows in the driver."""
    names = [name for name in table.column_names if name not in HIDDEN]
    for piece in table.to_batches(max_chunksize=10_000):
        kinds = piece.column(KIND).to_pylist()
        columns = [python_values(piece.column(name)) for name in names]
        if not columns:
            yield from ((kind, ()) for kind in kinds)
        else:
            yield from zip(kinds, zip(*columns, strict=True), strict=True)


def printed(value: Any, t: LogicalType) -> str:
    """A value as Flink's print sink writes it."""
    if value is None:
        return "null"
    match t.root:
        case Root.BOOLEAN:
            return "true" if value else "false"
        case Root.FLOAT | Root.DOUBLE:
            return java_double(value, t.root is Root.FLOAT)
        case Root.DECIMAL:
            return f"{value:.{t.scale}f}"
        case Root.DATE if isinstance(value, int):
            return eras.date_text(value)
        case Root.TIME:
            return clock(value, t.precision)
        case Root.TIMESTAMP:
            return timestamp_text(value, t.precision, "T")
        case Root.TIMESTAMP_LTZ:
            return timestamp_text(value, t.precision, "T") + "Z"
        case Root.ARRAY:
            return f"[{', '.join(printed(each, t.element) for each in value)}]"
        case Root.MAP | Root.MULTISET:
            inner = LogicalType(Root.INT) if t.root is Root.MULTISET else t.element
            pairs = value.items() if isinstance(value, dict) else value
            return "{" + ", ".join(f"{printed(k, t.key)}={printed(v, inner)}" for k, v in pairs) + "}"
        case Root.ROW:
            return f"+I[{', '.join(printed(value[f.name], f.type) for f in t.fields)}]"
        case Root.BINARY | Root.VARBINARY:
            return "[" + ", ".join(str(b - 256 if b > 127 else b) for b in value) + "]"
        case _:
            # Whole numbers and texts as they are.
            return str(value)


def java_double(value: float, single: bool) -> str:
    """The shortest text of a floating point number, as Java writes it (1.0E10, NaN, Infinity)."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if single:
        import numpy as np

        text = np.format_float_scientific(np.float32(value), unique=True, trim="0")
        mantissa, _, exponent = text.partition("e")
    else:
        mantissa, _, exponent = f"{repr_scientific(value)}".partition("e")
    power = int(exponent)
    sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    if value == 0:
        return f"{sign}0.0"
    if not -3 <= power < 7:
        return f"{sign}{digits if '.' in digits else digits + '.0'}E{power}".replace(".E", ".0E")
    whole, _, fraction = digits.partition(".")
    every = whole + fraction
    if power >= 0:
        every = every.ljust(power + 1, "0")
        return f"{sign}{every[: power + 1]}.{every[power + 1 :].rstrip('0') or '0'}"
    return f"{sign}0.{'0' * (-power - 1)}{every.rstrip('0') or '0'}"


def repr_scientific(value: float) -> str:
    """``d.ddde±x`` with the fewest digits that give the number back."""
    text = repr(value)
    digits = next(n for n in range(17) if float(f"{value:.{n}e}") == value)
    return f"{value:.{digits}e}" if "nan" not in text else text


def clock(millis: int, precision: int) -> str:
    """A time of day in milliseconds as text with `precision` fractional digits."""
    seconds, rest = divmod(millis, 1000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{rest:03d}"[: len(text) + 1 + min(precision, 3)] if precision else text


def timestamp_text(value: Any, precision: int, separator: str) -> str:
    """A datetime, or a number of microseconds beyond those, with exactly `precision` fractional digits."""
    if isinstance(value, int):
        return eras.timestamp_text(value, precision, separator)
    text = f"{value.year:04d}-{value.month:02d}-{value.day:02d}{separator}{value:%H:%M:%S}"
    return f"{text}.{value.microsecond:06d}"[: len(text) + 1 + precision] if precision else text
