"""What operators over sessions share: the parts of open sessions, and the watermarks that they wait for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import polars as pl

from execnodes.core.types import BIGINT, LogicalType
from execnodes.core.windowing import Windowing
from execnodes.kernels.aggregates import frame
from execnodes.kernels.local_times import to_local
from execnodes.lowering.stream import HASH, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, State, StateSpec, empty_output
from execnodes.state.sessions import END, FIRE, PART, SEEN, START, TOUCHED, assign
from execnodes.stream.window_aggregate.v1_windows import Windows

LATE = "lateRowsDropped"
DUE = "rk_due"
"""Watermark at which a session fires, as it was known when it was put down; the session may have grown since."""
BOUNDS = (Column(PART, BIGINT.not_null()), Column(START, BIGINT.not_null()), Column(END, BIGINT.not_null()))
NUMBER = "rk_number"
"""Order of the rows of a key; of a part, the number that its next row has at least."""
_ADDED, _PLACE, _ROW = "rk_added", "rk_place", "rk_row"
_SPAN = 10_000
"""Milliseconds of watermark that share a bucket of timers; a bucket's number is the end of its span."""
_EVER = 2**62


class SessionOperator(Operator):
    """Rows to sessions; what is kept of their rows, and given when they fire, is the subclass's."""

    uses_time = True

    def __init__(
        self, uid: str, input_type: LogicalType, keys: tuple[int, ...], windowing: Windowing, zone: str, prefix: str
    ) -> None:
        """`keys`: columns of the sessions' own; `prefix`: of the names of the states."""
        self.uid = uid
        # Not the names of SQL, which could be those of the operator's own columns.
        self.inputs = (tuple(Column(f"c{at}", each.type) for at, each in enumerate(input_type.fields)),)
        self.windows = Windows(windowing, zone)
        self.gap = (windowing.window.gap or 0) * 1000
        self.time = self.inputs[0][windowing.time_attribute_index or 0].name
        self.key_columns = tuple(Column(frame.key(at), self.inputs[0][key].type) for at, key in enumerate(keys))
        self.key_inputs = tuple(self.inputs[0][key].name for key in keys)
        self.keys = tuple(each.name for each in self.key_columns)
        self.parts, self.timers = f"{prefix}State", f"{prefix}Timers"

    def session_states(self, kept: tuple[Column, ...] = ()) -> tuple[StateSpec, ...]:
        """Parts with what is kept of each, and timers, which are made of the parts."""
        parts = StateSpec(self.parts, (*self.key_columns, *BOUNDS, *kept), key=self.keys, since="1.3")
        return parts, StateSpec(self.timers, (Column(DUE, BIGINT),), bucketed=True, derived=True)

    @abstractmethod
    def keep(self, rows: pl.DataFrame, before: pl.DataFrame, parts: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows that have a PART, the parts of their keys before and after: what is put into the state of the parts."""

    @abstractmethod
    def give(self, due: pl.DataFrame, context: Context) -> pl.DataFrame:
        """The changes of sessions that fire: `due` are their parts, in the order in which they fire."""

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Put rows into their sessions."""
        if batches[0].is_empty():
            return None
        rows, state = self._in_time(batches[0], context), context.state(self.parts)
        before = state.read(rows.select(pl.col(HASH).unique()))
        known = before.select(HASH, *self.keys, PART, START, END, self._fire(END).alias(FIRE))
        home, parts = assign(rows, known, self.keys)
        rows = rows.with_columns(home).filter(pl.col(PART).is_not_null())
        if len(rows) < len(home):
            context.count(LATE, len(home) - len(rows))
        kept = self.keep(rows, before, parts, context)
        if not rows.is_empty():
            state.write(kept.select(state_columns(self.states[0])))
            self._wait(parts.filter(TOUCHED).select(HASH, pl.col(FIRE).alias(DUE)).unique(), context)
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Give out and forget the sessions that have ended."""
        watermark = context.watermark
        if watermark is None:
            return None
        reached = _EVER if watermark >= DRAINED else watermark
        timers = context.state(self.timers)
        # The bucket that the watermark is in ends after it, but holds due sessions too.
        told = timers.expire(reached if reached == _EVER else _bucket_end(reached))
        self._wait(told.filter(pl.col(DUE) > reached), context)
        ahead = timers.buckets()
        if ahead:
            context.wake_at(min(ahead[0] - _SPAN + 1, DRAINED - 1))
        state = context.state(self.parts)
        held = state.read(told.filter(pl.col(DUE) <= reached).select(pl.col(HASH).unique()))
        held = held.with_columns(self._fire(END).alias(FIRE))
        due = held.filter(pl.col(FIRE) <= reached)
        if due.is_empty():
            return empty_output(self)
        state.write(held.filter(pl.col(FIRE) > reached).drop(FIRE))
        return self.give(due.sort(FIRE, END, *self.keys, PART), context)

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Sessions are waited for again."""
        super().restore(name, rows, context)
        if name == self.parts:
            self._wait(rows.select(HASH, self._fire(END).alias(DUE)), context)

    def shown(self) -> dict[str, pl.Expr]:
        """Properties of a window, of its bounds."""
        end = pl.col(END)
        return {"WindowStart": pl.col(START), "WindowEnd": end, "WindowTime": self.windows.time(end)}

    def _fire(self, end: str) -> pl.Expr:
        return self.windows.firing(pl.col(end))

    def _in_time(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows with their keys, the session that each is alone, and the watermark that it came under."""
        start = to_local(pl.col(self.time), self.windows.zone) if self.windows.instants else pl.col(self.time)
        seen = [pl.lit(context.watermark, pl.Int64), *([pl.col(WATERMARK)] if WATERMARK in rows.columns else [])]
        keys = (pl.col(name).alias(key) for name, key in zip(self.key_inputs, self.keys, strict=True))
        rows = rows.with_columns(*keys, start.alias(START), pl.max_horizontal(seen).alias(SEEN))
        rows = rows.with_columns((pl.col(START) + self.gap).alias(END))
        return rows.with_columns(self._fire(END).alias(FIRE))

    def _wait(self, due: pl.DataFrame, context: Context) -> None:
        if due.is_empty():
            return
        end = (pl.col(DUE) - 1).floordiv(_SPAN) * _SPAN + _SPAN
        context.state(self.timers).append(due.select(end.alias(BUCKET), HASH, DUE))
        context.wake_at(min(int(str(due[DUE].min())), DRAINED - 1))


def numbered(
    rows: pl.DataFrame, before: pl.DataFrame, parts: pl.DataFrame, group: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows, in their order, and parts as they are after them, with the NUMBER of the row, and of the part's next one.

    Numbers go on through all parts of a key, so that rows of sessions that have grown together stand as they came,
    whatever the micro-batches.
    """
    keys = [HASH, *group[:-1]]
    known = frame.left_join(parts, before.select(*group, NUMBER), group).with_columns(pl.col(NUMBER).fill_null(0))
    begun = known.group_by(keys).agg(pl.col(NUMBER).max()).with_row_index(_PLACE)
    # The numbers of a key's rows, counted where its rows stand together: a window over so many groups is slow.
    together = frame.left_join(rows, begun, keys).sort(_PLACE, maintain_order=True)
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    kept = together.with_columns(row.alias(_ROW)).with_columns(
        pl.col(NUMBER) + pl.col(_ROW) - pl.col(_ROW).min().over(_PLACE)
    )
    last = kept.group_by(group).agg((pl.col(NUMBER).max() + 1).alias(_ADDED))
    total = pl.max_horizontal(NUMBER, _ADDED)
    return kept, frame.left_join(known, last, group).with_columns(total.alias(NUMBER))


def taken(state: State, spec: StateSpec, due: pl.DataFrame, group: list[str]) -> pl.DataFrame:
    """What was kept of the rows of these parts, in their order, with the columns of `due`; it leaves the state."""
    held = state.read(due.select(pl.col(HASH).unique()))
    state.write(frame.anti_join(held, due, group).select(state_columns(spec)))
    there = held.join(due.drop(HASH, NUMBER), on=group, how="inner", nulls_equal=True)
    ordered = there.sort(FIRE, END, *group[:-1], NUMBER, PART)
    return ordered.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE))


def state_columns(spec: StateSpec) -> list[str]:
    """Columns of a state's frames, the address first."""
    return list(spec.schema)


def _bucket_end(time: int) -> int:
    return (time - 1) // _SPAN * _SPAN + _SPAN
