"""Python values and names as SQL text, quoted so that nothing in them is read as SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real

from execnodes.core.errors import SqlError
from execnodes.user_functions.rows import Row
from planner.catalog.catalogs import quoted

_PART = re.compile(r"(`(?:[^`]|``)+`|[^`.][^.]*)(\.|$)")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def text_sql(text: str) -> str:
    """A text in quotes."""
    return "'" + text.replace("'", "''") + "'"


def path_of(text: str) -> tuple[str, ...]:
    """Parts of a name such as ``db.orders``; a part that holds a dot stands in backticks. SqlError if it is none."""
    parts: list[str] = []
    at = 0
    while True:
        match = _PART.match(text, at)
        if match is None:
            raise SqlError(f"{text!r} is no name", hint="Write catalog.database.name; a part with a dot in backticks.")
        part = match[1]
        parts.append(part[1:-1].replace("``", "`") if part.startswith("`") else part)
        at = match.end()
        if not match[2]:
            return tuple(parts)


def path_sql(text: str) -> str:
    """A dotted name in backticks."""
    return quoted(path_of(text))


def function_sql(name: str) -> str:
    """A function's name: as it is where it is made of words, else in backticks."""
    path = path_of(name)
    return name if all(_WORD.fullmatch(part) for part in path) else quoted(path)


def word_sql(word: str) -> str:
    """A keyword such as DAY; SqlError for anything but a word."""
    if not _WORD.fullmatch(word):
        raise SqlError(f"{word!r} is no keyword", hint="Write a word such as DAY or MONTH.")
    return word.upper()


def literal_sql(value: object) -> str:
    """A constant; SqlError for a value that SQL has no constants for."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case Integral():
            return f"({int(value)})" if int(value) < 0 else str(int(value))
        case Real():
            return f"CAST('{float(value)!r}' AS DOUBLE)"
        case Decimal():
            return _decimal(value)
        case str():
            return text_sql(value)
        case bytes() | bytearray():
            return f"X'{bytes(value).hex()}'"
        case datetime():
            return _datetime(value)
        case date():
            return f"DATE '{value.isoformat()}'"
        case time():
            return f"TIME '{value.replace(tzinfo=None).isoformat()}'"
        case timedelta():
            return _interval(value)
        case Mapping():
            return f"MAP[{', '.join(literal_sql(each) for pair in value.items() for each in pair)}]"
        case list():
            return f"ARRAY[{', '.join(map(literal_sql, value))}]"
        case tuple() | Row():
            return f"ROW({', '.join(map(literal_sql, value))})"
        case _:
            raise SqlError(
                f"{value!r} is no constant of SQL",
                hint="Give a number, text, bytes, truth value, date, time, timedelta, list, dict, tuple, Row or None.",
            )


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise SqlError(f"{value!r} is no DECIMAL", hint="Give a number that has an end, or a float.")
    text = format(value, "f")
    whole = "." not in text
    return f"CAST({text} AS DECIMAL({len(text.lstrip('-'))}, 0))" if whole else f"({text})" if value < 0 else text


def _datetime(value: datetime) -> str:
    if value.tzinfo is None:
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    millis, rest = divmod(value - _EPOCH, _MILLISECOND)
    if rest:
        raise SqlError(f"{value!r} has microseconds", hint="Instants are written in milliseconds; round it.")
    return f"TO_TIMESTAMP_LTZ({millis}, 3)"


def _interval(value: timedelta) -> str:
    millis, rest = divmod(abs(value), _MILLISECOND)
    if rest:
        raise SqlError(f"{value!r} has microseconds", hint="Intervals are milliseconds; round it.")
    sign = "-" if value < timedelta(0) else ""
    return second_interval(millis, sign)


def second_interval(millis: int, sign: str = "") -> str:
    """An INTERVAL of so many milliseconds."""
    seconds = str(millis // 1000)
    precision = f"({len(seconds)})" if len(seconds) > 2 else ""
    return f"INTERVAL '{sign}{seconds}.{millis % 1000:03}' SECOND{precision}"
