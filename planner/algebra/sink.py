"""INSERT INTO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from execnodes.core.errors import Position
from execnodes.core.places import Place
from execnodes.core.tables import ResolvedTable
from execnodes.core.types import LogicalType
from planner.algebra.relation import (
    KeepsColumns,
    PassesChanges,
    PassesKeys,
    PassesTimes,
)


@dataclass(frozen=True)
class Sink(PassesChanges, PassesKeys, PassesTimes, KeepsColumns):
    """INSERT INTO a table. The input has the sink's columns in order, already cast."""

    identifier: tuple[str, str, str] | None
    table: ResolvedTable
    temporary: bool = False
    target_columns: tuple[int, ...] | None = None
    """Columns named in the INSERT; None for all."""
    on_conflict: Literal["DEDUPLICATE", "NOTHING", "ERROR"] | None = None
    overwrite: bool = False
    hints: tuple[tuple[str, str], ...] = ()
    position: Position | None = None
    place: Place | None = None
    """Of the statement."""

    @property
    def options(self) -> dict[str, str]:
        """WITH options and those of a hint, which win."""
        return {**(self.table.options or {}), **dict(self.hints)}

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False
