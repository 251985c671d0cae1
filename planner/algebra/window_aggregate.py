"""GROUP BY a window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.expressions import AggregateCall
from execnodes.core.places import Place
from execnodes.core.types import LogicalType, TimeKind
from planner.algebra.calls import columns_read, moved
from planner.algebra.columns import pick
from planner.algebra.keys import Key
from planner.algebra.relation import ALL_CHANGES, UPDATING, Places, Pruning, Unary, places
from planner.algebra.windows import END, START, TIME, Window, WindowColumn, WindowProperty


@dataclass(frozen=True)
class WindowAggregate(Unary):
    """GROUP BY keys and a window. Output: keys, results, window properties."""

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    window: Window
    time_type: LogicalType
    """Of the time attribute that the window was made from."""
    time_index: int | None
    """Input column of the time attribute; None if the window is taken from `bounds`."""
    bounds: tuple[int, int] | None
    """Input columns of the window's start and end."""
    properties: tuple[WindowProperty, ...]
    type: LogicalType
    grouping_sets: tuple[tuple[int, ...], ...] = ()
    position: Position | None = None
    place: Place | None = None
    """Of the window."""

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Final rows, but of windows of old that are given more than once."""
        if not self.window.updates:
            return INSERT_ONLY
        return UPDATING if self.input.kinds.insert_only else ALL_CHANGES

    def updates_without_before(self) -> bool:
        """The group and the window tell which row is replaced."""
        return True

    def keys_of_rows(self) -> Iterable[Key]:
        """The grouping with a bound of the window; with grouping sets a key may be NULL in two of them."""
        if not self.grouping_sets:
            for at, each in enumerate(self.properties):
                if each.property in (START, END):
                    yield frozenset({*range(len(self.grouping)), self._first_property + at})

    @property
    def _first_property(self) -> int:
        return len(self.grouping) + len(self.calls)

    @cached_property
    def event_times(self) -> frozenset[int]:
        """window_time, of final rows by event time."""
        if self.window.updates or self.time_type.kind is TimeKind.PROCTIME:
            return frozenset()
        own = enumerate(self.properties, self._first_property)
        return frozenset(at for at, each in own if each.property == TIME)

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """The properties."""
        own = enumerate(self.properties, self._first_property)
        return {at: WindowColumn(self.window, self.time_type, each.property) for at, each in own}

    @property
    def window_inputs(self) -> list[int]:
        """Input columns that the window is taken from."""
        return [at for at in (self.time_index, *(self.bounds or ())) if at is not None]

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[WindowAggregate, Places]:
        """All keys, and the calls and properties that are needed."""
        keys, first = len(self.grouping), self._first_property
        used = [at for at in range(len(self.calls)) if keys + at in needed]
        properties = [at for at in range(len(self.properties)) if first + at in needed]
        calls = tuple(self.calls[at] for at in used)
        below, there = pruning.exactly(self.input, sorted({*self.grouping, *columns_read(calls), *self.window_inputs}))
        kept = (*range(keys), *(keys + at for at in used), *(first + at for at in properties))
        pruned = replace(
            self,
            input=below,
            grouping=tuple(there[each] for each in self.grouping),
            calls=moved(calls, there),
            time_index=None if self.time_index is None else there[self.time_index],
            bounds=None if self.bounds is None else (there[self.bounds[0]], there[self.bounds[1]]),
            properties=tuple(self.properties[at] for at in properties),
            type=pick(self.type, kept),
        )
        return pruned, places(kept)

    @property
    def parts(self) -> int:
        """Calls, and keys of every set."""
        return len(self.calls) + len(self.grouping) * max(1, len(self.grouping_sets))

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True

    @property
    def copies(self) -> int:
        """One for each grouping set."""
        return max(1, len(self.grouping_sets))
