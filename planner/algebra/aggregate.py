"""GROUP BY."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from planner.algebra.calls import columns_read, moved
from planner.algebra.columns import pick
from planner.algebra.keys import Key
from planner.algebra.relation import ALL_CHANGES, UPDATING, Places, Pruning, Trend, Unary, WithoutTimes, places

_TRENDS = {"COUNT": Trend.RISING, "MAX": Trend.RISING, "MIN": Trend.FALLING}
"""Of results over rows that are only added."""


@dataclass(frozen=True)
class Aggregate(WithoutTimes, Unary):
    """GROUP BY `grouping` (input columns); `calls` read input columns. Output: keys, then results."""

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    type: LogicalType
    grouping_sets: tuple[tuple[int, ...], ...] = ()
    """Of GROUPING SETS / CUBE / ROLLUP: subsets of `grouping`; empty for a plain GROUP BY. Calls of `$GROUPING$1`
    and `$GROUPING_ID$1` then may occur among `calls`."""
    ttl: str | None = None
    """STATE_TTL hint."""
    position: Position | None = None
    merging: frozenset[str] = frozenset()
    """Functions of the user among the calls that can put accumulators together."""

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Groups are updated, and go when their last row is taken back."""
        return UPDATING if self.input.kinds.insert_only else ALL_CHANGES

    def updates_without_before(self) -> bool:
        """The group tells which row is replaced."""
        return True

    def keys_of_rows(self) -> Iterable[Key]:
        """The grouping; with grouping sets a key may be NULL in two of them."""
        if not self.grouping_sets:
            yield frozenset(range(len(self.grouping)))

    @property
    def trends(self) -> dict[int, Trend]:
        """Keys stay; counts and greatest values grow while rows are only added."""
        if self.grouping_sets or not self.input.kinds.insert_only:
            return {}
        functions = (each.internal_name.strip("$").rpartition("$")[0] for each in self.calls)
        results = {at: _TRENDS[each] for at, each in enumerate(functions, len(self.grouping)) if each in _TRENDS}
        return dict.fromkeys(range(len(self.grouping)), Trend.CONSTANT) | results

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Aggregate, Places]:
        """All keys, and the calls that are needed; without keys at least one."""
        keys = len(self.grouping)
        used = [at for at in range(len(self.calls)) if keys + at in needed]
        if not keys and not used:
            used = [0] if self.calls else []
        calls = tuple(self.calls[at] for at in used)
        below, there = pruning.exactly(self.input, sorted({*self.grouping, *columns_read(calls)}) or [0])
        kept = (*range(keys), *(keys + at for at in used))
        pruned = replace(
            self,
            input=below,
            grouping=tuple(there[each] for each in self.grouping),
            calls=moved(calls, there),
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
