"""More functions that begin an expression, by PyFlink's names: JSON, times, numbers, rows before and behind."""

from __future__ import annotations

from rekindle.api.expression_dsl import call
from rekindle.api.expressions import Expression
from rekindle.api.json_methods import JsonOnNull
from rekindle.api.operand import list_pieces, value


def with_all_columns() -> Expression:
    """All columns, in `select`."""
    return Expression("*")


def current_database() -> Expression:
    """Name of the current database."""
    return call("CURRENT_DATABASE")


def current_watermark(rowtimeAttribute: object) -> Expression:  # noqa: N803  # as in PyFlink
    """How far time has come in a time column; NULL before the first watermark."""
    return call("CURRENT_WATERMARK", rowtimeAttribute)


def source_watermark() -> Expression:
    """The watermark of a source that has its own, in `Schema`."""
    return call("SOURCE_WATERMARK")


def to_date(date_str: object, format: object = None) -> Expression:
    """A text as a DATE, by a pattern of Java if one is given."""
    return _call("TO_DATE", date_str, format)


def to_timestamp(timestamp_str: object, format: object = None) -> Expression:
    """A text as a TIMESTAMP(3), by a pattern of Java if one is given."""
    return _call("TO_TIMESTAMP", timestamp_str, format)


def convert_tz(date_str: object, tz_from: object, tz_to: object) -> Expression:
    """A date and time as text, of one time zone, in another."""
    return call("CONVERT_TZ", date_str, tz_from, tz_to)


def from_unixtime(unixtime: object, format: object = None) -> Expression:
    """Seconds since 1970 as a text, by a pattern of Java if one is given."""
    return _call("FROM_UNIXTIME", unixtime, format)


def unix_timestamp(date_str: object = None, format: object = None) -> Expression:
    """Seconds since 1970, now or of a text."""
    return _call("UNIX_TIMESTAMP", date_str, format)


def temporal_overlaps(
    left_time_point: object, left_temporal: object, right_time_point: object, right_temporal: object
) -> Expression:
    """Whether two spans of time, each from a time to another or for an interval, have a moment in common."""
    left = list_pieces("(", (left_time_point, left_temporal), ")")
    return Expression.joined("(", *left, *list_pieces(" OVERLAPS (", (right_time_point, right_temporal), ")"), ")")


def map_from_arrays(key: object, value: object) -> Expression:
    """A map of an array of keys and one of values."""
    return call("MAP_FROM_ARRAYS", key, value)


def e() -> Expression:
    """2.71828…, as a DOUBLE."""
    return call("E")


def log(v: object, base: object = None) -> Expression:
    """The logarithm to a base, which is e if none is given."""
    return call("LN", v) if base is None else call("LOG", base, v)


def atan2(y: object, x: object) -> Expression:
    """The angle of a point in radians."""
    return call("ATAN2", y, x)


def negative(v: object) -> Expression:
    """The number with the other sign."""
    return Expression.joined("(- ", value(v), ")")


def rand_integer(bound: object, seed: object = None) -> Expression:
    """A random whole number from 0 to below a bound, one a row."""
    return call("RAND_INTEGER", *(() if seed is None else (seed,)), bound)


def json_string(value: object) -> Expression:
    """A value as JSON."""
    return call("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: object) -> Expression:
    """A JSON object of keys and values, in turn."""
    parts: list[object] = []
    for key, content in zip(args[::2], args[1::2], strict=True):
        parts += [", " if parts else "", "KEY ", value(key), " VALUE ", value(content)]
    return Expression.joined("JSON_OBJECT(", *parts, f" {on_null.value})")


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: object) -> Expression:
    """A JSON array of values."""
    return Expression.joined(*list_pieces("JSON_ARRAY(", args, f" {on_null.value})"))


def json_object_agg(on_null: JsonOnNull, key_expr: object, value_expr: object) -> Expression:
    """A JSON object of the keys and values of a group."""
    parts = ("JSON_OBJECTAGG(KEY ", value(key_expr), " VALUE ", value(value_expr), f" {on_null.value})")
    return Expression.joined(*parts)


def json_array_agg(on_null: JsonOnNull, item_expr: object) -> Expression:
    """A JSON array of the values of a group."""
    return Expression.joined("JSON_ARRAYAGG(", value(item_expr), f" {on_null.value})")


def lag(expr: object, offset: int = 1, default: object = None) -> Expression:
    """The value of the row so many before, for ``over``."""
    return _call("LAG", expr, offset, default)


def lead(expr: object, offset: int = 1, default: object = None) -> Expression:
    """The value of the row so many behind, for ``over``."""
    return _call("LEAD", expr, offset, default)


def _call(function: str, *operands: object) -> Expression:
    """A call without the operands that are None."""
    return call(function, *(operand for operand in operands if operand is not None))
