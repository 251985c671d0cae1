"""Kernels of stream-exec-deduplicate_1: the last row of a key, its first by event time, its first to arrive."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.lowering import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.core.types import BIGINT, BOOLEAN
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec, empty_output

STATE = "deduplicateState"
TIMERS = "deduplicateTimers"
DONE = "rk_done"
"""True once the row of the key has been given out."""
DUE = "rk_due"
"""Event time of a waiting row, epoch ms."""
LATE = "numLateRecordsDropped"
SPAN = 10_000
"""Milliseconds of event time that share a bucket of timers; a bucket's number is the end of its span."""
_NEW = "_rk_new"


class KeepLast(Operator):
    """The last row of each key, by event time or by arrival; changes at once."""

    ordered = True

    def __init__(
        self,
        uid: str,
        columns: tuple[Column, ...],
        keys: tuple[int, ...],
        time: int | None,
        generate_update_before: bool,
        ttl_ms: int = 0,
    ) -> None:
        """`time`: index of the event time; None goes by arrival."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.keys = [self.names[key] for key in keys]
        self.time = None if time is None else self.names[time]
        self.generate_update_before = generate_update_before
        self.states = (StateSpec(STATE, columns, ttl_ms, key=tuple(self.keys)),)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """One update at most for each key: from the row in state to the winner of the batch."""
        batch = batches[0]
        if batch.is_empty():
            return None
        order = [SEQUENCE] if self.time is None else [_millis(self.time), SEQUENCE]
        best = _one_each(batch.sort(order, maintain_order=True), self.keys, "last")
        state = context.state(STATE)
        held = state.read(best.select(pl.col(HASH).unique()))
        old = held.select(*self.names, HASH).rename({name: name + _NEW for name in self.names})
        met = best.join(
            old.with_columns(pl.lit(True).alias("rk_known")),
            left_on=[HASH, *self.keys],
            right_on=[HASH, *(key + _NEW for key in self.keys)],
            how="left",
            nulls_equal=True,
            coalesce=False,
            suffix="_rk_side",
        )
        if self.time is not None:
            # An equal time replaces, an older row is ignored.
            wins = pl.col("rk_known").is_null() | (_millis(self.time) >= _millis(self.time + _NEW))
            met = met.filter(wins)
        known = pl.col("rk_known").is_not_null()
        rest = held.join(met, on=[HASH, *self.keys], how="anti", nulls_equal=True)
        state.write(pl.concat([rest, met.select(held.columns)]))
        return self._changes(met, known, WATERMARK in batch.columns)

    def _changes(self, met: pl.DataFrame, known: pl.Expr, row_watermarks: bool) -> pl.DataFrame:
        order = [SEQUENCE, WATERMARK] if row_watermarks else [SEQUENCE]
        updated = met.filter(known)
        parts = [
            met.filter(~known).select(*self.names, _kind(RowKind.INSERT), *order),
            updated.select(*self.names, _kind(RowKind.UPDATE_AFTER), *order),
        ]
        if self.generate_update_before:
            before = [pl.col(name + _NEW).alias(name) for name in self.names]
            parts.insert(0, updated.select(*before, _kind(RowKind.UPDATE_BEFORE), *order))
        return pl.concat(parts).sort(SEQUENCE, maintain_order=True)


class KeepFirstToArrive(Operator):
    """The first row of each key to arrive, given out at once; state holds the keys seen."""

    ordered = True

    def __init__(self, uid: str, columns: tuple[Column, ...], keys: tuple[int, ...], ttl_ms: int = 0) -> None:
        """`keys`: indexes of the key columns."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.keys = [self.names[key] for key in keys]
        self.states = (StateSpec(STATE, tuple(columns[key] for key in keys), ttl_ms, key=tuple(self.keys)),)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Rows of keys not seen before; the state only grows."""
        batch = batches[0]
        if batch.is_empty():
            return None
        first = _one_each(batch.sort(SEQUENCE, maintain_order=True), self.keys, "first")
        state = context.state(STATE)
        seen = state.read(first.select(pl.col(HASH).unique()))
        fresh = first.join(seen, on=[HASH, *self.keys], how="anti", nulls_equal=True, maintain_order="left")
        state.append(fresh.select(seen.columns))
        order = [SEQUENCE, WATERMARK] if WATERMARK in batch.columns else [SEQUENCE]
        return fresh.select(*self.names, _kind(RowKind.INSERT), *order)


class KeepFirstByTime(Operator):
    """The first row of each key by event time, given out when the watermark has passed it, and never changed.

    A row behind the watermark is late; one exactly at it is not (unlike in ORDER BY and OVER). So once a key's row is
    out, no row can come that would have been first.
    """

    ordered = True
    uses_time = True

    def __init__(
        self, uid: str, columns: tuple[Column, ...], keys: tuple[int, ...], time: int, ttl_ms: int = 0
    ) -> None:
        """`keys`, `time`: indexes of the key columns and of the event time."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.keys = [self.names[key] for key in keys]
        self.time = self.names[time]
        self.states = (
            StateSpec(STATE, (*columns, Column(DONE, BOOLEAN)), ttl_ms, key=tuple(self.keys)),
            StateSpec(TIMERS, (Column(DUE, BIGINT),), bucketed=True, derived=True),
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Keep the first row so far of each key, and ask to be woken at its time."""
        batch = self._in_time(batches[0], context)
        if batch.is_empty():
            return None
        # Ties go to the row that came first: stable order, and only a smaller time replaces.
        best = _one_each(batch.sort([_millis(self.time), SEQUENCE], maintain_order=True), self.keys, "first")
        state = context.state(STATE)
        held = state.read(best.select(pl.col(HASH).unique()))
        old = held.select(HASH, *self.keys, _millis(self.time).alias(DUE), DONE)
        met = best.join(old, on=[HASH, *self.keys], how="left", nulls_equal=True)
        unknown, earlier = pl.col(DONE).is_null(), _millis(self.time) < pl.col(DUE)
        first = met.filter(unknown | (~pl.col(DONE) & earlier)).with_columns(
            pl.lit(False).alias(DONE), _millis(self.time).alias(DUE)
        )
        if first.is_empty():
            return None
        rest = held.join(first, on=[HASH, *self.keys], how="anti", nulls_equal=True)
        state.write(pl.concat([rest, first.select(held.columns)]))
        self._wait(first, context)
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Give out the rows that the watermark has reached, by time; `SEQUENCE` is then their time."""
        watermark = context.watermark
        if watermark is None:
            return None
        timers = context.state(TIMERS)
        # The bucket that the watermark is in ends after it, but holds due rows too.
        told = timers.expire(watermark if watermark >= DRAINED else _bucket_end(watermark))
        due = told.filter(pl.col(DUE) <= watermark)
        self._wait(told.filter(pl.col(DUE) > watermark), context)
        ahead = timers.buckets()
        if ahead:
            context.wake_at(ahead[0] - SPAN + 1)
        if due.is_empty():
            return None
        return self._give_out(due.select(pl.col(HASH).unique()), watermark, context)

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Rows that have not been given out are waited for again."""
        super().restore(name, rows, context)
        waiting = rows.filter(~pl.col(DONE))
        self._wait(waiting.select(HASH, _millis(self.time).alias(DUE)), context)

    def _give_out(self, addresses: pl.DataFrame, watermark: int, context: Context) -> pl.DataFrame:
        state = context.state(STATE)
        held = state.read(addresses)
        ready = ~pl.col(DONE) & (_millis(self.time) <= watermark)
        out = held.filter(ready).sort(_millis(self.time), maintain_order=True)
        if out.is_empty():
            return empty_output(self)
        state.write(held.with_columns((pl.col(DONE) | ready).alias(DONE)))
        moment = _millis(self.time)
        # For operators below, the watermark was still before the row.
        return out.select(*self.names, _kind(RowKind.INSERT), moment.alias(SEQUENCE), (moment - 1).alias(WATERMARK))

    def _in_time(self, batch: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Drop and count rows behind the watermark."""
        marks = [pl.lit(context.watermark, pl.Int64)]
        if WATERMARK in batch.columns:
            marks.append(pl.col(WATERMARK))
        late = (_millis(self.time) < pl.max_horizontal(marks)).fill_null(False)
        kept = batch.filter(~late)
        if kept.height < batch.height:
            context.count(LATE, batch.height - kept.height)
        return kept

    def _wait(self, rows: pl.DataFrame, context: Context) -> None:
        if rows.is_empty():
            return
        end = (pl.col(DUE) - 1).floordiv(SPAN) * SPAN + SPAN
        context.state(TIMERS).append(rows.select(end.alias(BUCKET), HASH, DUE))
        context.wake_at(int(str(rows[DUE].min())))


def _one_each(ordered: pl.DataFrame, keys: list[str], keep: str) -> pl.DataFrame:
    """The first or last row of each key; without keys all rows are of one."""
    if keep == "first":
        return ordered.unique(subset=keys, keep="first", maintain_order=True) if keys else ordered.head(1)
    return ordered.unique(subset=keys, keep="last", maintain_order=True) if keys else ordered.tail(1)


def _bucket_end(time: int) -> int:
    return (time - 1) // SPAN * SPAN + SPAN


def _millis(column: str) -> pl.Expr:
    """Event time as watermarks count it."""
    return pl.col(column).floordiv(1000)


def _kind(kind: RowKind) -> pl.Expr:
    return pl.lit(int(kind), pl.Int8).alias(KIND)
