"""Which constant texts are dates, times and timestamps, by Flink's rules for casts of texts."""

from __future__ import annotations

import re
from calendar import monthrange

from execnodes.core.types import Root

EXAMPLES = {
    Root.DATE: "DATE '2024-01-31'",
    Root.TIME: "TIME '12:30:00'",
    Root.TIMESTAMP: "TIMESTAMP '2024-01-31 12:30:00'",
    Root.TIMESTAMP_LTZ: "TIMESTAMP '2024-01-31 12:30:00'",
}
"""Constants of each type of time."""
_TIME = re.compile(r"(\d+)(?::(\d+)(?::(\d+)(?:\.\d*)?)?)?", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d{0,9})?)?", re.ASCII)


def is_time_text(text: str, root: Root) -> bool:
    """Whether a text can be read as a DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ."""
    if root is Root.DATE:
        return _is_date(text)
    if root is Root.TIME:
        return _has_parts(_TIME.fullmatch(text), ((0, 23), (0, 59), (0, 59)))
    return _has_parts(_TIMESTAMP.fullmatch(text), ((1, 12), (1, 31), (0, 23), (0, 59), (0, 59)))


def _is_date(text: str) -> bool:
    """A year, with month and day or without; what follows a blank does not count."""
    end = text.find(" ")
    parts = [each.strip() for each in (text[:end] if end > 0 else text).split("-")]
    if len(parts) > 3 or not all(re.fullmatch(r"\d{1,4}", each, re.ASCII) for each in parts):
        return False
    year, month, day = (int(each) for each in (*parts, "1", "1")[:3])
    return 1 <= month <= 12 and 1 <= day <= (monthrange(year, month)[1] if year else 31)


def _has_parts(found: re.Match[str] | None, ranges: tuple[tuple[int, int], ...]) -> bool:
    if found is None:
        return False
    parts = zip(found.groups(), ranges, strict=True)
    return all(each is None or low <= int(each) <= high for each, (low, high) in parts)
