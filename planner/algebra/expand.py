"""Copies of rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from execnodes.core.expressions import Expression, input_indexes, remap, taken_over
from execnodes.core.types import LogicalType
from planner.algebra.columns import pick
from planner.algebra.keys import Key
from planner.algebra.relation import PassesChanges, Places, Pruning, places
from planner.algebra.windows import WindowColumn


@dataclass(frozen=True)
class Expand(PassesChanges):
    """Several rows of each: one for each list of expressions."""

    projects: tuple[tuple[Expression, ...], ...]
    type: LogicalType

    def keys_of_rows(self) -> Iterable[Key]:
        """None: copies may be equal."""
        return ()

    @cached_property
    def event_times(self) -> frozenset[int]:
        """Columns that every copy passes on."""
        return frozenset.intersection(*(taken_over(each, self.input.event_times) for each in self.projects))

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """None: a key may be rolled up."""
        return {}

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Expand, Places]:
        """Only these columns; the last one, which tells the copies apart, if none is needed."""
        kept = sorted(needed) or [len(self.type.fields) - 1]
        read: set[int] = set().union(*(input_indexes(some[each]) for some in self.projects for each in kept))
        below, there = pruning.visit(self.input, read)
        projects = tuple(tuple(remap(some[each], there.__getitem__) for each in kept) for some in self.projects)
        return Expand(below, projects, pick(self.type, kept)), places(kept)

    @property
    def parts(self) -> int:
        """Columns of all copies."""
        return sum(map(len, self.projects))

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False

    @property
    def copies(self) -> int:
        """As many as there are lists."""
        return len(self.projects)
