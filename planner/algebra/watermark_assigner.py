"""Event time and watermarks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from execnodes.core.expressions import Expression, input_indexes, remap
from execnodes.core.types import LogicalType
from planner.algebra.columns import pick
from planner.algebra.relation import PassesChanges, PassesKeys, Places, Pruning
from planner.algebra.windows import WindowColumn


@dataclass(frozen=True)
class WatermarkAssigner(PassesChanges, PassesKeys):
    """Makes a column an event-time attribute."""

    time_index: int
    watermark: Expression
    type: LogicalType

    @cached_property
    def event_times(self) -> frozenset[int]:
        """The column, and those of the input."""
        return self.input.event_times | {self.time_index}

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """Those of the input."""
        return self.input.window_columns

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[WatermarkAssigner, Places]:
        """A stream with watermarks is read once, with what any reader wants and the watermark."""
        kept = pruning.shared(self, needed | {self.time_index} | input_indexes(self.watermark))
        below, moved = pruning.exactly(self.input, kept)
        watermark = remap(self.watermark, moved.__getitem__)
        return WatermarkAssigner(below, moved[self.time_index], watermark, pick(self.type, kept)), moved

    @property
    def parts(self) -> int:
        """One: the watermark is part of the table."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False
