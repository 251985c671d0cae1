"""Upserts as changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from execnodes.core.changelog import ChangelogMode
from execnodes.core.expressions import Expression, input_indexes, remap
from execnodes.core.types import LogicalType
from planner.algebra.extent import parts_of
from planner.algebra.keys import Key
from planner.algebra.relation import ALL_CHANGES, PassesTimes, Places, Pruning


@dataclass(frozen=True)
class Normalize(PassesTimes):
    """Turns rows that only say what is new under a key into a full changelog."""

    keys: tuple[int, ...]
    condition: Expression | None = None
    """Rows for which it is not TRUE count as deleted."""

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Everything."""
        return ALL_CHANGES

    def updates_without_before(self) -> bool:
        """The key tells which row is replaced."""
        return True

    def keys_of_rows(self) -> Iterable[Key]:
        """One: a row is there for each value of its keys."""
        return {frozenset(self.keys)}

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Normalize, Places]:
        """State is kept once, with what any reader wants, the keys, and what the condition reads."""
        read = set() if self.condition is None else input_indexes(self.condition)
        below, there = pruning.exactly(self.input, pruning.shared(self, needed | set(self.keys) | read))
        condition = None if self.condition is None else remap(self.condition, there.__getitem__)
        return Normalize(below, tuple(there[each] for each in self.keys), condition), there

    @property
    def parts(self) -> int:
        """Those of the condition."""
        return 1 if self.condition is None else parts_of((self.condition,))

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True
