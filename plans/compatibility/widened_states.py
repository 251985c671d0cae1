"""Columns of states whose values go on as values of wider types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from execnodes.core.meaning import StateColumn, StateMeaning
from execnodes.core.types import LogicalType, Root, parse_type
from execnodes.core.widening import Widening, widens
from plans.compatibility.carried import Carried, carried
from plans.compatibility.widened_calls import lost

_BYTES_STAY = Widening.LENGTH | Widening.ELEMENTS
"""What a state does not notice, alone or inside other types."""


@dataclass(frozen=True, slots=True)
class Widened:
    """What becomes of the columns of a state."""

    notes: tuple[str, ...] = ()
    """Columns whose type is another one."""
    alike: tuple[str, ...] = ()
    """Those of them whose values stay as they are."""
    losses: frozenset[str] = frozenset()


def goes_into(old: StateColumn, new: StateColumn) -> Carried | None:
    """How values of a column go on in another one; None if they do not."""
    how = _typed(old, new)
    if how is None:
        return None
    found = carried(old.meaning, new.meaning)
    return None if found is None else Carried(how, found.losses | frozenset(lost(found.how | how)))


def matched(old: Sequence[StateColumn], new: Sequence[StateColumn]) -> tuple[dict[str, str], list[StateColumn]]:
    """New names to old ones by meaning and type, and what is missing; what means exactly the same comes first."""
    found: dict[str, str] = {}
    missing = []
    for column in new:
        ways = [(each, way) for each in old if (way := goes_into(each, column)) is not None]
        if not ways:
            missing.append(column)
            continue
        chosen = min(
            ways, key=lambda each: (each[0].type != column.type, each[1] != Carried(), each[0].name != column.name)
        )
        found[column.name] = chosen[0].name
    return found, missing


def widened(old: StateMeaning, new: StateMeaning, columns: Mapping[str, str]) -> Widened:
    """What is to be said of columns that go on: new names to old ones."""
    before = {each.name: each for each in old.columns}
    notes, alike, losses = [], [], frozenset[str]()
    for each in new.columns:
        source = before.get(columns.get(each.name, ""))
        way = goes_into(source, each) if source is not None else None
        if source is None or way is None:
            continue
        losses |= way.losses
        if source.type != each.type:
            notes.append(f"column {each.name} is widened: {source.type} -> {each.type}")
            alike += [] if way.how & ~_BYTES_STAY else notes[-1:]
    return Widened(tuple(notes), tuple(alike), losses)


def lost_of_parts(old: StateMeaning, new: StateMeaning) -> frozenset[str]:
    """What narrow types have lost in what all rows of a state depend on."""
    losses = frozenset[str]()
    for label, term in new.parts.items():
        way = carried(old.parts[label], term) if label in old.parts else None
        if way is not None:
            losses |= way.losses | frozenset(lost(way.how))
    return losses


def _typed(old: StateColumn, new: StateColumn) -> Widening | None:
    if old.type == new.type:
        return Widening.NONE
    before, after = _parsed(old.type), _parsed(new.type)
    if before.root is after.root is Root.DECIMAL and before.precision == after.precision and before.scale < after.scale:
        # A sum has all the digits there can be, however many of them are behind the point.
        return Widening.SCALE
    return widens(before, after)


@lru_cache(maxsize=1000)
def _parsed(text: str) -> LogicalType:
    return parse_type(text)
