"""TUMBLE, HOP, CUMULATE and SESSION as table functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from execnodes.core.errors import Position
from execnodes.core.places import Place
from execnodes.core.types import LogicalType, TimeKind
from planner.algebra.columns import pick
from planner.algebra.keys import Key
from planner.algebra.relation import PassesChanges, Places, Pruning
from planner.algebra.windows import END, START, TIME, Window, WindowColumn


@dataclass(frozen=True)
class WindowTableFunction(PassesChanges):
    """TABLE(TUMBLE(…)): the input's columns, then window_start, window_end, window_time."""

    window: Window
    time_index: int
    type: LogicalType
    position: Position | None = None
    place: Place | None = None

    def keys_of_rows(self) -> Iterable[Key]:
        """Those of the input, where a row is in one window; in several it would need the window too."""
        return self.input.upsert_keys if self.window.kind == "TUMBLE" else ()

    @cached_property
    def event_times(self) -> frozenset[int]:
        """Those of the input, and window_time of event time."""
        own = len(self.input.type.fields) + 2
        return self.input.event_times | ({own} if self.type.fields[own].type.kind is TimeKind.ROWTIME else frozenset())

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """Those of the input, and its own three."""
        width = len(self.input.type.fields)
        time_type = self.input.type.fields[self.time_index].type
        own = {width + at: WindowColumn(self.window, time_type, each) for at, each in enumerate((START, END, TIME))}
        return self.input.window_columns | own

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[WindowTableFunction, Places]:
        """What is needed of the input, the time, the keys of a session; its own columns stay."""
        width = len(self.input.type.fields)
        read = {each for each in needed if each < width} | {self.time_index} | set(self.window.partition)
        below, there = pruning.exactly(self.input, sorted(read))
        moved = there | {width + at: len(there) + at for at in range(3)}
        pruned = replace(
            self,
            input=below,
            window=replace(self.window, partition=tuple(there[each] for each in self.window.partition)),
            time_index=there[self.time_index],
            type=pick(self.type, sorted(moved)),
        )
        return pruned, moved

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """Rows wait for the end of their session."""
        return self.window.kind == "SESSION"

    @property
    def copies(self) -> int:
        """One for each window that a row is in."""
        return self.window.of_a_row
