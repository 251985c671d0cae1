"""Timestamps of more digits than microseconds: a table may declare them; what is computed has six at most."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.types import LogicalType, Root

MICROSECONDS = 6
"""Fractional digits of a timestamp that Spark keeps."""
_TIMESTAMPS = (Root.TIMESTAMP, Root.TIMESTAMP_LTZ)


def narrow_to_microseconds(type_: LogicalType) -> LogicalType:
    """The type, with timestamps of six fractional digits at most, also of members and fields."""
    if type_.root in _TIMESTAMPS and type_.precision > MICROSECONDS:
        return replace(type_, precision=MICROSECONDS)
    children = tuple(narrow_to_microseconds(each) for each in type_.children)
    fields = tuple(replace(each, type=narrow_to_microseconds(each.type)) for each in type_.fields)
    if children == type_.children and fields == type_.fields:
        return type_
    return replace(type_, children=children, fields=fields)


def exceeds_microseconds(type_: LogicalType) -> bool:
    """Whether a timestamp in it has more than six fractional digits."""
    return narrow_to_microseconds(type_) != type_
