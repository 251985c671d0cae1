"""Functions over rows around a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.expressions import Expression, Value
from execnodes.core.types import LogicalType
from planner.algebra.extent import parts_of
from planner.algebra.relation import KeepsColumns, PassesKeys, PassesTimes


@dataclass(frozen=True)
class SortKey:
    """A column of ORDER BY."""

    index: int
    ascending: bool = True
    nulls_last: bool = False


@dataclass(frozen=True)
class OverCall:
    """A function over a window of rows, e.g. ROW_NUMBER()."""

    name: str
    internal_name: str
    args: tuple[Expression, ...]
    type: LogicalType
    options: dict[str, Value] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Over(PassesKeys, PassesTimes, KeepsColumns):
    """Functions OVER (PARTITION BY … ORDER BY …): input columns, then one column a call."""

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    calls: tuple[OverCall, ...]
    type: LogicalType
    rows: bool = False
    """ROWS frame (else RANGE)."""
    preceding: int | None = None
    """Bound of the frame in rows or ms; None: unbounded. The end is always the current row."""
    position: Position | None = None

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Those of the input: a row is given once it is known what came before it."""
        return self.input.kinds

    def updates_without_before(self) -> bool:
        """Not over updates: results of other rows hang on the former row."""
        return False

    @property
    def parts(self) -> int:
        """Those of the arguments."""
        return parts_of(arg for call in self.calls for arg in call.args)

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True
