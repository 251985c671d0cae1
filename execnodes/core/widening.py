"""Types that hold all values of others: what a change from the one to the other does to values and to their texts.

`widens` is the one relation that state goes on by: plans are compared with it, states converted, keys hashed anew.
"""

from __future__ import annotations

from enum import Flag, auto
from functools import lru_cache

from execnodes.core.types import INTEGERS, LogicalType, Root

_DIGITS = {Root.TINYINT: 3, Root.SMALLINT: 5, Root.INT: 10, Root.BIGINT: 19}
"""Digits that a DECIMAL needs for all values of an integer."""
_EXACT_BITS = {Root.FLOAT: (Root.TINYINT, Root.SMALLINT), Root.DOUBLE: (Root.TINYINT, Root.SMALLINT, Root.INT)}
"""Integers that a floating type holds without rounding."""


class Widening(Flag):
    """In what a type is wider than another one; NONE: they have the same values, written alike."""

    NONE = 0
    LENGTH = auto()
    """Longer texts or bytes, and those whose length varies."""
    INTEGER = auto()
    """More bits of a whole number."""
    DIGITS = auto()
    """More digits of a DECIMAL before the point."""
    SCALE = auto()
    """More digits of a DECIMAL behind the point: ``1.5`` becomes ``1.50``."""
    FRACTION = auto()
    """More fractional digits of a time or timestamp, which its text shows."""
    FLOAT = auto()
    """FLOAT to DOUBLE: a value that FLOAT has rounded stays rounded."""
    FIELDS = auto()
    """Fields of a ROW in another order."""
    ADDED = auto()
    """Fields of a ROW that it did not have, which are NULL."""
    ELEMENTS = auto()
    """Any of these inside an ARRAY, MAP, MULTISET or ROW."""


WRITTEN_ALIKE = Widening.LENGTH | Widening.INTEGER | Widening.DIGITS | Widening.ELEMENTS
"""Values stay what they are, and so do their texts."""
PARTS = Widening.FIELDS | Widening.ADDED | Widening.ELEMENTS
"""Of types that have parts."""


@lru_cache(maxsize=10_000)
def widens(old: LogicalType, new: LogicalType) -> Widening | None:
    """In what `new` is wider than `old`; None if it does not hold all of its values, or is of another kind.

    Nullability counts inside alone: columns of states may all be NULL.
    """
    if old.root is not new.root:
        return _between_roots(old, new)
    match old.root:
        case Root.CHAR | Root.BINARY:
            # Of another length they are filled up otherwise.
            return Widening.NONE if old.length == new.length else None
        case Root.VARCHAR | Root.VARBINARY:
            return _grown(Widening.LENGTH, old.length, new.length)
        case Root.DECIMAL:
            return _decimal(old, new)
        case Root.TIME | Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return _grown(Widening.FRACTION, old.precision, new.precision)
        case Root.ARRAY | Root.MULTISET | Root.MAP:
            return _inside(*(inner(one, two) for one, two in zip(old.children, new.children, strict=True)))
        case Root.ROW:
            return _row(old, new)
        case _:
            # Without parameters.
            return Widening.NONE


def inner(old: LogicalType, new: LogicalType) -> Widening | None:
    """The same of a type inside another one, where NULLs must have a place, too."""
    return widens(old, new) if new.nullable or not old.nullable else None


def holds(old: LogicalType, new: LogicalType) -> bool:
    """Whether a CAST to `new` keeps every value of `old`, of whatever kind it is then."""
    if widens(old, new) is not None:
        return True
    if old.root not in INTEGERS:
        return False
    if new.root is Root.DECIMAL:
        return new.precision - new.scale >= _DIGITS[old.root]
    return old.root in _EXACT_BITS.get(new.root, ())


def _between_roots(old: LogicalType, new: LogicalType) -> Widening | None:
    if old.root in INTEGERS and new.root in INTEGERS:
        return Widening.INTEGER if INTEGERS.index(old.root) < INTEGERS.index(new.root) else None
    if (old.root, new.root) == (Root.FLOAT, Root.DOUBLE):
        return Widening.FLOAT
    varies = (old.root, new.root) in ((Root.CHAR, Root.VARCHAR), (Root.BINARY, Root.VARBINARY))
    return Widening.LENGTH if varies and new.length >= old.length else None


def _decimal(old: LogicalType, new: LogicalType) -> Widening | None:
    before, after = old.precision - old.scale, new.precision - new.scale
    if new.scale < old.scale or after < before:
        return None
    wider = Widening.DIGITS if after > before else Widening.NONE
    return wider | Widening.SCALE if new.scale > old.scale else wider


def _row(old: LogicalType, new: LogicalType) -> Widening | None:
    places = {each.name: at for at, each in enumerate(new.fields)}
    if len(places) != len(new.fields) or any(each.name not in places for each in old.fields):
        return None
    kept = [places[each.name] for each in old.fields]
    added = [each for at, each in enumerate(new.fields) if at not in kept]
    if len(set(kept)) != len(kept) or not all(each.type.nullable for each in added):
        return None
    found = _inside(*(inner(each.type, new.fields[at].type) for each, at in zip(old.fields, kept, strict=True)))
    if found is None:
        return None
    found |= Widening.ADDED if added else Widening.NONE
    return found | Widening.FIELDS if kept != list(range(len(kept))) else found


def _inside(*found: Widening | None) -> Widening | None:
    whole = Widening.NONE
    for each in found:
        if each is None:
            return None
        whole |= each
    return whole | Widening.ELEMENTS if whole else whole


def _grown(how: Widening, old: int, new: int) -> Widening | None:
    return None if new < old else how if new > old else Widening.NONE
