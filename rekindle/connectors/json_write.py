"""Values as JSON writes them, as Spark SQL texts."""

from __future__ import annotations

from collections.abc import Iterable

from execnodes.core.types import LogicalType, Root
from execnodes.lowering.stream import quote
from rekindle.connectors.line_text import TIME_ROOTS, string

_DECIMAL = "\ufdd3"
"""Begins the text of a DECIMAL, which is to be a number of JSON."""


def time_to_text(t: LogicalType, x: str, iso: bool) -> str:
    """Text of a date or time; the fraction without trailing zeros."""
    match t.root:
        case Root.DATE:
            return f"CAST({x} AS STRING)"
        case Root.TIME:
            return f"substr(CAST(timestamp_millis({x}) AS STRING), 12)"
        case Root.TIMESTAMP:
            text = f"CAST({x} AS STRING)"
        case _:
            # A TIMESTAMP_LTZ: nothing but times is asked for.
            text = f"concat(CAST({x} AS STRING), 'Z')"
    return f"replace({text}, ' ', 'T')" if iso else text


def decimal_to_text(t: LogicalType, x: str) -> str:
    """Digits of a DECIMAL: Java writes what is less than 0.000001 with an exponent, zeros of many places, too."""
    text = f"CAST({x} AS STRING)"
    if not _may_have_exponent(t):
        return text
    digits = f"replace(ltrim('-', substring_index({text}, 'E', 1)), '.', '')"
    small = f"concat(CASE WHEN startswith({text}, '-') THEN '-' ELSE '' END, '0.', lpad({digits}, {t.scale}, '0'))"
    return f"CASE WHEN contains({text}, 'E') THEN {small} ELSE {text} END"


def unquoted_decimals(json: str, types: Iterable[LogicalType]) -> str:
    """A JSON text whose DECIMALs, which `json_value` made texts, are numbers; `types`: of its columns."""
    return f"regexp_replace({json}, '\"{_DECIMAL}([-0-9.]+)\"', '$1')" if any(map(_has_small, types)) else json


def json_value(t: LogicalType, x: str, iso: bool, depth: int = 0) -> str:
    """What `to_json` is given for a value: dates, times and very small numbers as texts, all else as it is."""
    if not _is_changed(t):
        return x
    v = f"x{depth}"
    match t.root:
        case Root.ROW:
            cells = (f"{string(f.name)}, {json_value(f.type, f'{x}.{quote(f.name)}', iso, depth)}" for f in t.fields)
            return f"CASE WHEN {x} IS NOT NULL THEN named_struct({', '.join(cells)}) END"
        case Root.ARRAY:
            return f"transform({x}, {v} -> {json_value(t.element, v, iso, depth + 1)})"
        case Root.DECIMAL:
            return f"CASE WHEN {x} IS NOT NULL THEN concat('{_DECIMAL}', {decimal_to_text(t, x)}) END"
        case Root.MAP:
            return f"transform_values({x}, ({v}k, {v}) -> {json_value(t.element, v, iso, depth + 1)})"
        case _:
            # A date or time: others were given back above.
            return time_to_text(t, x, iso)


def _may_have_exponent(t: LogicalType) -> bool:
    return t.root is Root.DECIMAL and t.scale > 6


def _has_small(t: LogicalType) -> bool:
    return _may_have_exponent(t) or any(map(_has_small, (*t.children, *(f.type for f in t.fields))))


def _is_changed(t: LogicalType) -> bool:
    own = t.root in TIME_ROOTS or _may_have_exponent(t)
    return own or any(map(_is_changed, (*t.children, *(f.type for f in t.fields))))
