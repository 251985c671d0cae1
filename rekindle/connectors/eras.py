"""Times beyond the years that Python's dates have, 1 to 9999: they stay numbers, days or microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_ERA_DAYS = 146_097
"""Days of 400 years, after which the calendar begins anew."""
_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1)


def date_text(days: int) -> str:
    """A date as text; a year of five digits has a sign."""
    eras, day = divmod(days, _ERA_DAYS)
    near = date(1970, 1, 1) + timedelta(days=day)
    year = near.year + 400 * eras
    shown = f"{year:+}" if year > 9999 else f"{'-' if year < 0 else ''}{abs(year):04}"
    return f"{shown}-{near.month:02}-{near.day:02}"


def timestamp_text(micros: int, precision: int, separator: str = " ") -> str:
    """A timestamp as text with `precision` digits after the point."""
    days, rest = divmod(micros, _DAY)
    clock = (_EPOCH + timedelta(microseconds=rest)).time().replace(microsecond=0).isoformat()
    shown = f"{date_text(days)}{separator}{clock}"
    return f"{shown}.{rest % 1_000_000 * 1000:09}"[: len(shown) + 1 + precision] if precision else shown


def python_values(column: pa.Array) -> list[Any]:
    """As `to_pylist`, but times that Python has not got are numbers; in a column of nested values all times are."""
    import pyarrow as pa

    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        numbers = column.cast(_numbers(column.type)).to_pylist()
    if pa.types.is_date(column.type):
        return [None if each is None else _date(each) for each in numbers]
    if pa.types.is_timestamp(column.type):
        zone = UTC if column.type.tz else None
        return [None if each is None else _timestamp(each, zone) for each in numbers]
    return list(numbers)


def _date(days: int) -> date | int:
    try:
        return date(1970, 1, 1) + timedelta(days=days)
    except OverflowError:
        return days


def _timestamp(micros: int, zone: tzinfo | None) -> datetime | int:
    try:
        return (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=zone)
    except OverflowError:
        return micros


def _numbers(t: pa.DataType) -> pa.DataType:
    """The type with numbers in place of dates and timestamps."""
    import pyarrow as pa

    if pa.types.is_date(t):
        return pa.int32()
    if pa.types.is_timestamp(t):
        return pa.int64()
    if pa.types.is_list(t):
        return pa.list_(_numbers(t.value_type))
    if pa.types.is_map(t):
        return pa.map_(_numbers(t.key_type), _numbers(t.item_type))
    if pa.types.is_struct(t):
        return pa.struct([each.with_type(_numbers(each.type)) for each in t])
    return t
