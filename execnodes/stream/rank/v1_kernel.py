"""Kernel of stream-exec-rank, stream-exec-sort-limit and stream-exec-limit."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.rank_spec import RankRange, RankStrategy
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator, StateSpec
from execnodes.stream.rank.v1_changes import Changes
from execnodes.stream.rank.v1_input import END, NEW, OLD, PLACE, with_updates, without_retracted

END_STATE = "rankEndState"
RANK = "rk_rank"
"""Rank of a row when its partition was written last, from 1."""


class TopN(Operator):
    """The rows of each partition whose rank is in a range, and the rank if it is asked for.

    State: the rows that may yet be in the range. If rows are only added those are the best `end`; if they are replaced
    by better ones as well; if rows are taken back, all. Of rows that sort alike the earlier one is better.
    """

    ordered = True

    def __init__(
        self,
        uid: str,
        state: str,
        columns: tuple[Column, ...],
        *,
        partition: tuple[int, ...],
        order: SortSpec,
        ranks: RankRange,
        strategy: RankStrategy,
        number: Column | None,
        update_before: bool,
        single: bool,
        ttl_ms: int = 0,
    ) -> None:
        """`state`: name of that of the rows; `number`: the output column of the rank; None if it is not given out.

        `single`: one row at most is given out of a partition, which then is its key.
        """
        self.uid = uid
        self.state = state
        self.inputs = (columns,)
        self.output = columns if number is None else (*columns, number)
        self.names = [each.name for each in columns]
        self.partition = [self.names[each] for each in partition]
        self.order = order
        self.ranks = ranks
        self.end_column = None if ranks.end_index is None else self.names[ranks.end_index]
        self.strategy = strategy.type
        self.row_key = [self.names[each] for each in strategy.primary_keys]
        self.changes = Changes(
            self.names,
            self.partition,
            ranks.start,
            number.name if number else None,
            update_before,
            by_rank=number is not None or single,
            row_key=self.row_key,
            retracts=self.strategy == "Retract",
        )
        keys, key_columns = tuple(self.partition), tuple(columns[each] for each in partition)
        rows = StateSpec(state, (*columns, Column(RANK, BIGINT)), ttl_ms, key=keys, since="1.3")
        ends = StateSpec(END_STATE, (*key_columns, Column(END, BIGINT)), ttl_ms, key=keys, since="1.3")
        self.states = (rows,) if self.end_column is None else (rows, ends)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """The partitions of the batch anew; what differs from before is given out."""
        batch = batches[0]
        if batch.is_empty():
            return None
        state = context.state(self.state)
        held = state.read(batch.select(pl.col(HASH).unique()))
        ranked = self._ranked(held, batch)
        if self.end_column is not None:
            ends = self._ends(batch, context)
            held = held.join(ends, on=[HASH, *self.partition], how="left", nulls_equal=True)
            ranked = ranked.join(ends, on=[HASH, *self.partition], how="left", nulls_equal=True, maintain_order="left")
        else:
            held, ranked = (each.with_columns(pl.lit(self.ranks.end, pl.Int64).alias(END)) for each in (held, ranked))
        kept = ranked if self.strategy == "Retract" else ranked.filter(pl.col(NEW) <= pl.col(END))
        if self.strategy == "AppendFast" and kept[SEQUENCE].null_count() == kept.height:
            return None
        state.write(kept.drop(RANK, strict=False).rename({NEW: RANK}).select(state_columns(self.states[0])))
        shown = pl.col(NEW).is_between(self.ranks.start, pl.col(END))
        before = pl.col(RANK).is_between(self.ranks.start, pl.col(END))
        return self.changes.between(held.filter(before).rename({RANK: OLD}), kept.filter(shown), batch)

    def _ranked(self, held: pl.DataFrame, batch: pl.DataFrame) -> pl.DataFrame:
        """Rows of the partitions as they are after the batch, with `OLD`, `NEW` rank and, if they are new, SEQUENCE."""
        added = batch.filter(pl.col(KIND) % 2 == 0).select(*self.names, HASH, SEQUENCE)
        before = held.rename({RANK: OLD}).with_columns(pl.col(OLD).alias(PLACE))
        match self.strategy:
            case "AppendFast":
                rows = pl.concat([before.sort(PLACE), added], how="diagonal")
            case "UpdateFast":
                rows = with_updates(before, added, self.row_key, self._order_columns())
                rows = rows.sort(PLACE, SEQUENCE, nulls_last=True)
            case "Retract":
                rows = without_retracted(before.sort(PLACE), batch, self.names)
        fields = self.order.fields
        # What sorts alike stays in the order in which it came: one column is sorted faster than several.
        ordered = (
            rows
            if not fields
            else rows.sort(
                self._order_columns(),
                descending=[not each.is_ascending for each in fields],
                nulls_last=[each.null_is_last for each in fields],
                maintain_order=True,
            )
        )
        rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over([HASH, *self.partition])
        return ordered.with_columns(rank.alias(NEW))

    def _order_columns(self) -> list[str]:
        return [self.names[each.index] for each in self.order.fields]

    def _ends(self, batch: pl.DataFrame, context: Context) -> pl.DataFrame:
        """The highest rank of each partition of the batch: that of its first row ever."""
        keys = [HASH, *self.partition]
        state = context.state(END_STATE)
        known = state.read(batch.select(pl.col(HASH).unique()))
        first = batch.unique(subset=keys, keep="first", maintain_order=True)
        fresh = first.join(known, on=keys, how="anti", nulls_equal=True)
        end = pl.col(self.end_column or "").cast(pl.Int64).fill_null(0).alias(END)
        added = fresh.select(*keys, end).select(known.columns)
        state.append(added)
        return pl.concat([known, added])


def state_columns(spec: StateSpec) -> list[str]:
    """Names of a state's frame."""
    return list(spec.schema)
