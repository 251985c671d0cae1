"""Kernel of the global window aggregate."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType, timestamp
from execnodes.core.windowing import SlicedWindowing
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import KNOWN, Aggregation
from execnodes.lowering.stream import HASH, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec, empty_output, inserted
from execnodes.stream.window_aggregate.v1_windows import WINDOW_END, Windows

STATE = "globalWindowAggregateState"
NEXT = "globalWindowAggregateNextState"
LATE = "lateRowsDropped"
SLICE = "rk_slice"
"""End of a slice, in microseconds of local time."""
FROM = "rk_from"
"""End of the first window that the rows count in: the slice's own, or a later one where they came late."""
WINDOW = "rk_window"
"""End of the next window of a group."""
FEW = 4
"""Windows that fire together and are made from their slices one by one."""
_EVER = 2**62
_SEEN, _ROW = "rk_seen", "rk_row"


class GlobalWindowAggregateOperator(Operator):
    """Slices of a key group to one row a window and key, once the watermark has passed the window.

    State: the slices, bucketed by the epoch millisecond that follows the watermark their last window fires at; and for
    each group the next window, bucketed likewise. Both are there from a group's first slice to its last window.
    """

    uses_time = True

    def __init__(
        self,
        *,
        uid: str,
        input_type: LogicalType,
        output_type: LogicalType,
        local_input_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        windowing: SlicedWindowing,
        properties: tuple[str, ...],
        zone: str,
    ) -> None:
        """The node's fields; `properties` are WindowStart, WindowEnd or WindowTime, `zone` that of local time."""
        self.uid = uid
        self.inputs = (tuple(Column(field.name, field.type) for field in input_type.fields),)
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.windows = Windows(windowing, zone)
        self.properties = properties
        read = tuple(Column(field.name, field.type) for field in local_input_type.fields)
        keys, end = tuple(self.inputs[0][index] for index in grouping), timestamp(3).not_null()
        self.key_inputs = tuple(each.name for each in keys)
        self.aggregation = Aggregation(
            read, (), calls, False, STATE, bucketed=True, given_keys=keys,
            further_keys=(Column(SLICE, end), Column(FROM, end)),
        )  # fmt: skip
        self.by_window = Aggregation(
            read, (), calls, False, STATE, given_keys=keys, further_keys=(Column(WINDOW_END, end),)
        )
        (slices,) = self.aggregation.states
        key_columns = self.aggregation.keys[: len(keys)]
        self.keys = [each.name for each in key_columns]
        following = StateSpec(NEXT, (*key_columns, Column(WINDOW, end)), bucketed=True, key=slices.key, since="1.3")
        self.states = (slices, following)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Put what has been folded into the state of its slices."""
        if batches[0].is_empty():
            return None
        aggregation, state = self.aggregation, context.state(STATE)
        rows = self._from_first_window(self._named(batches[0], context), context)
        if rows.is_empty():
            return None
        delta = aggregation.combine(rows)
        before = state.read(delta.select(BUCKET, HASH))
        merged = aggregation.merge(delta, before)
        state.write(aggregation.after(before, merged))
        self._await(merged.filter(pl.col(KNOWN).is_null()).rename({FROM: WINDOW}), context)
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Emit the windows that have ended, and forget the slices that no window needs."""
        if context.watermark is None:
            return None
        until = _EVER if context.watermark >= DRAINED else context.watermark + 1
        told = context.state(NEXT).expire(until)
        if told.is_empty():
            self._wake(context)
            return empty_output(self)
        state, group = context.state(STATE), [HASH, *self.keys]
        due = told.group_by(group).agg(pl.col(WINDOW).min())
        slices = state.scan()
        ends = self.windows.spread(slices.select(pl.col(SLICE).alias(WINDOW_END)).unique()).unique().sort(WINDOW_END)
        fires = ends.select(WINDOW_END, fired=self.windows.firing(pl.col(WINDOW_END)) < until)
        ready = fires.filter(pl.col("fired") & (pl.col(WINDOW_END) >= due[WINDOW].min()))[WINDOW_END].to_list()
        ahead = fires.filter(~pl.col("fired"))[WINDOW_END].to_list()
        found = (
            frame.left_join(self._windows(slices, ready), due.drop(HASH), self.keys or [HASH])
            if self.keys
            else (self._windows(slices, ready).join(due.drop(HASH), how="cross"))
        )
        state.expire(until)
        if ahead:
            held = (pl.col(BUCKET) > until) & (pl.col(FROM) <= ahead[0])
            reaches = self._last(pl.col(SLICE)) >= ahead[0]
            waiting = frame.semi_join(slices.filter(held & reaches).select(group).unique(), due, group)
            self._await(waiting.with_columns(pl.lit(ahead[0], pl.Int64).alias(WINDOW)), context)
        self._wake(context)
        return self._results(found.filter(pl.col(WINDOW_END) >= pl.col(WINDOW)))

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Windows are waited for again."""
        super().restore(name, rows, context)
        if name == NEXT:
            self._wake(context)

    def _named(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows by the names of the state, and the watermark that they are judged by."""
        *_, end = self.inputs[0]
        columns = self.aggregation.columns
        given = self.inputs[0][len(self.inputs[0]) - 1 - len(columns) : -1]
        seen = [pl.lit(context.watermark, pl.Int64), *([pl.col(WATERMARK)] if WATERMARK in rows.columns else [])]
        return rows.select(
            *(pl.col(name).alias(key) for name, key in zip(self.key_inputs, self.keys, strict=True)),
            *(pl.col(there.name).alias(here.name) for there, here in zip(given, columns, strict=True)),
            *(name for name in (HASH, SEQUENCE) if name in rows.columns),
            pl.col(end.name).alias(SLICE),
            pl.max_horizontal(seen).alias(_SEEN),
        )

    def _from_first_window(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows with BUCKET and FROM; those that are late for all of their windows are left out and counted."""
        bucket = (self.windows.firing(self._last(pl.col(SLICE))) + 1).alias(BUCKET)
        rows = rows.with_columns(bucket, pl.col(SLICE).alias(FROM))
        late = (self.windows.firing(pl.col(SLICE)) <= pl.col(_SEEN)).fill_null(False)
        behind = rows.filter(late)
        if behind.is_empty():
            return rows.drop(_SEEN)
        numbered = behind.with_row_index(_ROW)
        copies = self.windows.spread(numbered.select(_ROW, _SEEN, pl.col(SLICE).alias(WINDOW_END)))
        timely = copies.filter(self.windows.firing(pl.col(WINDOW_END)) > pl.col(_SEEN))
        first = timely.group_by(_ROW).agg(pl.col(WINDOW_END).min().alias(FROM))
        kept = numbered.drop(FROM).join(first, on=_ROW, how="inner")
        if len(kept) < len(behind):
            context.count(LATE, len(behind) - len(kept))
        return pl.concat([rows.filter(~late), kept.select(rows.columns)]).drop(_SEEN)

    def _last(self, end: pl.Expr) -> pl.Expr:
        """End of the last window of a slice."""
        return self.windows.last(end)

    def _windows(self, slices: pl.DataFrame, ends: list[int]) -> pl.DataFrame:
        """Partial results of each window that ends then and has a slice."""
        values = [*self.keys, HASH, *(column.name for column in self.aggregation.columns)]
        if len(ends) > FEW and self.windows.windowing.window.type == "HoppingWindow":
            timely = slices.filter(pl.col(FROM) == pl.col(SLICE)).select(*values, pl.col(SLICE).alias(WINDOW_END))
            late = self.windows.spread(
                slices.filter(pl.col(FROM) > pl.col(SLICE)).select(*values, FROM, pl.col(SLICE).alias(WINDOW_END))
            ).filter(pl.col(WINDOW_END) >= pl.col(FROM))
            whole = pl.concat([self._doubled(timely), late.drop(FROM).select(*values, WINDOW_END)])
            return self._combined(whole.filter(pl.col(WINDOW_END).is_in(ends)))
        found = [self._combined(slices.clear().select(*values, pl.col(SLICE).alias(WINDOW_END)))]
        for end in ends:
            inside = (pl.col(FROM) <= end) & (pl.col(SLICE) > self.windows.start(pl.lit(end, pl.Int64)))
            found.append(self._combined(slices.filter(inside).select(*values, pl.lit(end, pl.Int64).alias(WINDOW_END))))
        return pl.concat(found)

    def _doubled(self, slices: pl.DataFrame) -> pl.DataFrame:
        """Hopping windows of all slices: runs of 1, 2, 4, … slices are made of two shorter ones each."""
        step, count = self.windows.step, self.windows.size // self.windows.step
        run, length, covered = slices, 1, 0
        whole = slices.clear()
        while True:
            if count & length:
                shifted = run.with_columns(pl.col(WINDOW_END) + covered * step)
                whole = self._combined(pl.concat([whole, shifted]))
                covered += length
            if covered == count:
                return whole
            run = self._combined(pl.concat([run, run.with_columns(pl.col(WINDOW_END) + length * step)]))
            length *= 2

    def _combined(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of one group and window made one, with the columns that they had."""
        aggregation = self.by_window
        return aggregation.partial(aggregation.combine(rows)).select(rows.columns)

    def _results(self, windows: pl.DataFrame) -> pl.DataFrame:
        end, aggregation = pl.col(WINDOW_END), self.by_window
        shown = {"WindowStart": self.windows.start(end), "WindowEnd": end, "WindowTime": self.windows.time(end)}
        values = [*map(pl.col, self.keys), *aggregation.results(pl.col), *(shown[name] for name in self.properties)]
        columns = (value.alias(column.name) for value, column in zip(values, self.output, strict=True))
        return windows.sort(WINDOW_END).select(*columns, inserted())

    def _await(self, groups: pl.DataFrame, context: Context) -> None:
        """Put down the next WINDOW of groups."""
        if not groups.is_empty():
            firing = self.windows.firing(pl.col(WINDOW)) + 1
            told = groups.with_columns(firing.alias(BUCKET)).select(list(self.states[1].schema))
            context.state(NEXT).append(told)
            self._wake(context)

    def _wake(self, context: Context) -> None:
        ahead = context.state(NEXT).buckets()
        if ahead:
            context.wake_at(min(ahead[0] - 1, DRAINED - 1))
