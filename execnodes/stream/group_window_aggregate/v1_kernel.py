"""Kernel of the group window aggregate."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.aggregates import RECORD_COUNT
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType, timestamp
from execnodes.core.windowing import Windowing
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import KNOWN, Aggregation
from execnodes.kernels.aggregates.mixed import MixedAggregation, systems
from execnodes.kernels.aggregates.result_changes import changes
from execnodes.kernels.aggregates.user import CallsFunctions
from execnodes.lowering.stream import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec, inserted
from execnodes.stream.window_aggregate.v1_windows import WINDOW_END, Windows

STATE = "groupWindowAggregateState"
WAITING = "groupWindowAggregateWaitingState"
LATE = "lateRowsDropped"
_EVER = 2**62
_ROW, _SEEN, _FIRES = "rk_row", "rk_seen", "rk_fires"


class GroupWindowAggregateOperator(CallsFunctions, Operator):
    """Rows of a key group to a row a window and key, which is updated while rows for it may come.

    State: the accumulators of windows, bucketed by the epoch millisecond that follows the watermark after which no row
    is taken; and the windows that have not been given, bucketed by that which follows their end.
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
        retract: bool,
        update_before: bool,
        early: bool,
        lateness_ms: int,
    ) -> None:
        """The node's fields; `properties` are WindowStart, WindowEnd or WindowTime, `zone` that of local time."""
        self.uid = uid
        self.inputs = (tuple(Column(field.name, field.type) for field in input_type.fields),)
        CallsFunctions.__init__(self, calls, self.inputs[0])
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.windows = Windows(windowing, zone)
        self.time = self.inputs[0][windowing.time_attribute_index or 0].name
        self.properties = properties
        self.update_before, self.early, self.lateness = update_before, early, lateness_ms
        end = Column(WINDOW_END, timestamp(3).not_null())
        self.reader = Aggregation(self.inputs[0], grouping, calls, retract, STATE, bucketed=True, further_keys=(end,))
        self.aggregation = MixedAggregation(
            self.inputs[0], grouping, systems(calls), retract, STATE, bucketed=True, further_keys=(end,),
            every_call=calls,
        )  # fmt: skip
        self.waiting = WAITING
        hashed = self.aggregation.states[0].key
        awaited = StateSpec(WAITING, self.aggregation.keys, bucketed=True, key=hashed, since="1.3")
        self.states = (*self.aggregation.states, awaited)
        self.ordered = self.aggregation.ordered or bool(self.user_calls)
        self.keys = [each.name for each in self.aggregation.keys]
        results = self.output[len(grouping) : len(grouping) + len(calls)]
        self.told = (*self.aggregation.keys, *results)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Put rows into the state of their windows; give what has changed of windows that are given by now."""
        if batches[0].is_empty():
            return None
        rows = self._timely(self._in_windows(batches[0], context), context)
        if rows.is_empty():
            return None
        aggregation, state = self.aggregation, context.state(STATE)
        prepared = self.reader.prepare(rows)
        delta = aggregation.delta(prepared, context)
        before = state.read(delta.select(BUCKET, HASH))
        merged = aggregation.merge(delta, before)
        for call in self.supplied():
            merged = call.step(prepared, merged, aggregation.group, KNOWN)
        state.write(aggregation.after(before, merged))
        given = merged if self.early else self._given(merged, context)
        self._wake(context)
        return self._shown(changes(aggregation, given, self.told, self.update_before)) if len(given) else None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Give the windows that have ended, and forget those for which no row is taken any more."""
        if context.watermark is None:
            return None
        until = _EVER if context.watermark >= DRAINED else context.watermark + 1
        ended = context.state(WAITING).expire(until).unique([HASH, *self.keys])
        state = context.state(STATE)
        addresses = self._bucketed(ended)
        held = frame.semi_join(state.read(addresses.select(BUCKET, HASH)), ended, self.keys)
        for spec in self.aggregation.states:
            context.state(spec.name).expire(until)
        self._wake(context)
        if self.aggregation.retract:
            held = held.filter(pl.col(RECORD_COUNT) > 0)
        for call in self.supplied():
            held = call.valued(held)
        values = zip(self.aggregation.results(pl.col), self.told[len(self.keys) :], strict=True)
        results = (value.alias(column.name) for value, column in values)
        ordered = held.sort(BUCKET, WINDOW_END)
        return self._shown(ordered.select(*self.keys, *results, inserted()))

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Windows are waited for again."""
        super().restore(name, rows, context)
        if name in (STATE, WAITING):
            self._wake(context)

    def _given(self, merged: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Of windows that have rows now: those that were given, or are given at once since they have ended."""
        state = context.state(WAITING)
        fires = self.windows.firing(pl.col(WINDOW_END))
        told = merged.with_columns(fires.alias(_FIRES), pl.col(KNOWN).fill_null(False))
        awaited = told.select(HASH, *self.keys, (pl.col(_FIRES) + 1).alias(BUCKET), _FIRES, KNOWN)
        held = state.read(awaited.select(BUCKET, HASH))
        ended = (pl.col(_FIRES) <= (context.watermark if context.watermark is not None else -_EVER)) & ~pl.col(KNOWN)
        begun = frame.anti_join(awaited.filter(~pl.col(KNOWN) & ~ended), held, self.keys)
        if not begun.is_empty():
            state.append(begun.select(list(self.states[-1].schema)))
        silent = pl.concat([held.select(self.keys), begun.select(self.keys)])
        return frame.anti_join(merged, silent, self.keys)

    def _in_windows(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """A copy of each row for each of its windows, with its BUCKET; a row may be in none."""
        seen = [pl.lit(context.watermark, pl.Int64), *([pl.col(WATERMARK)] if WATERMARK in rows.columns else [])]
        size, step = self.windows.size, self.windows.step
        # The window that begins last before a row, and those before it.
        last = self.windows.first(pl.col(self.time)) - step + size
        local = self.windows.local(pl.col(self.time))
        told = rows.with_columns(last.alias(WINDOW_END), local.alias("rk_local"), pl.max_horizontal(seen).alias(_SEEN))
        told = told.with_row_index(_ROW)
        end = pl.col(WINDOW_END)
        copies = [told.with_columns(end - back * step) for back in range(-(-size // step))]
        inside = pl.concat(copies).filter(end > pl.col("rk_local"))
        return self._bucketed(inside.sort(_ROW) if self.ordered else inside)

    def _timely(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows whose window may still change; counts those that are too late for all of theirs."""
        kept = rows.filter(~(pl.col(_SEEN) >= pl.col(BUCKET) - 1).fill_null(False))
        if kept.height < rows.height:
            context.count(LATE, rows[_ROW].n_unique() - kept[_ROW].n_unique())
        return kept

    def _bucketed(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.with_columns((self.windows.firing(pl.col(WINDOW_END)) + self.lateness + 1).alias(BUCKET))

    def _shown(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Keys, end of the window and results as the output has them."""
        end = pl.col(WINDOW_END)
        shown = {"WindowStart": self.windows.start(end), "WindowEnd": end, "WindowTime": self.windows.time(end)}
        names = [*self.keys[:-1], *(each.name for each in self.told[len(self.keys) :])]
        values = [*map(pl.col, names), *(shown[name] for name in self.properties)]
        columns = (value.alias(column.name) for value, column in zip(values, self.output, strict=True))
        return rows.select(*columns, *(name for name in (KIND, SEQUENCE) if name in rows.columns))

    def _wake(self, context: Context) -> None:
        ahead = [*context.state(STATE).buckets()[:1], *context.state(WAITING).buckets()[:1]]
        if ahead:
            context.wake_at(min(*ahead, DRAINED) - 1)
