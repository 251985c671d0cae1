"""Kernels of stream-exec-temporal-sort."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec

WAITING = "temporalSortState"
PROGRESS = "temporalSortProgressState"
DUE = "rk_due"
"""Watermark at which a row is given out: its time, or the next one after that before which it came."""
ARRIVAL = "rk_arrival"
"""Number of a row; in `PROGRESS` that of the next row."""
LAST = "rk_last"
"""Time of the last row that was given out, epoch ms."""
LATE = "numLateRecordsDropped"
SPAN = 10_000
"""Milliseconds of event time that share a bucket; a bucket's number is the end of its span."""
_NEVER = -(2**62)
_SEEN = "rk_seen"


class SortByTime(Operator):
    """Rows in order of event time, given out when the watermark has passed them.

    A row is late if its time is not after that of the last row given out, as in Flink, though it may be behind the
    watermark.
    """

    ordered = True
    uses_time = True

    def __init__(self, uid: str, columns: tuple[Column, ...], order: SortSpec) -> None:
        """`order`: the time comes first."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.order = order
        self.time = pl.col(self.names[order.fields[0].index]).floordiv(1000)
        rows = (*columns, Column(DUE, BIGINT), Column(ARRIVAL, BIGINT))
        self.states = (
            StateSpec(WAITING, rows, bucketed=True, since="1.3"),
            StateSpec(PROGRESS, (Column(LAST, BIGINT), Column(ARRIVAL, BIGINT)), since="1.3"),
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Let the rows wait that are not late."""
        batch = batches[0]
        if batch.is_empty():
            return None
        state = context.state(PROGRESS)
        progress = state.read(batch.select(pl.col(HASH).unique()))
        last, arrived = progress.select(LAST, ARRIVAL).row(0) if len(progress) else (_NEVER, 0)
        seen = pl.lit(context.watermark, pl.Int64)
        if WATERMARK in batch.columns:
            seen = pl.max_horizontal(seen, WATERMARK)
        due = pl.max_horizontal(self.time, pl.col(_SEEN) + 1)
        number = pl.int_range(pl.len(), dtype=pl.Int64) + arrived
        rows = batch.sort(SEQUENCE).with_columns(seen.alias(_SEEN), number.alias(ARRIVAL)).with_columns(due.alias(DUE))
        kept = self._in_time(rows, last, context)
        if kept.height < rows.height:
            context.count(LATE, rows.height - kept.height)
        self._wait(kept, context)
        state.write(_progress(batch[HASH][0], last, arrived + batch.height))
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Give out what is due, in order; SEQUENCE counts the rows."""
        watermark = context.watermark
        if watermark is None:
            return None
        waiting = context.state(WAITING)
        until = watermark if watermark >= DRAINED else _bucket_end(watermark)
        told = waiting.expire(until)
        due = told.filter(pl.col(DUE) <= watermark)
        self._wait(told.filter(pl.col(DUE) > watermark), context)
        ahead = waiting.buckets()
        if ahead:
            context.wake_at(ahead[0] - SPAN + 1)
        if due.is_empty():
            return None
        fields = self.order.fields
        ordered = due.sort(
            [*(self.names[each.index] for each in fields), ARRIVAL],
            descending=[*(not each.is_ascending for each in fields), False],
            nulls_last=[*(each.null_is_last for each in fields), False],
        )
        state = context.state(PROGRESS)
        progress = state.read(due.select(pl.col(HASH).unique()))
        last = int(str(ordered.select(self.time.max()).item()))
        state.write(_progress(progress[HASH][0], last, int(progress[ARRIVAL][0])))
        # For operators below, the watermark was still before the row.
        return ordered.select(
            *self.names,
            pl.lit(int(RowKind.INSERT), pl.Int8).alias(KIND),
            pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE),
            (self.time - 1).alias(WATERMARK),
        )

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Rows wait again."""
        super().restore(name, rows, context)
        if name == WAITING and len(rows):
            context.wake_at(int(str(rows[DUE].min())))

    def _in_time(self, rows: pl.DataFrame, last: int, context: Context) -> pl.DataFrame:
        """Rows later than all that had been given out before they came, inside this batch too."""
        newest = rows.select(pl.col(_SEEN).max()).item()
        known = rows.filter(self.time > last)
        if newest is None or known.filter(self.time <= pl.col(_SEEN)).is_empty():
            return known
        waiting = context.state(WAITING)
        held = waiting.expire(_bucket_end(newest))
        waiting.append(held)
        given = pl.concat([held.select(DUE, self.time.alias(LAST)), rows.select(DUE, self.time.alias(LAST))])
        steps = given.sort(DUE).with_columns(pl.col(LAST).cum_max())
        met = known.sort(_SEEN, nulls_last=False).join_asof(steps, left_on=_SEEN, right_on=DUE, strategy="backward")
        return met.filter(self.time > pl.col(LAST).fill_null(_NEVER)).sort(ARRIVAL)

    def _wait(self, rows: pl.DataFrame, context: Context) -> None:
        if rows.is_empty():
            return
        end = (pl.col(DUE) - 1).floordiv(SPAN) * SPAN + SPAN
        columns = [HASH, *self.names, DUE, ARRIVAL]
        context.state(WAITING).append(rows.select(end.alias(BUCKET), *columns))
        context.wake_at(int(str(rows[DUE].min())))


class SortByArrival(Operator):
    """The rows of each micro-batch in order of the columns behind the processing time."""

    ordered = True

    def __init__(self, uid: str, columns: tuple[Column, ...], order: SortSpec) -> None:
        """`order`: the time comes first."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.order = order
        self.states = ()

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Rows in order, numbered by it."""
        fields, batch = self.order.fields[1:], batches[0]
        ordered = batch.sort(
            [*(self.names[each.index] for each in fields), SEQUENCE],
            descending=[*(not each.is_ascending for each in fields), False],
            nulls_last=[*(each.null_is_last for each in fields), False],
        )
        hidden = [KIND, WATERMARK] if WATERMARK in batch.columns else [KIND]
        place = pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE)
        return ordered.select(*self.names, *hidden, place)


def _progress(address: int, last: int, arrived: int) -> pl.DataFrame:
    schema = {HASH: pl.Int64(), LAST: pl.Int64(), ARRIVAL: pl.Int64()}
    return pl.DataFrame({HASH: [address], LAST: [last], ARRIVAL: [arrived]}, schema=schema)


def _bucket_end(time: int) -> int:
    return (time - 1) // SPAN * SPAN + SPAN
