"""Values of Python as rows of SQL: their types, and VALUES of them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from execnodes.core.errors import SqlError
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTERVAL_DAY_TIME,
    STRING,
    Field,
    LogicalType,
    array,
    decimal,
    map_of,
    row,
    time,
    timestamp,
    timestamp_ltz,
)
from execnodes.user_functions.rows import Row
from planner.catalog.catalogs import quoted
from rekindle.api.expressions import Expression
from rekindle.api.literals import literal_sql


def values_sql(rows: Iterable[Sequence[Any]], names: Sequence[str], types: Sequence[LogicalType]) -> str:
    """VALUES with names and types."""
    written = (", ".join(_cast(value, t) for value, t in zip(row, types, strict=True)) for row in rows)
    return f"SELECT * FROM (VALUES {', '.join(f'({row})' for row in written)}) AS `elements`({_listed(names)})"


def expressions_sql(values: str, names: Sequence[str], types: Sequence[LogicalType]) -> str:
    """A query over VALUES that are expressions, with names, and types if there are any."""
    casts = (f"{_retyped(quoted((name,)), t)} AS {quoted((name,))}" for name, t in zip(names, types, strict=False))
    return f"SELECT {', '.join(casts) or '*'} FROM ({values}) AS `elements`({_listed(names)})"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(quoted((name,)) for name in names)


def _cast(value: Any, t: LogicalType) -> str:
    if value is None and not t.nullable:
        raise SqlError(f"a column of type {t} holds no None", hint="Declare its type without not_null().")
    if value is None:
        return f"CAST(NULL AS {t})"
    return _retyped(value.sql if isinstance(value, Expression) else literal_sql(value), t)


def _retyped(sql: str, t: LogicalType) -> str:
    """A value as a type; TRY_CAST to the type that it has makes it nullable."""
    return f"TRY_CAST(CAST({sql} AS {t}) AS {t})" if t.nullable else f"CAST({sql} AS {t})"


def values_of(element: Any) -> Sequence[Any] | None:
    """The values of an element that is a row: a `Row`, a tuple, a list, or a dict, whose keys are sorted; else None."""
    if isinstance(element, Mapping):
        return [element[name] for name in sorted(element)]
    if isinstance(element, Row):
        return list(element)
    return element if isinstance(element, Sequence) and not isinstance(element, str | bytes | bytearray) else None


def names_of(element: Any) -> list[str] | None:
    """The names that an element has for its values."""
    if isinstance(element, Mapping):
        return [str(name) for name in sorted(element)]
    return element.get_field_names() if isinstance(element, Row) else None


def infer_type(values: Iterable[Any]) -> LogicalType:
    """The type of values, as PyFlink infers it from the first that tells one; SqlError if none does."""
    given = [value for value in values if value is not None]
    first = next(iter(given), None)
    match first:
        case bool():
            return BOOLEAN
        case Integral():
            return BIGINT
        case Real():
            return DOUBLE
        case str():
            return STRING
        case bytes() | bytearray():
            return BYTES
        case Decimal():
            return decimal(38, 18)
        case datetime.datetime():
            return timestamp(6) if first.tzinfo is None else timestamp_ltz(3)
        case datetime.date():
            return DATE
        case datetime.time():
            return time(0)
        case datetime.timedelta():
            return INTERVAL_DAY_TIME
        case list():
            return array(infer_type(each for value in given for each in value))
        case Mapping():
            keys = infer_type(key for value in given for key in value)
            return map_of(keys, infer_type(each for value in given for each in value.values()))
        case tuple() | Row():
            return _infer_row(first, given)
        case _:
            raise SqlError(
                f"no type can be told from {first!r}",
                hint="Give the types: from_elements(rows, DataTypes.ROW([DataTypes.FIELD('a', DataTypes.INT())])).",
            )


def _infer_row(first: tuple[Any, ...] | Row, given: Sequence[Any]) -> LogicalType:
    if any(len(value) != len(first) for value in given):
        raise SqlError("rows in rows are not all of one length", hint="Give each as many values, None for NULL.")
    names = names_of(first) or [f"_{at}" for at in range(1, len(first) + 1)]
    return row(*(Field(name, infer_type(value[at] for value in given)) for at, name in enumerate(names)))
