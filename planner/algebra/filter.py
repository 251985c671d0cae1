"""Leaving rows out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from execnodes.core.changelog import ChangelogMode
from execnodes.core.expressions import Expression, input_indexes, remap
from execnodes.core.types import LogicalType
from planner.algebra.extent import parts_of
from planner.algebra.relation import PassesKeys, PassesTimes, Places, Pruning, Trend


@dataclass(frozen=True)
class Filter(PassesKeys, PassesTimes):
    """WHERE, HAVING, ON: keeps rows for which the condition is TRUE."""

    condition: Expression

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Those of the input."""
        return self.input.kinds

    def updates_without_before(self) -> bool:
        """Not in general, since a row it kept may be updated to one it drops: only where it looks at a key alone."""
        reads = input_indexes(self.condition)
        return any(reads <= key for key in self.input.upsert_keys) and self.input.can_omit_update_before

    @property
    def trends(self) -> dict[int, Trend]:
        """Those of the input, where no row comes or goes by an update."""
        trends = self.input.trends
        stays = all(trends.get(each) is Trend.CONSTANT for each in input_indexes(self.condition))
        return trends if stays else {}

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Filter, Places]:
        """What is needed, and what the condition reads."""
        below, moved = pruning.visit(self.input, needed | input_indexes(self.condition))
        return Filter(below, remap(self.condition, moved.__getitem__)), moved

    @property
    def parts(self) -> int:
        """Those of the condition."""
        return parts_of((self.condition,))

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False
