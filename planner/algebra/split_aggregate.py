"""GROUP BY whose groups are computed in parts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from execnodes.core.expressions import AggregateCall
from planner.algebra.aggregate import Aggregate
from planner.algebra.calls import columns_read, moved
from planner.algebra.columns import pick
from planner.algebra.relation import Places, Pruning, places


@dataclass(frozen=True)
class SplitAggregate(Aggregate):
    """An Aggregate of which no two parts of a group have equal values in a DISTINCT column, so that they can be
    merged: `parts_by` are input columns that tell the parts of a group apart.
    """

    parts_by: tuple[int, ...] = ()
    partial_calls: tuple[AggregateCall, ...] = ()
    """What parts compute: the calls, each over the copies of rows that are its own."""

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[SplitAggregate, Places]:
        """All keys, and the calls that are needed; at least one that is DISTINCT."""
        keys = len(self.grouping)
        used = [at for at in range(len(self.calls)) if keys + at in needed or self.calls[at].distinct]
        calls, partial = (tuple(some[at] for at in used) for some in (self.calls, self.partial_calls))
        read = {*self.grouping, *self.parts_by, *columns_read((*calls, *partial))}
        below, there = pruning.exactly(self.input, sorted(read))
        kept = (*range(keys), *(keys + at for at in used))
        made = replace(
            self,
            input=below,
            grouping=tuple(there[each] for each in self.grouping),
            parts_by=tuple(there[each] for each in self.parts_by),
            calls=moved(calls, there),
            partial_calls=moved(partial, there),
            type=pick(self.type, kept),
        )
        return made, places(kept)
