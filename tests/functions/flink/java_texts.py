"""Values as Java prints them, for what Flink's client shows."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import numpy


def format_java(value: Any) -> Any:
    """Return the text of a value, the list of texts of its members, or None for NULL; entries of MAPs are lists."""
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case float():
            return _format_double(value)
        case bytes() | bytearray():
            return f"x'{bytes(value).hex()}'"
        case dict():
            return sorted(([format_java(key), format_java(member)] for key, member in value.items()), key=str)
        case list() | tuple():
            return [format_java(member) for member in value]
        case Decimal():
            return format(value, "f")
        case datetime.datetime():
            has_seconds = value.tzinfo is None or value.second or value.microsecond
            return _format_time(value, "T") + ("" if has_seconds else ":00") + ("Z" if value.tzinfo else "")
        case datetime.time():
            return _format_clock(value)
        case _:
            return str(value)


def _format_time(value: datetime.datetime, between: str) -> str:
    return f"{value.date().isoformat()}{between}{_format_clock(value.time())}"


def _format_clock(value: datetime.time) -> str:
    """Hours and minutes, and seconds where there are some, as `LocalTime` prints them."""
    if value.microsecond % 1000:
        return value.isoformat("microseconds")
    if value.microsecond:
        return value.isoformat("milliseconds")
    return value.isoformat("seconds" if value.second else "minutes")


def _format_double(value: float) -> str:
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    return numpy.format_float_scientific(value, trim="0", exp_digits=1).replace("e+", "E").replace("e", "E")
