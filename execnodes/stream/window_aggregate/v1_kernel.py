"""Kernel of the window aggregate."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.aggregates import RECORD_COUNT, all_mergeable
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType, timestamp
from execnodes.core.windowing import Windowing
from execnodes.kernels.aggregates.aggregation import KNOWN, Aggregation
from execnodes.kernels.aggregates.mixed import MixedAggregation, systems
from execnodes.kernels.aggregates.user import CallsFunctions
from execnodes.lowering.stream import HASH, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, inserted
from execnodes.stream.window_aggregate.v1_windows import WINDOW_END, Windows

STATE = "windowAggregateState"
LATE = "lateRowsDropped"
_EVER = 2**62
_ROW, _SEEN = "rk_row", "rk_seen"


class WindowAggregateOperator(CallsFunctions, Operator):
    """Rows of a key group to one row a window and key, once the watermark has passed the window.

    State: bucketed by the epoch millisecond that follows the watermark a window fires at; the keys, the window's end,
    over retracting input the number of rows, and the accumulators.
    """

    uses_time = True

    def __init__(
        self,
        *,
        uid: str,
        input_type: LogicalType,
        output_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        windowing: Windowing,
        properties: tuple[str, ...],
        zone: str,
        retract: bool = False,
    ) -> None:
        """The node's fields; `properties` are WindowStart, WindowEnd or WindowTime, `zone` that of local time."""
        self.uid = uid
        self.inputs = (tuple(Column(field.name, field.type) for field in input_type.fields),)
        CallsFunctions.__init__(self, calls, self.inputs[0])
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.windowing = windowing
        self.windows = Windows(windowing, zone)
        self.properties = properties
        end = (Column(WINDOW_END, timestamp(3).not_null()),)
        own = systems(calls)
        self.reader = Aggregation(self.inputs[0], grouping, calls, retract, STATE, bucketed=True, further_keys=end)
        self.aggregation = MixedAggregation(
            self.inputs[0], grouping, own, retract, STATE, bucketed=True, further_keys=end, every_call=calls
        )
        self.states = self.aggregation.states
        self.spreads = windowing.strategy == "TimeAttribute" and self.windows.overlapping
        self.sliced = self.spreads and not self.user_calls and all_mergeable(own, retract)
        self.ordered = self.aggregation.ordered or bool(self.user_calls)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Put the batch's rows into the state of their windows."""
        if batches[0].is_empty():
            return None
        rows = self._with_first_window(batches[0], context)
        copies = rows if self.sliced else self._by_rows(rows, context)
        delta = self._by_slices(rows, context) if self.sliced else self.aggregation.delta(copies, context)
        if delta.is_empty():
            return None
        aggregation, state = self.aggregation, context.state(STATE)
        before = state.read(delta.select(BUCKET, HASH))
        merged = aggregation.merge(delta, before)
        for call in self.supplied():
            merged = call.step(copies, merged, aggregation.group, KNOWN)
        state.write(aggregation.after(before, merged))
        self._wake(context)
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Emit and forget the windows that have ended."""
        if context.watermark is None:
            return None
        until = _EVER if context.watermark >= DRAINED else context.watermark + 1
        due = context.state(STATE).expire(until)
        for spec in self.states[1:]:
            context.state(spec.name).expire(until)
        self._wake(context)
        aggregation = self.aggregation
        if aggregation.retract:
            due = due.filter(pl.col(RECORD_COUNT) > 0)
        for call in self.supplied():
            due = call.valued(due)
        end = pl.col(WINDOW_END)
        shown = {"WindowStart": self.windows.start(end), "WindowEnd": end, "WindowTime": self.windows.time(end)}
        keys = [pl.col(key.name) for key in aggregation.keys[: len(aggregation.grouping)]]
        values = [*keys, *aggregation.results(pl.col), *(shown[name] for name in self.properties)]
        columns = (value.alias(column.name) for value, column in zip(values, self.output, strict=True))
        return due.sort(BUCKET, WINDOW_END).select(*columns, inserted())

    def _wake(self, context: Context) -> None:
        """Ask for the earliest window only: a timer a window and key group costs more than the windows do."""
        ahead = context.state(STATE).buckets()
        if ahead:
            context.wake_at(min(ahead[0] - 1, DRAINED - 1))

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Windows are waited for again."""
        super().restore(name, rows, context)
        if name == STATE:
            self._wake(context)

    def _with_first_window(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows with the end of their (first) window, its BUCKET, the watermark before them and their number."""
        attached = self.windowing.strategy == "WindowAttached"
        index = self.windowing.window_end if attached else self.windowing.time_attribute_index
        assert index is not None
        time = self.inputs[0][index].name
        end = pl.col(time) if attached else self.windows.first(pl.col(time))
        seen = pl.lit(context.watermark, pl.Int64)
        if WATERMARK in rows.columns:
            seen = pl.max_horizontal(seen, WATERMARK)
        return self._bucketed(rows.with_columns(end.alias(WINDOW_END), seen.alias(_SEEN)).with_row_index(_ROW))

    def _bucketed(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.with_columns((self.windows.firing(pl.col(WINDOW_END)) + 1).alias(BUCKET))

    def _by_rows(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """A copy of each row for each window that it is not late for, as calls read it."""
        kept = self._timely(rows, context)
        kept = kept.sort(_ROW) if self.ordered and self.spreads else kept
        return self.reader.prepare(kept)

    def _by_slices(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """The same by way of slices: rows in time for all of their windows are folded before they are copied."""
        aggregation, late = self.aggregation, self._is_late()
        slices = self.windows.spread(aggregation.partial(aggregation.fold(aggregation.prepare(rows.filter(~late)))))
        behind = aggregation.prepare(self._timely(rows.filter(late), context))
        return aggregation.combine(pl.concat([self._bucketed(slices), aggregation.partial(aggregation.fold(behind))]))

    def _timely(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """A copy of each row for each window that it is not late for; counts rows that are late for all."""
        copies = self._bucketed(self.windows.spread(rows)) if self.spreads else rows
        kept = copies.filter(~self._is_late())
        if kept.height < copies.height:
            context.count(LATE, rows.height - kept[_ROW].n_unique())
        return kept

    def _is_late(self) -> pl.Expr:
        """The watermark had reached the last millisecond of the window when the row came."""
        return (pl.col(_SEEN) >= pl.col(BUCKET) - 1).fill_null(False)
