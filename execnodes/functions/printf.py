"""Which values the pattern of PRINTF takes: that of Java's Formatter. PRINTF since 2.0."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from execnodes.core.types import INTEGERS, LogicalType, Root

_FIELD = re.compile(r"%(?:(\d+)\$|(<))?([-#+ 0,(]*)(\d+)?(\.\d+)?(.)?", re.DOTALL)
_WHOLE, _POINTED = "doxX", "eEfgG"


def fits(pattern: str, types: Sequence[LogicalType]) -> bool:
    """Whether each field of the pattern has a value, of a type that its letter takes."""
    fields = ((at, letter) for at, _, _, letter in _fields(pattern))
    return all(0 <= at < len(types) and _takes(letter, types[at]) for at, letter in fields)


def _fields(pattern: str) -> Iterator[tuple[int, str, str, str]]:
    """Of each field that prints a value: the value's number from 0, -1 if none was before; flags, digits, letter."""
    at = last = 0
    for number, again, flags, _, digits, letter in _FIELD.findall(pattern):
        if letter in ("%", "n"):
            continue
        if not again:
            last = int(number) if number else at + 1
            at += 0 if number else 1
        yield last - 1, flags, digits, letter


def _takes(letter: str, t: LogicalType) -> bool:
    if letter in _WHOLE:
        return t.root in INTEGERS
    if letter in _POINTED or letter in ("a", "A"):
        return t.root in (Root.FLOAT, Root.DOUBLE)
    if letter in ("c", "C"):
        return t.root in INTEGERS and t.root is not Root.BIGINT
    return letter in ("b", "B", "h", "H", "s", "S")


def misfits(pattern: str, types: Sequence[LogicalType]) -> tuple[int, ...] | None:
    """Which values do not fit their fields, unless they are NULL; None if the pattern prints no values at all."""
    found = list[int]()
    for at, flags, digits, letter in _fields(pattern):
        if not 0 <= at < len(types):
            return None
        if _takes(letter, types[at]):
            continue
        if letter not in _LETTERS or (flags and flags != "-") or (digits and letter not in _POINTED):
            return None
        found.append(at)
    return tuple(dict.fromkeys(found))


_LETTERS = f"{_WHOLE}{_POINTED}aAcC"
