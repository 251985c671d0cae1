"""INSERT INTO."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.tables import ResolvedTable
from execnodes.core.types import LogicalType
from planner.algebra.keys import Key
from planner.algebra.relation import Logical, Places, Pruning, Unary, whole
from planner.algebra.windows import WindowColumn


@dataclass(frozen=True)
class Sink(Unary):
    """INSERT INTO a table. The input has the sink's columns in order, already cast."""

    identifier: tuple[str, str, str] | None
    table: ResolvedTable
    temporary: bool = False
    target_columns: tuple[int, ...] | None = None
    """Columns named in the INSERT; None for all."""
    on_conflict: str | None = None
    """DEDUPLICATE, NOTHING or ERROR."""
    overwrite: bool = False
    hints: tuple[tuple[str, str], ...] = ()
    position: Position | None = None

    @property
    def options(self) -> dict[str, str]:
        """WITH options and those of a hint, which win."""
        return {**(self.table.options or {}), **dict(self.hints)}

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Those of the input."""
        return self.input.kinds

    def updates_without_before(self) -> bool:
        """If the input can."""
        return self.input.can_omit_update_before

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
        """No."""
        return False
