"""ORDER BY and LIMIT."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.places import Place
from execnodes.core.types import LogicalType
from planner.algebra.over import SortKey
from planner.algebra.relation import (
    ALL_CHANGES,
    KeepsColumns,
    PassesKeys,
    PassesTimes,
)


@dataclass(frozen=True)
class Sort(PassesKeys, PassesTimes, KeepsColumns):
    """ORDER BY with OFFSET and FETCH / LIMIT."""

    order: tuple[SortKey, ...]
    offset: int = 0
    fetch: int | None = None
    position: Position | None = None
    place: Place | None = None

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type

    @cached_property
    def kinds(self) -> ChangelogMode:
        """With a limit rows are pushed out by better ones; without one they come once all is known before them."""
        cuts = self.offset > 0 or self.fetch is not None
        return ALL_CHANGES if cuts and (self.order or not self.input.kinds.insert_only) else INSERT_ONLY

    def updates_without_before(self) -> bool:
        """A row that moves out of what is kept is deleted."""
        return True

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True
