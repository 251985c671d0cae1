"""Kernel of stream-exec-window-rank and stream-exec-window-deduplicate."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import BIGINT
from execnodes.core.windowing import Windowing
from execnodes.lowering.stream import HASH, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec, inserted
from execnodes.stream.window_aggregate.v1_windows import Windows

LATE = "lateRowsDropped"
RANK = "rk_rank"
"""Rank of a row so far in its window and partition, from 1."""
_EVER = 2**62


class WindowTopN(Operator):
    """The rows of each window and partition whose rank is in a range, given out when the watermark has passed it.

    State: the best rows so far; bucketed by the epoch millisecond that follows the watermark a window fires at.
    """

    uses_time = True
    ordered = True

    def __init__(
        self,
        uid: str,
        columns: tuple[Column, ...],
        *,
        state: str,
        partition: tuple[int, ...],
        order: SortSpec,
        start: int,
        end: int,
        number: Column | None,
        windowing: Windowing,
        zone: str,
        latest_first: bool = False,
    ) -> None:
        """`zone`: of local time; `latest_first`: of rows that sort alike the later one is better, else the earlier."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns if number is None else (*columns, number)
        self.names = [each.name for each in columns]
        self.state = state
        self.partition = [self.names[each] for each in partition]
        self.order = order
        self.ranks = (start, end)
        self.number = None if number is None else number.name
        self.windows = Windows(windowing, zone)
        self.bounds = [self.names[each] for each in (windowing.window_start, windowing.window_end) if each is not None]
        self.latest_first = latest_first
        self.states = (
            StateSpec(state, (*columns, Column(RANK, BIGINT)), bucketed=True, key=tuple(self.partition), since="1.3"),
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Keep the best rows of the windows that are not over."""
        rows = self._in_time(batches[0], context)
        if rows.is_empty():
            return None
        state = context.state(self.state)
        held = state.read(rows.select(BUCKET, HASH).unique())
        both = pl.concat([held, rows.select(BUCKET, HASH, *self.names, SEQUENCE)], how="diagonal")
        fields = self.order.fields
        arrival = [SEQUENCE, RANK] if self.latest_first else [RANK, SEQUENCE]
        ordered = both.sort(
            [*(self.names[each.index] for each in fields), *arrival],
            descending=[*(not each.is_ascending for each in fields), self.latest_first, False],
            nulls_last=[*(each.null_is_last for each in fields), True, True],
        )
        rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over([BUCKET, HASH, *self.bounds, *self.partition])
        kept = ordered.with_columns(rank.alias(RANK)).filter(pl.col(RANK) <= self.ranks[1])
        state.write(kept.select(held.columns))
        self._wake(context)
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Give out and forget the windows that have ended."""
        if context.watermark is None:
            return None
        due = context.state(self.state).expire(_EVER if context.watermark >= DRAINED else context.watermark + 1)
        self._wake(context)
        number = [] if self.number is None else [pl.col(RANK).alias(self.number)]
        shown = due.filter(pl.col(RANK).is_between(*self.ranks)).sort(BUCKET, *self.bounds, HASH, RANK)
        return shown.select(*self.names, *number, inserted())

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Windows are waited for again."""
        super().restore(name, rows, context)
        self._wake(context)

    def _wake(self, context: Context) -> None:
        ahead = context.state(self.state).buckets()
        if ahead:
            context.wake_at(min(ahead[0] - 1, DRAINED - 1))

    def _in_time(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows with the BUCKET of their window; those of windows that the watermark had passed are counted."""
        end = self.bounds[-1]
        seen = pl.lit(context.watermark, pl.Int64)
        if WATERMARK in rows.columns:
            seen = pl.max_horizontal(seen, WATERMARK)
        bucketed = rows.with_columns((self.windows.firing(pl.col(end)) + 1).alias(BUCKET))
        kept = bucketed.filter(~(seen >= pl.col(BUCKET) - 1).fill_null(False))
        if kept.height < rows.height:
            context.count(LATE, rows.height - kept.height)
        return kept
