"""Values as JSON writes them, as Spark SQL texts."""

from __future__ import annotations

from execnodes.core.types import LogicalType, Root
from execnodes.lowering.stream import quote
from rekindle.connectors.line_text import TIME_ROOTS, string


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


def json_value(t: LogicalType, x: str, iso: bool, depth: int = 0) -> str:
    """What `to_json` is given for a value: dates and times as texts, all else as it is."""
    if not _has_times(t):
        return x
    v = f"x{depth}"
    match t.root:
        case Root.ROW:
            cells = (f"{string(f.name)}, {json_value(f.type, f'{x}.{quote(f.name)}', iso, depth)}" for f in t.fields)
            return f"CASE WHEN {x} IS NOT NULL THEN named_struct({', '.join(cells)}) END"
        case Root.ARRAY:
            return f"transform({x}, {v} -> {json_value(t.element, v, iso, depth + 1)})"
        case Root.MAP:
            return f"transform_values({x}, ({v}k, {v}) -> {json_value(t.element, v, iso, depth + 1)})"
        case _:
            # A date or time: others were given back above.
            return time_to_text(t, x, iso)


def _has_times(t: LogicalType) -> bool:
    return t.root in TIME_ROOTS or any(map(_has_times, (*t.children, *(f.type for f in t.fields))))
