"""One row a key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.places import Place
from execnodes.core.types import LogicalType
from planner.algebra.keys import Key
from planner.algebra.over import SortKey
from planner.algebra.rank import Rank
from planner.algebra.relation import ALL_CHANGES, PassesTimes, Places, Pruning


@dataclass(frozen=True)
class Deduplicate(PassesTimes):
    """Keeps one row a key: the first or the last by event time, or by arrival."""

    keys: tuple[int, ...]
    time_index: int
    keep_last: bool
    position: Position | None = None
    replaced: bool = False
    """The first row by event time is given at once, and replaced by an older one that comes later."""
    place: Place | None = None

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type

    @cached_property
    def kinds(self) -> ChangelogMode:
        """A first row stays if none is taken back and it was not given too early; a last one is replaced."""
        changes = self.keep_last or self.replaced or not self.input.kinds.insert_only
        return ALL_CHANGES if changes else INSERT_ONLY

    def updates_without_before(self) -> bool:
        """The key tells which row is replaced."""
        return True

    def keys_of_rows(self) -> Iterable[Key]:
        """One: a row is there for each value of its keys."""
        return {frozenset(self.keys)}

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Deduplicate, Places]:
        """What is needed, the keys, the time."""
        below, there = pruning.exactly(self.input, sorted({*needed, *self.keys, self.time_index}))
        keys = tuple(there[each] for each in self.keys)
        return replace(self, input=below, keys=keys, time_index=there[self.time_index]), there

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True

    def ranked(self) -> Rank:
        """The same rows as a Top-1, which keeps those that may be the first once others are taken back."""
        order = SortKey(self.time_index, not self.keep_last, self.keep_last)
        return Rank(self.input, self.keys, (order,), "ROW_NUMBER", 1, 1, self.type, self.position, place=self.place)
