"""RANGE frames by event time that reach back so far: when keys are forgotten decides which late rows count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import polars as pl

from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, StateSpec
from execnodes.stream.over_aggregate.v1_event_time import DUE, NEVER, SEEN, SPAN, OverByTime, end, end_of
from execnodes.stream.over_aggregate.v1_frames import GROUP, TIME
from execnodes.stream.over_aggregate.v1_kernel import ROWS, OverShape

LIVES = "overAggregateCleanupState"
BEGUN = "rk_begun"
"""Watermark under which the first row of a key came, since it was last forgotten: tells its lives apart."""
_NUMBER, _LATE = "rk_number", "rk_late"


@dataclass(slots=True)
class Life:
    """What a key does from its first row on until it is forgotten, as RowTimeRangeBoundedPrecedingFunction of Flink.

    A row asks for a timer at its time, and, where the one before would come too soon, for one that forgets the key.
    Whichever timer comes, rows up to its time are late from then on, also where it finds nothing to do.
    """

    begun: int
    cleanups: list[tuple[int, int]]
    """(watermark that fires it, time) of the timers that would forget the key, in order; only the last one does."""
    pending: list[tuple[int, int]] = field(default_factory=list)
    """A heap of all timers, where rows are late."""
    reached: int = NEVER
    """Time of the last timer that has come."""

    def over(self, seen: int) -> bool:
        """Whether the key has been forgotten when the watermark is there."""
        return bool(self.cleanups) and seen >= self.cleanups[-1][0]

    def late(self, time: int, seen: int) -> bool:
        """Whether a row comes too late."""
        while self.pending and self.pending[0][0] <= seen:
            self.reached = max(self.reached, heappop(self.pending)[1])
        return time <= self.reached

    def take(self, time: int, seen: int, preceding: int, *, exactly: bool) -> None:
        """A row that is in time; `exactly`: rows may be late, so that all timers count."""
        if exactly:
            heappush(self.pending, (max(time, seen + 1), time))
        if not self.cleanups or self.cleanups[-1][1] < time + preceding + 1:
            last = time + preceding + preceding // 2 + 1
            self.cleanups.append((max(last, seen + 1), last))
            if exactly:
                heappush(self.pending, self.cleanups[-1])

    def left(self, seen: int) -> Iterator[tuple[int, int]]:
        """The timers that still matter: those to come, and the last that has come."""
        come = [each for each in self.cleanups if each[0] <= seen]
        yield from come[-1:]
        yield from (each for each in self.cleanups if each[0] > seen)


class OverByRange(OverByTime):
    """Each key begins anew once it is forgotten: what came before is in no frame of the rows that come then."""

    def __init__(self, shape: OverShape, time: int) -> None:
        """As of the other frames."""
        super().__init__(replace(shape, lives=(BEGUN,)), time, bucketed=True)
        preceding = shape.functions.frame.preceding
        assert preceding is not None
        self.preceding = preceding
        self.idle = preceding + preceding // 2 + 1
        self.span = max(SPAN, self.idle // 8)
        times = tuple(Column(name, BIGINT.not_null()) for name in (BEGUN, TIME, DUE))
        lives = StateSpec(LIVES, (*shape.key_columns, *times), bucketed=True, key=shape.key_names)
        self.states = (*self.states, lives)

    def timely(self, rows: pl.DataFrame, late: pl.Expr, context: Context) -> pl.DataFrame:
        """Rows that their key's life still takes, with BEGUN."""
        keys = self.shape.key_names
        named = self.shape.prepared(rows.with_columns(pl.lit(0, pl.Int64).alias(BEGUN))).select(HASH, *keys, TIME)
        named = named.hstack(rows.select(pl.col(SEEN).fill_null(NEVER), late.alias(_LATE)))
        known = self._known(named, context)
        both = pl.concat([known, named], how="diagonal").with_row_index(_NUMBER)
        groups = both.select(pl.col(_NUMBER).first().over(HASH, *keys).cast(pl.Int64).alias(GROUP))[GROUP]
        known, named = (
            known.with_columns(groups.head(known.height)), named.with_columns(groups.tail(named.height))
        )  # fmt: skip
        lives = _lives(known)
        behind = named.filter(_LATE)
        if behind.height:
            self._given(behind, lives, context)
        begun = list(self._placed(named.select(GROUP, TIME, SEEN).iter_rows(), lives, exactly=behind.height > 0))
        seen = dict(named.select(GROUP, pl.col(SEEN).max().over(GROUP)).iter_rows())
        self._write(pl.concat([known, named], how="diagonal").unique(GROUP, keep="first"), lives, seen, context)
        return rows.with_columns(pl.Series(BEGUN, begun, pl.Int64)).filter(pl.col(BEGUN).is_not_null())

    def addresses(self, new: pl.DataFrame, context: Context) -> pl.DataFrame:
        """All buckets that a key can have rows in; new rows move all of them."""
        return self._addresses(new, new[TIME] + self.idle, ROWS, context)

    def placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows by when their key is forgotten, unless more come."""
        last = pl.col(TIME).max().over(GROUP) + self.idle
        return rows.with_columns(end_of(last, self.span).alias(BUCKET))

    def forget(self, watermark: int, context: Context) -> None:
        """Keys that are idle leave the state."""
        for name in (ROWS, LIVES):
            context.state(name).expire(watermark)

    def wake(self, context: Context) -> None:
        """Ask also for the first key that is to leave."""
        super().wake(context)
        for name in (ROWS, LIVES):
            leaving = context.state(name).buckets()
            if leaving:
                context.wake_at(min(leaving[0], DRAINED - 1))

    def _placed(
        self, rows: Iterable[tuple[int, int, int]], lives: dict[int, Life], *, exactly: bool
    ) -> Iterator[int | None]:
        """BEGUN of each row (of its group, time and watermark); None: it is late."""
        for group, time, seen in rows:
            life = lives.get(group)
            if life is None or life.over(seen):
                life = lives[group] = Life(seen, [])
            elif time <= seen and life.late(time, seen):
                yield None
                continue
            life.take(time, seen, self.preceding, exactly=exactly)
            yield life.begun

    def _known(self, named: pl.DataFrame, context: Context) -> pl.DataFrame:
        leaving = named.select(pl.max_horizontal(pl.col(TIME) + self.idle, pl.col(SEEN) + 1)).to_series()
        found = context.state(LIVES).read(self._addresses(named, leaving, LIVES, context))
        return found.drop(BUCKET).sort(DUE, TIME, maintain_order=True)

    def _given(self, behind: pl.DataFrame, lives: dict[int, Life], context: Context) -> None:
        """Tell the lives of these rows' keys which timers their rows have asked for."""
        keys, hashes = self.shape.key_names, behind.select(pl.col(HASH).unique())
        buckets = pl.DataFrame({BUCKET: list(context.state(ROWS).buckets())}, schema={BUCKET: pl.Int64()})
        before = context.state(ROWS).read(hashes.join(buckets, how="cross"))
        waiting = self.still_waiting(hashes, context)
        named = self.shape.prepared(waiting).select(HASH, *keys, BEGUN, TIME).hstack(waiting.select(DUE))
        rows = pl.concat([before.select(HASH, *keys, BEGUN, TIME, pl.lit(NEVER, pl.Int64).alias(DUE)), named])
        asked = behind.select(HASH, *keys, GROUP).unique()
        for group, begun, time, due in (
            rows.join(asked, on=[HASH, *keys], how="inner", nulls_equal=True)
            .select(GROUP, BEGUN, TIME, DUE)
            .iter_rows()
        ):
            if group in lives and lives[group].begun == begun:
                heappush(lives[group].pending, (due, time))

    def _write(self, named: pl.DataFrame, lives: dict[int, Life], seen: dict[int, int], context: Context) -> None:
        told = [
            (group, life.begun, time, due)
            for group, life in lives.items()
            for due, time in life.left(seen.get(group, NEVER))
        ]
        types = {name: pl.Int64() for name in (GROUP, BEGUN, TIME, DUE)}
        timers = pl.DataFrame(told, schema=types, orient="row")
        spec = self.states[-1]
        kept = timers.join(named.select(GROUP, HASH, *self.shape.key_names), on=GROUP, how="left")
        # A row behind the watermark asks for timers that the next watermark fires, whatever their times are.
        ends = end_of(pl.col(DUE).max().over(GROUP), self.span).alias(BUCKET)
        context.state(LIVES).write(kept.with_columns(ends).select(BUCKET, HASH, *(each.name for each in spec.columns)))

    def _addresses(self, new: pl.DataFrame, leaving: pl.Series, state: str, context: Context) -> pl.DataFrame:
        ends = (end(each, self.span) for each in leaving.unique().to_list())
        buckets = sorted({*context.state(state).buckets(), *ends})
        hashes = new.select(pl.col(HASH).unique())
        return hashes.join(pl.DataFrame({BUCKET: buckets}, schema={BUCKET: pl.Int64()}), how="cross")


def _lives(known: pl.DataFrame) -> dict[int, Life]:
    lives: dict[int, Life] = {}
    for group, begun, time, due in known.select(GROUP, BEGUN, TIME, DUE).iter_rows():
        life = lives.setdefault(group, Life(begun, []))
        life.cleanups.append((due, time))
        heappush(life.pending, (due, time))
    return lives
