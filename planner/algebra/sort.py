"""ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.types import LogicalType
from planner.algebra.keys import Key
from planner.algebra.over import SortKey
from planner.algebra.relation import ALL_CHANGES, Logical, Places, Pruning, Unary, whole
from planner.algebra.windows import WindowColumn


@dataclass(frozen=True)
class Sort(Unary):
    """ORDER BY with OFFSET and FETCH / LIMIT."""

    order: tuple[SortKey, ...]
    offset: int = 0
    fetch: int | None = None
    position: Position | None = None

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type

    @cached_property
    def kinds(self) -> ChangelogMode:
        """With a limit rows are pushed out by better ones."""
        cuts = self.offset > 0 or self.fetch is not None
        return ALL_CHANGES if cuts and (self.order or not self.input.kinds.insert_only) else self.input.kinds

    def updates_without_before(self) -> bool:
        """Not over updates: a row may move out of what is kept."""
        return self.input.kinds.insert_only

    def keys_of_rows(self) -> Iterable[Key]:
        """Those of the input."""
        return self.input.upsert_keys

    @cached_property
    def event_times(self) -> frozenset[int]:
        """Those of the input."""
        return self.input.event_times

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """Those of the input."""
        return self.input.window_columns

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Logical, Places]:
        """Everything stays."""
        return whole(self, pruning)

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True
