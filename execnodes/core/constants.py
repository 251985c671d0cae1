"""The constants of a plan, from their JSON form to values: each type has one strict form, and nothing else is a value.

Whoever writes a constant into another language (Spark SQL, a predicate over Arrow) writes such a value, never the text
of a plan. So a text that only looks like a number or a date cannot carry anything else along.
"""

from __future__ import annotations

import builtins
import math
import re
from datetime import date, datetime, time
from decimal import Context, Decimal
from typing import TypeVar

from execnodes.core.types import BINARIES, MAX_LENGTH, TEXTS, LogicalType, Root

Json = bool | int | str | None
Constant = bool | int | float | str | bytes | Decimal | date | time | datetime | None
"""A `float` only for what is no number: infinities and NaN. Other DOUBLEs and FLOATs are kept exactly, as `Decimal`."""

J = TypeVar("J", bool, int, str)
_KINDS: dict[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}
_ALL_DIGITS = Context(prec=1000)
_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}
_BITS |= {Root.INTERVAL_YEAR_MONTH: 32, Root.INTERVAL_DAY_TIME: 64}
_NUMBER = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?", re.ASCII)
_ENDLESS = {"inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf, "nan": math.nan}
_DATE = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(?:\.(?P<fraction>\d{1,9}))?"
_FORMS = {
    Root.DATE: (re.compile(_DATE, re.ASCII), "2020-01-31"),
    Root.TIME: (re.compile(_CLOCK, re.ASCII), "12:34:56.789"),
    Root.TIMESTAMP: (re.compile(f"{_DATE} {_CLOCK}", re.ASCII), "2020-01-31 12:34:56.789"),
    Root.TIMESTAMP_LTZ: (re.compile(f"{_DATE} {_CLOCK}Z?", re.ASCII), "2020-01-31 12:34:56.789Z"),
}
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_HEXADECIMAL = re.compile(r"(?:[0-9A-Fa-f]{2})*")


def constant(value: Json, type: LogicalType) -> Constant:
    """The value of a literal; ValueError if it is none of its type."""
    if value is None:
        return None
    root = type.root
    if root in TEXTS:
        return _text(_of(value, str, type), type)
    if root is Root.BOOLEAN:
        return _of(value, bool, type)
    if root in _BITS:
        return _whole(_of(value, int, type), type)
    if root is Root.DECIMAL:
        return _decimal(_of(value, str, type), type)
    if root in (Root.DOUBLE, Root.FLOAT):
        return _approximate(_of(value, str, type), type)
    if root in _FORMS:
        return _temporal(_of(value, str, type), type)
    if root in BINARIES:
        return _binary(_of(value, str, type), type)
    raise ValueError(f"there are no constants of type {type}")


def fits(value: int, type: LogicalType) -> bool:
    """Whether an integer or interval type holds the value."""
    return -(1 << (_BITS[type.root] - 1)) <= value < 1 << (_BITS[type.root] - 1)


def _of(value: object, kind: builtins.type[J], type: LogicalType) -> J:
    # True is an int to Python.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _unfit(value, type, _KINDS[kind])
    return value


def _unfit(value: object, type: LogicalType, expected: str) -> ValueError:
    return ValueError(f"{_shown(value)} is not a value of {type}, which is written as {expected}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _text(value: str, type: LogicalType) -> str:
    if _HALF_A_PAIR.search(value):
        raise ValueError(f"{_shown(value)} is not a text: it holds half a surrogate pair")
    if len(value) > type.length:
        raise ValueError(f"{_shown(value)} is longer than {type}")
    return value


def _whole(value: int, type: LogicalType) -> int:
    if not fits(value, type):
        raise ValueError(f"{_shown(value)} is out of the range of {type}")
    return value


def _decimal(value: str, type: LogicalType) -> Decimal:
    if _NUMBER.fullmatch(value) is None:
        raise _unfit(value, type, "e.g. '12.50'")
    number = Decimal(value)
    _, digits, exponent = _ALL_DIGITS.normalize(number).as_tuple()
    assert isinstance(exponent, int)
    if number and (len(digits) + exponent > type.precision - type.scale or -exponent > type.scale):
        raise ValueError(f"{_shown(value)} has more digits than {type}")
    return number


def _approximate(value: str, type: LogicalType) -> Decimal | float:
    if value.lower() in _ENDLESS:
        return _ENDLESS[value.lower()]
    if _NUMBER.fullmatch(value) is None:
        raise _unfit(value, type, "e.g. '1.5E3'")
    if math.isinf(float(value)):
        raise ValueError(f"{_shown(value)} is out of the range of {type}")
    return Decimal(value)


def _temporal(value: str, type: LogicalType) -> date | time | datetime:
    form, example = _FORMS[type.root]
    match = form.fullmatch(value)
    if match is None:
        raise _unfit(value, type, f"e.g. '{example}'")
    fraction = match.groupdict().get("fraction") or ""
    if len(fraction) > type.precision:
        raise ValueError(f"{_shown(value)} has more fractional digits than {type}")
    # Python keeps microseconds; further digits are cut, as Spark does.
    bare = value.removesuffix("Z").partition(".")[0] + (f".{fraction[:6].ljust(6, '0')}" if fraction else "")
    try:
        if type.root is Root.DATE:
            return date.fromisoformat(bare)
        return time.fromisoformat(bare) if type.root is Root.TIME else datetime.fromisoformat(bare)
    except ValueError:
        raise ValueError(f"{_shown(value)} is not a value of {type}: there is no such date or time") from None


def _binary(value: str, type: LogicalType) -> bytes:
    if _HEXADECIMAL.fullmatch(value) is None:
        raise _unfit(value, type, "hexadecimal digits, two for a byte")
    if type.length != MAX_LENGTH and len(value) // 2 > type.length:
        raise ValueError(f"{_shown(value)} is longer than {type}")
    return bytes.fromhex(value)
