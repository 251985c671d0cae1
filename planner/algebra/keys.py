"""Sets of columns that identify a row."""

from __future__ import annotations

from collections.abc import Iterable

Key = frozenset[int]
"""Columns of an upsert key; the empty set means: there is at most one row."""
_MOST_KEYS = 64


def fewest(keys: Iterable[Key]) -> frozenset[Key]:
    """Those that hold no other one. Of very many only the smallest: each join may multiply them."""
    known = set(keys)
    found = [key for key in known if not any(other < key for other in known)]
    if len(found) > _MOST_KEYS:
        found = sorted(found, key=lambda key: (len(key), sorted(key)))[:_MOST_KEYS]
    return frozenset(found)


def smallest(keys: Iterable[Key]) -> tuple[int, ...] | None:
    """The key with fewest columns, the leftmost of several; None without keys."""
    found = sorted((len(key), sorted(key)) for key in keys)
    return tuple(found[0][1]) if found else None


def shifted(key: Key, width: int) -> Key:
    """The key of columns that stand so many places further right."""
    return frozenset(each + width for each in key)
