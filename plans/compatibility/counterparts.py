"""Which state that is dropped a new one takes the place of: the nearest, though it means something else."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.meaning import StateMeaning
from plans.compatibility.canonical import same
from plans.compatibility.fates import Comparison, Fate
from plans.compatibility.plan_meanings import POSITION

Address = tuple[str, str]
"""Uid and name of a state."""


def counterparts(
    comparison: Comparison, before: Sequence[StateMeaning], after: Sequence[StateMeaning]
) -> dict[Address, Address]:
    """States that do not go on to dropped ones: of the same name if there is one, and as alike as can be.

    What they have in common is counted, so that of several aggregates each finds the one it was.
    """
    gone = {(each.uid, each.state) for each in comparison.judgements if each.fate is Fate.DROP}
    new = {(each.uid, each.state) for each in comparison.judgements if each.fate in (Fate.EMPTY, Fate.INCOMPATIBLE)}
    dropped = [each for each in before if (each.uid, each.name) in gone and each.name != POSITION]
    empty = [each for each in after if (each.uid, each.name) in new and each.name != POSITION]
    pairs = [
        (one.name != other.name, -_alike(one, other), at, there)
        for at, one in enumerate(empty)
        for there, other in enumerate(dropped)
        if one.name == other.name or one.sources & other.sources
    ]
    found: dict[int, int] = {}
    for *_, at, there in sorted(pairs):
        if at not in found and there not in found.values():
            found[at] = there
    return {(empty[at].uid, empty[at].name): (dropped[there].uid, dropped[there].name) for at, there in found.items()}


def _alike(one: StateMeaning, other: StateMeaning) -> int:
    """How many parts and columns they share."""
    parts = sum(label in other.parts and same(other.parts[label], term) for label, term in one.parts.items())
    return parts + sum(any(same(each.meaning, column.meaning) for each in other.columns) for column in one.columns)
