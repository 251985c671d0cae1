"""Kernel of stream-exec-deduplicate: the first row of a key by event time."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.types import BIGINT, BOOLEAN
from execnodes.lowering.stream import HASH, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec, empty_output
from execnodes.stream.deduplicate.v1_kernel import STATE, kind, millis, one_each

WAITING = "deduplicateWaitingState"
SEEN = "deduplicateSeenState"
TIMERS = "deduplicateTimers"
DONE = "rk_done"
"""TRUE once the row of the key has been given out; so always in `SEEN`, which without keys has no other column."""
DUE = "rk_due"
"""Event time of a waiting row, epoch ms."""
LATE = "numLateRecordsDropped"
SPAN = 10_000
"""Milliseconds of event time that share a bucket of timers; a bucket's number is the end of its span."""


class KeepFirstByTime(Operator):
    """The first row of each key by event time, given out when the watermark has passed it, and never changed.

    A row behind the watermark is late; one exactly at it is not (unlike in ORDER BY and OVER). So once a key's row is
    out, no row can come that would have been first. Rows wait whole; of those that are out only the keys stay.
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
        hashed = tuple(self.keys)
        whole = StateSpec(STATE, (*columns, Column(DONE, BOOLEAN)), ttl_ms, key=hashed)
        seen = (*(columns[key] for key in keys), Column(DONE, BOOLEAN))
        self.states = (
            StateSpec(WAITING, columns, ttl_ms, key=hashed, since="1.1", earlier=(whole,)),
            StateSpec(SEEN, seen, ttl_ms, key=hashed, since="1.1", earlier=(whole,)),
            StateSpec(TIMERS, (Column(DUE, BIGINT),), bucketed=True, derived=True),
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Keep the first row so far of each key that is not out yet, and ask to be woken at its time."""
        batch = self._in_time(batches[0], context)
        if batch.is_empty():
            return None
        # Ties go to the row that came first: stable order, and only a smaller time replaces.
        best = one_each(batch.sort([millis(self.time), SEQUENCE], maintain_order=True), self.keys, "first")
        out = context.state(SEEN).read(best.select(pl.col(HASH).unique())).drop(DONE)
        best = best.join(out, on=[HASH, *self.keys], how="anti", nulls_equal=True)
        if best.is_empty():
            return None
        state = context.state(WAITING)
        held = state.read(best.select(pl.col(HASH).unique()))
        old = held.select(HASH, *self.keys, millis(self.time).alias(DUE))
        met = best.join(old, on=[HASH, *self.keys], how="left", nulls_equal=True)
        first = met.filter(pl.col(DUE).is_null() | (millis(self.time) < pl.col(DUE))).with_columns(
            millis(self.time).alias(DUE)
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
        """Rows that have not been given out are waited for again; those of 1.0 that have been leave their keys."""
        if name == STATE:
            self.restore(SEEN, rows.filter(pl.col(DONE)), context)
            self.restore(WAITING, rows.filter(~pl.col(DONE)).drop(DONE), context)
            return
        super().restore(name, rows, context)
        if name == WAITING:
            self._wait(rows.select(HASH, millis(self.time).alias(DUE)), context)

    def _give_out(self, addresses: pl.DataFrame, watermark: int, context: Context) -> pl.DataFrame:
        state = context.state(WAITING)
        held = state.read(addresses)
        ready = millis(self.time) <= watermark
        out = held.filter(ready).sort(millis(self.time), maintain_order=True)
        if out.is_empty():
            return empty_output(self)
        state.write(held.filter(~ready))
        context.state(SEEN).append(out.select(HASH, *self.keys, pl.lit(True).alias(DONE)))
        return out.select(*self.names, kind(RowKind.INSERT), millis(self.time).alias(SEQUENCE))

    def _in_time(self, batch: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Drop and count rows behind the watermark."""
        marks = [pl.lit(context.watermark, pl.Int64)]
        if WATERMARK in batch.columns:
            marks.append(pl.col(WATERMARK))
        late = (millis(self.time) < pl.max_horizontal(marks)).fill_null(False)
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


def _bucket_end(time: int) -> int:
    return (time - 1) // SPAN * SPAN + SPAN
