"""Types as Flink prints them for people; plans hold `str` of a type, whose intervals have no digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from execnodes.core.types import MAX_LENGTH, LogicalType, Root

_INTERVAL = re.compile(r"\bINTERVAL SECOND\b")
_ABBREVIATED = re.compile(r"\bSTRING\b|\bBYTES\b|\bTIMESTAMP_LTZ\((\d)\)")


def format_type(t: LogicalType, *, abbreviated: bool = True) -> str:
    """Return Flink's text of a type; without abbreviations its serializable one (``VARCHAR(2147483647)``)."""
    text = _replace_types(str(t), lambda part: _INTERVAL.sub("INTERVAL SECOND(3)", part))
    return text if abbreviated else spell_out(text)


def spell_out(text: str) -> str:
    """Return a type's text without abbreviations."""
    return _replace_types(text, lambda part: _ABBREVIATED.sub(_without_abbreviation, part))


def has_interval_seconds(t: LogicalType) -> bool:
    """Whether a type is an INTERVAL of days and seconds, or holds one."""
    return t.root is Root.INTERVAL_DAY_TIME or any(map(has_interval_seconds, _list_parts(t)))


def _list_parts(t: LogicalType) -> Iterator[LogicalType]:
    yield from t.children
    yield from (each.type for each in t.fields)


def _replace_types(text: str, replace: Callable[[str], str]) -> str:
    """Change a text but for the names of fields, which are in backticks."""
    return "`".join(part if at % 2 else replace(part) for at, part in enumerate(text.split("`")))


def _without_abbreviation(found: re.Match[str]) -> str:
    if found[1]:
        return f"TIMESTAMP({found[1]}) WITH LOCAL TIME ZONE"
    return f"{'VARCHAR' if found[0] == 'STRING' else 'VARBINARY'}({MAX_LENGTH})"
