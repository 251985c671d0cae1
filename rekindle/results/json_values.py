"""Values of a result as JSON, written as the program folders have them: one form for each type, exact."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias

from execnodes.core.types import INTERVALS, LogicalType, Root
from rekindle.connectors import eras

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def to_json(value: Any, t: LogicalType) -> Json:
    """A Python value of that type as JSON.

    Takes what Spark's `collect` and Arrow's `to_pylist` give, and for times also the numbers behind them: days of a
    DATE, milliseconds of a TIME, microseconds of a timestamp. Timestamps with a zone are written in UTC.
    """
    if value is None:
        return None
    match t.root:
        case Root.FLOAT | Root.DOUBLE:
            return _float(float(value), single=t.root is Root.FLOAT)
        case Root.DECIMAL:
            return format(Decimal(value), f".{t.scale}f")
        case Root.DATE:
            return _date(value)
        case Root.TIME:
            return _time(value, t.precision)
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return _timestamp(value, t.precision)
        case Root.BINARY | Root.VARBINARY:
            return f"x'{bytes(value).hex()}'"
        case Root.ARRAY:
            return [to_json(each, t.element) for each in value]
        case Root.MAP | Root.MULTISET:
            return _map(value, t)
        case Root.ROW:
            return [to_json(each, field.type) for each, field in zip(_members(value, t), t.fields, strict=True)]
        case _:
            # Texts, truth values and whole numbers.
            return value if isinstance(value, bool | str) else int(value)


def row_to_json(row: Sequence[Any], types: Sequence[LogicalType]) -> list[Json]:
    """A row, value by value."""
    return [to_json(value, t) for value, t in zip(row, types, strict=True)]


def display(value: Any, t: LogicalType) -> str:
    """A value as a result table shows it: ``<NULL>``, ``TRUE``, ``[1, 2]``, ``{a=1}``, ``(1, x)``."""
    return _shown(to_json(value, t), t)


def _shown(value: Json, t: LogicalType) -> str:
    if value is None:
        return "<NULL>"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dict):
        inner = t.element if t.root is Root.MAP else t
        return "{" + ", ".join(f"{key}={_shown(each, inner)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        types = [field.type for field in t.fields] if t.root is Root.ROW else [t.element] * len(value)
        members = ", ".join(_shown(each, inner) for each, inner in zip(value, types, strict=True))
        return f"({members})" if t.root is Root.ROW else f"[{members}]"
    return format_interval(int(value), t) if t.root in INTERVALS else str(value)


def format_interval(length: int, t: LogicalType) -> str:
    """Milliseconds as ``+1 00:00:00.000``, months as ``+1-00``: what CAST to STRING gives."""
    sign, length = "-" if length < 0 else "+", abs(length)
    if t.root is Root.INTERVAL_YEAR_MONTH:
        return f"{sign}{length // 12}-{length % 12:02}"
    seconds, millis = divmod(length, 1000)
    clock = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{millis:03}"
    return f"{sign}{seconds // 86_400} {clock}"


def _float(value: float, *, single: bool) -> Json:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return _shortest_single(value) if single else value


def _shortest_single(value: float) -> float:
    """The double with the fewest digits that is this number in single precision."""
    for digits in range(1, 10):
        candidate = float(f"{value:.{digits}g}")
        if struct.pack("f", candidate) == struct.pack("f", value):
            return candidate
    return value


def _date(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return value
    return eras.date_text(int(value))


def _time(value: Any, precision: int) -> str:
    if isinstance(value, time):
        return _with_fraction(value.replace(microsecond=0).isoformat(), value.microsecond, precision)
    if isinstance(value, str):
        return value
    seconds, millis = divmod(int(value), 1000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return _with_fraction(text, millis * 1000, precision)


def _timestamp(value: Any, precision: int) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, datetime):
        return eras.timestamp_text(int(value), precision)
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return _with_fraction(value.replace(microsecond=0).isoformat(sep=" "), value.microsecond, precision)


def _with_fraction(text: str, micros: int, precision: int) -> str:
    return f"{text}.{micros * 1000:09}"[: len(text) + 1 + precision] if precision else text


def _map(value: Any, t: LogicalType) -> Json:
    pairs: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, Mapping) else value
    key_type = t.children[0]
    written: dict[str, Json] = {}
    for key, each in pairs:
        name = to_json(key, key_type)
        text = "null" if name is None else str(name).lower() if isinstance(name, bool) else _text(name)
        written[text] = to_json(each, t.element) if t.root is Root.MAP else int(each)
    return dict(sorted(written.items()))


def _text(value: Json) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _members(value: Any, t: LogicalType) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return [value[field.name] for field in t.fields]
    return list(value)
