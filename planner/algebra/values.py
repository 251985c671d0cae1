"""Inline rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.expressions import Expression
from execnodes.core.types import LogicalType
from planner.algebra.columns import pick
from planner.algebra.keys import Key
from planner.algebra.relation import Leaf, Places, Pruning, WithoutTimes, places


@dataclass(frozen=True)
class Values(WithoutTimes, Leaf):
    """Inline rows of literals (casts folded)."""

    rows: tuple[tuple[Expression, ...], ...]
    type: LogicalType

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Inserts."""
        return INSERT_ONLY

    def updates_without_before(self) -> bool:
        """There are no updates."""
        return True

    def keys_of_rows(self) -> Iterable[Key]:
        """None: rows may be equal."""
        return ()

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Values, Places]:
        """Only these columns, at least one."""
        kept = sorted(needed) or [0]
        rows = tuple(tuple(each[at] for at in kept) for each in self.rows)
        return Values(rows, pick(self.type, kept)), places(kept)

    @property
    def parts(self) -> int:
        """Cells."""
        return sum(map(len, self.rows))

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False
