"""Kernel of stream-exec-over-aggregate by event time: rows wait until the watermark has passed them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, StateSpec
from execnodes.stream.over_aggregate.v1_frames import ARRIVAL, GROUP, TIME
from execnodes.stream.over_aggregate.v1_kernel import ROWS, OverRows, OverShape, added, arrival

WAITING = "overAggregateWaitingState"
DUE = "rk_due"
"""Least watermark that lets a row go, epoch ms: its time, or for a row behind the watermark the next one."""
LATE = "numLateRecordsDropped"
SPAN = 10_000
"""Milliseconds of event time that share a bucket; a bucket's number is the end of its span."""
SEEN = "rk_seen"
"""Watermark that a row came under."""
NEVER = -(2**62)
"""Before every time."""
_LAST, _NUMBER = "rk_last", "rk_number"


class OverByTime(OverRows):
    """Frames by event time.

    Over frames without a beginning a row is late if the watermark has reached its time. Over bounded ones it is late if
    its key has come so far, as in Flink: a key's first row may be as old as it likes.
    """

    uses_time = True

    def __init__(self, shape: OverShape, time: int, *, bucketed: bool = False) -> None:
        """`time`: index of the event time; `bucketed`: rows leave their frames by the watermark."""
        super().__init__(shape, bucketed=bucketed)
        self.bounded = shape.functions.frame.preceding is not None
        self.time = shape.functions.input[time].name
        waiting = (*shape.functions.input, Column(ARRIVAL, BIGINT.not_null()), Column(DUE, BIGINT.not_null()))
        waiting += tuple(Column(name, BIGINT.not_null()) for name in shape.lives)
        keys = tuple(shape.functions.input[key].name for key in shape.keys)
        self.states = (StateSpec(WAITING, waiting, bucketed=True, key=keys), *self.states)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Let the rows wait that are in time."""
        batch = batches[0]
        if batch.is_empty():
            return None
        seen = [pl.lit(context.watermark, pl.Int64), *([WATERMARK] if WATERMARK in batch.columns else [])]
        rows = batch.with_columns(
            pl.col(self.time).floordiv(1000).alias(TIME), pl.max_horizontal(seen).alias(SEEN), arrival(context)
        ).with_columns(pl.max_horizontal(TIME, pl.col(SEEN) + 1).alias(DUE))
        timely = self.timely(rows, (pl.col(TIME) <= pl.col(SEEN)).fill_null(False), context)
        if timely.height < rows.height:
            context.count(LATE, rows.height - timely.height)
        self._wait(timely, context)
        return None

    def timely(self, rows: pl.DataFrame, late: pl.Expr, context: Context) -> pl.DataFrame:
        """The rows that are in time; `late`: the watermark has reached their time."""
        timely = rows.filter(~late)
        if timely.height < rows.height and self.bounded:
            timely = rows.filter(~self._behind_their_keys(rows, late, context))
        return timely

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Give out the rows that the watermark has reached, by time; `SEQUENCE` is then the watermark they need."""
        watermark = context.watermark
        if watermark is None:
            return None
        told = context.state(WAITING).expire(watermark if watermark >= DRAINED else end(watermark, SPAN))
        due = told.filter(pl.col(DUE) <= watermark)
        self._wait(told.filter(pl.col(DUE) > watermark).drop(BUCKET), context)
        found = None
        if due.height:
            timed = due.with_columns(pl.col(self.time).floordiv(1000).alias(TIME))
            found = self.compute(timed.sort(DUE, TIME, ARRIVAL, maintain_order=True), context)
        self.forget(watermark, context)
        self.wake(context)
        if found is None:
            return None
        # For operators below, the watermark is the one that a row behind it came under; others it has yet to reach.
        behind = pl.when(pl.col(DUE) > pl.col(TIME)).then(pl.col(DUE) - 1)
        order = (pl.col(DUE).alias(SEQUENCE), behind.alias(WATERMARK))
        return found.select(*(each.name for each in self.output), added(), *order)

    def forget(self, watermark: int, context: Context) -> None:
        """Drop what the watermark has made useless."""

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Rows are waited for again."""
        super().restore(name, rows, context)
        self.wake(context)

    def wake(self, context: Context) -> None:
        """Ask for the first bucket only."""
        ahead = context.state(WAITING).buckets()
        if ahead:
            context.wake_at(min(ahead[0] - SPAN + 1, DRAINED - 1))

    def still_waiting(self, hashes: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows with these hashes that have not been given out, with TIME."""
        waiting = context.state(WAITING)
        buckets = pl.DataFrame({BUCKET: list(waiting.buckets())}, schema={BUCKET: pl.Int64()})
        still = waiting.read(hashes.join(buckets, how="cross"))
        return still.with_columns(pl.col(self.time).floordiv(1000).alias(TIME))

    def _behind_their_keys(self, rows: pl.DataFrame, late: pl.Expr, context: Context) -> pl.Series:
        """Which rows are not after all those of their key that had been given out when they came."""
        shape, keys = self.shape, self.shape.key_names
        named = shape.prepared(rows).select(HASH, *keys, TIME).hstack(rows.select(SEEN, DUE))
        asked = named.with_row_index(_NUMBER).filter(rows.select(late).to_series())
        hashes = asked.select(pl.col(HASH).unique())
        before = context.state(ROWS).read(hashes)
        times = self.still_waiting(hashes, context)
        given = pl.concat(
            [
                before.select(HASH, *keys, TIME, pl.lit(NEVER, pl.Int64).alias(DUE)),
                shape.prepared(times).select(HASH, *keys, TIME).hstack(times.select(DUE)),
                named.select(HASH, *keys, TIME, DUE),
            ]
        )
        both = pl.concat([given, asked.select(HASH, *keys)], how="diagonal").with_row_index(_LAST)
        groups = both.select(pl.col(_LAST).first().over(HASH, *keys).alias(GROUP))[GROUP]
        sorted_given = given.with_columns(groups.head(given.height)).sort(DUE)
        reached = sorted_given.select(GROUP, DUE, pl.col(TIME).cum_max().over(GROUP).alias(_LAST)).sort(DUE)
        questions = asked.with_columns(groups.tail(asked.height).alias(GROUP)).sort(SEEN)
        told = questions.join_asof(reached, left_on=SEEN, right_on=DUE, by=GROUP, check_sortedness=False)
        gone = told.filter(pl.col(_LAST) >= pl.col(TIME))[_NUMBER]
        return pl.int_range(rows.height, dtype=pl.UInt32, eager=True).is_in(gone.implode())

    def _wait(self, rows: pl.DataFrame, context: Context) -> None:
        if rows.height:
            names = (each.name for each in self.states[0].columns)
            context.state(WAITING).append(rows.select(end_of(pl.col(DUE), SPAN).alias(BUCKET), HASH, *names))
            context.wake_at(min(int(str(rows[DUE].min())), DRAINED - 1))


def end(time: int, span: int) -> int:
    """The number of the bucket that a time is in."""
    return (time - 1) // span * span + span


def end_of(time: pl.Expr, span: int) -> pl.Expr:
    """The same of a column."""
    return (time - 1).floordiv(span) * span + span
