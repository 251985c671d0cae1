"""Arms of one frame whose rows become several: each takes the rows that are its own. Pure data: no Spark.

A row that becomes several for one arm must stay one for the others. So it stays beside those it becomes, with NULL for
the member: an arm takes the rows that have all the members it has made, and none of another arm's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from execnodes.lowering.stream import Members
from rekindle.pipeline.ways import Arm


def apart(arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
    """Arms that start at one origin, with conditions that keep away the rows of others' members."""
    everything = dict.fromkeys(each for arm in arms for each in _members(arm))
    return tuple(_without(arm, [each for each in everything if each not in _members(arm)]) for arm in arms)


def _without(arm: Arm, others: Sequence[Members]) -> Arm:
    if not others:
        return arm
    absent = " AND ".join(f"{each.name} IS NULL" for each in others)
    condition = arm.branch.condition
    both = absent if condition is None else f"({condition}) AND {absent}"
    return replace(arm, branch=replace(arm.branch, condition=both))


def unnested_by_all(arms: Iterable[Arm]) -> frozenset[Members]:
    """Members that every arm of their origin has."""
    common: dict[int, frozenset[Members]] = {}
    for arm in arms:
        mine, origin = frozenset(_members(arm)), arm.branch.origin
        common[origin] = common.get(origin, mine) & mine
    return frozenset().union(*common.values())


def rows_of_members(each: Members, before: Iterable[Members], everywhere: Collection[Members]) -> str:
    """What makes rows of an array: its members and, where a row must also stay as it is, a NULL.

    `before`: members that rows of the frame have become already.
    """
    text = each.text
    if each in everywhere:
        return f"explode({text})"
    others = [f"{one.name} IS NULL" for one in before if one.name not in each.after and one.origin == each.origin]
    if others:
        text = f"CASE WHEN {' AND '.join(others)} THEN {text} END"
    return f"explode(concat(array(NULL), coalesce({text}, array())))"


def _members(arm: Arm) -> list[Members]:
    return [each for layer in arm.branch.made for each in layer if isinstance(each, Members)]
