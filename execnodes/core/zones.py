"""Time zones by name or offset, as `java.time.ZoneId` takes them."""

from __future__ import annotations

import re
from datetime import timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z][A-Za-z0-9_+-]*){0,2}", re.ASCII)
_PREFIXED = re.compile(r"Z|(?:UTC|GMT|UT)?([+-])(\d{1,2}|\d\d:\d\d(?::\d\d)?|\d{4}(?:\d\d)?)|UTC|GMT|UT", re.ASCII)
_MOST = (18, 0, 0)
"""Hours, minutes and seconds of the farthest offset."""


@cache
def known_zones() -> frozenset[str]:
    """Names that the database of time zones has; its folders are walked once."""
    return frozenset(available_timezones())


def is_zone(text: str) -> bool:
    """A name that the database of time zones has (any well-formed one where there is no database), or an offset."""
    if is_offset(text):
        return True
    known = known_zones()
    return text in known or (not known and _NAME.fullmatch(text) is not None)


def is_offset(text: str) -> bool:
    """Whether it is ``Z`` or like ``+1``, ``-01:30``, ``+0130``, ``+01:30:15``, behind UTC, GMT or UT or not."""
    return find_offset(text) is not None


def find_zone(text: str) -> tzinfo:
    """The zone that is named, or that is so far away from UTC."""
    offset = find_offset(text)
    return ZoneInfo(text) if offset is None else timezone(timedelta(seconds=offset))


@cache
def find_offset(text: str) -> int | None:
    """Seconds by which such a zone is before UTC, less than 0 for one after it; None for a name."""
    found = _PREFIXED.fullmatch(text)
    if found is None or not found[2]:
        return None if found is None else 0
    digits = found[2].replace(":", "")
    hours, minutes, seconds = int(digits[:2]), int(digits[2:4] or 0), int(digits[4:] or 0)
    if minutes >= 60 or seconds >= 60 or (hours, minutes, seconds) > _MOST:
        return None
    return (hours * 3600 + minutes * 60 + seconds) * (-1 if found[1] == "-" else 1)
