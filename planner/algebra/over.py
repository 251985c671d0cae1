"""Functions over rows around a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.expressions import AggregateCall, Expression, Value
from execnodes.core.places import Place
from execnodes.core.types import LogicalType, TimeKind
from planner.algebra.extent import parts_of
from planner.algebra.relation import ALL_CHANGES, KeepsColumns, PassesKeys, PassesTimes


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
    user: AggregateCall | None = field(default=None, hash=False)
    """Of a function of the user: all of the call but what it reads."""


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
    """Begin of the frame: so many rows, ms or units before the current row; None: unbounded."""
    following: int | None = 0
    """Its end, counted behind the current row; None: unbounded. In streams always the current row."""
    position: Position | None = None
    place: Place | None = None
    select: object = field(default=None, compare=False, repr=False)
    """Stands for its SELECT, which has an operator for each of its windows, one above the other."""

    @property
    def by_event_time(self) -> bool:
        """Whether rows are ordered by event time."""
        return bool(self.order) and self.order[0].index in self.input.event_times

    @property
    def by_time(self) -> bool:
        """Whether rows are ordered by a time attribute, so that none comes before one that was given."""
        if not self.order:
            return False
        kind = self.input.type.fields[self.order[0].index].type.kind
        return self.by_event_time or kind is TimeKind.PROCTIME

    @cached_property
    def kinds(self) -> ChangelogMode:
        """By time each row is given once it is known what came before it; else rows push others back."""
        return INSERT_ONLY if self.by_time else ALL_CHANGES

    def updates_without_before(self) -> bool:
        """No: results of other rows hang on the former row."""
        return False

    def others(self) -> Iterator[Over]:
        """Operators below it for other windows of its SELECT."""
        below = self.input
        while self.select is not None and isinstance(below, Over) and below.select is self.select:
            yield below
            below = below.input

    @property
    def parts(self) -> int:
        """Those of the arguments."""
        return parts_of(arg for call in self.calls for arg in call.args)

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True
