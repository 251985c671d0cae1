"""Kernel of stream-exec-temporal-join_1.

A left row waits until the watermark has passed its time; then it finds the newest version of its key that is not newer
than it. Of a key's versions that the watermark has passed only the newest one can still be found. A left row that the
watermark had passed when it came is late, and finds at once what is still there. Source: Flink's
`TemporalRowTimeJoinOperator`, which lets a late row find what is there when the watermark next moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.join_spec import JoinSpec
from execnodes.core.types import BOOLEAN
from execnodes.kernels.polars_predicates import compile as compile_predicate
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec, inserted
from execnodes.stream.over_aggregate.v1_event_time import SPAN, end, end_of

DELETED = "rk_deleted"
"""Whether a version says that from its time on there is none."""
_EVER = 2**62
TIME = "rk_time"
"""Of a row, epoch ms."""
_KEY, _NUMBER, _FOUND = "rk_key", "rk_number", "rk_found"


@dataclass(frozen=True)
class Side:
    """One input: its columns are called ``l0, l1 …`` or ``r0, r1 …`` inside the kernel."""

    mark: str
    state: str
    columns: tuple[Column, ...]
    keys: tuple[int, ...]
    time: int
    flag: Column | None
    """What its state says of a row besides."""

    @property
    def names(self) -> list[str]:
        """Inside the kernel."""
        return [f"{self.mark}{at}" for at in range(len(self.columns))]

    @property
    def key_names(self) -> list[str]:
        """Of the columns of its key."""
        return [self.names[each] for each in self.keys]

    @property
    def address(self) -> list[str]:
        """What rows of one key have in common; a column may be compared twice."""
        return [HASH, *dict.fromkeys(self.key_names)]

    @property
    def stored(self) -> tuple[Column, ...]:
        """Columns of its state."""
        return self.columns if self.flag is None else (*self.columns, self.flag)

    def inward(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of the input or of the state with kernel names and TIME."""
        names = {each.name: name for each, name in zip(self.columns, self.names, strict=True)}
        return rows.rename(names).with_columns(pl.col(self.names[self.time]).floordiv(1000).alias(TIME))

    def outward(self, rows: pl.DataFrame) -> pl.DataFrame:
        """A frame of its state, with BUCKET if the rows have one."""
        named = zip(self.names, (each.name for each in self.columns), strict=True)
        bucket = [BUCKET] if BUCKET in rows.columns else []
        flag = [] if self.flag is None else [self.flag.name]
        return rows.select(*bucket, HASH, *(pl.col(ours).alias(its) for ours, its in named), *flag)


class TemporalJoinOperator(Operator):
    """Joins each left row with the version of its key at its time, once the watermark has passed that; rows only come.

    State: left rows that wait, bucketed by the end of the span of their time; versions by key: those ahead of the
    watermark, and the newest one that it has passed, be it a deletion. The watermark is the least of both sides'.
    """

    uses_time = True
    ordered = True

    def __init__(
        self,
        uid: str,
        spec: JoinSpec,
        inputs: tuple[tuple[Column, ...], tuple[Column, ...]],
        output: tuple[Column, ...],
        *,
        states: tuple[str, str],
        times: tuple[int, int],
        newest_rows_only: bool,
        ttl_ms: int = 0,
        change: Column | None = None,
    ) -> None:
        """`states`: names, by side; `times`: columns; `newest_rows_only`: a version behind a newer one is none;
        `ttl_ms`: how long versions are kept that nobody looks for; `change`: what is kept of a left row besides.
        """
        self.uid = uid
        self.spec = spec
        self.inputs = inputs
        self.output = output
        self.left = Side("l", states[0], inputs[0], spec.left_keys, times[0], change)
        self.right = Side("r", states[1], inputs[1], spec.right_keys, times[1], Column(DELETED, BOOLEAN.not_null()))
        self.newest_rows_only = newest_rows_only
        self.ttl_ms = ttl_ms
        self.states: tuple[StateSpec, ...] = tuple(
            StateSpec(
                side.state,
                side.stored,
                ttl_ms=0 if side is self.left else ttl_ms,
                bucketed=side is self.left,
                key=tuple(side.columns[each].name for each in side.keys),
                since="2.5",
            )
            for side in (self.left, self.right)
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Keep versions, and let left rows wait; those that are late find theirs at once."""
        left, right = batches
        if right.height:
            self._keep_versions(right, context)
        if left.is_empty():
            return None
        rows = self.arrive(left)
        late = pl.lit(False) if context.watermark is None else pl.col(TIME) <= context.watermark
        self._wait(rows.filter(~late), context)
        return self.give(rows.filter(late), context)

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Left rows that the watermark has passed, in the order of their times."""
        if context.watermark is None:
            return None
        until = _EVER if context.watermark >= DRAINED else context.watermark
        told = self.left.inward(context.state(self.left.state).expire(end(until, SPAN)).drop(BUCKET))
        waiting = told.filter(pl.col(TIME) > until)
        if waiting.height:
            self._wait(waiting, context)
        else:
            self._wake(context)
        return self.give(told.filter(pl.col(TIME) <= until).sort(TIME, maintain_order=True), context)

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Left rows wait again."""
        super().restore(name, rows, context)
        if name == self.left.state:
            self._wake(context)

    def _wait(self, rows: pl.DataFrame, context: Context) -> None:
        if rows.is_empty():
            return
        bucketed = rows.with_columns(end_of(pl.col(TIME), SPAN).alias(BUCKET))
        context.state(self.left.state).append(self.left.outward(bucketed))
        context.wake_at(min(int(str(rows[TIME].min())), DRAINED - 1))

    def _wake(self, context: Context) -> None:
        """Ask for the first time that a bucket may hold."""
        ahead = context.state(self.left.state).buckets()
        if ahead:
            context.wake_at(min(ahead[0] - SPAN + 1, DRAINED - 1))

    def _keep_versions(self, batch: pl.DataFrame, context: Context) -> None:
        """A version takes the place of one of the same time; what was there before an update says nothing."""
        kind = pl.col(KIND)
        come = batch.filter(kind != int(RowKind.UPDATE_BEFORE)).sort(SEQUENCE)
        if come.is_empty():
            return
        state = context.state(self.right.state)
        new = self.right.inward(come.with_columns((kind == int(RowKind.DELETE)).alias(DELETED)))
        known = self.right.inward(state.read(come.select(pl.col(HASH).unique())))
        both = pl.concat([known.sort(TIME), new.select(known.columns)])
        if self.newest_rows_only:
            both = both.filter(pl.col(TIME) >= pl.col(TIME).cum_max().over(self.right.address))
        newest = both.unique([*self.right.address, TIME], keep="last", maintain_order=True)
        state.write(self.right.outward(self._needed(newest, context.watermark)))

    def _needed(self, versions: pl.DataFrame, watermark: int | None) -> pl.DataFrame:
        """Those ahead of the watermark, and of each key the newest one that it has passed."""
        if watermark is None:
            return versions
        passed = versions.filter(pl.col(TIME) <= watermark).sort(TIME)
        newest = passed.unique(self.right.address, keep="last", maintain_order=True)
        return pl.concat([newest, versions.filter(pl.col(TIME) > watermark)])

    def arrive(self, left: pl.DataFrame) -> pl.DataFrame:
        """Left rows that come, with what is kept of them."""
        return self.left.inward(left)

    def give(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame | None:
        """What comes of left rows now, in their order."""
        return None if rows.is_empty() else self.result(self.join(rows, context).with_columns(inserted()))

    def join(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Left rows with their versions, in their order; those without one are left out, or padded."""
        state = context.state(self.right.state)
        held = state.read(rows.select(pl.col(HASH).unique()))
        versions = self.right.inward(held)
        found = self._find(rows.with_row_index(_NUMBER), versions)
        needed = self._needed(versions, context.watermark)
        if needed.height < held.height or (self.ttl_ms and held.height):
            state.write(self.right.outward(needed))
        return found

    def _find(self, rows: pl.DataFrame, versions: pl.DataFrame) -> pl.DataFrame:
        """Each row with the columns of its version, and whether there is one (_FOUND)."""
        keyed = versions.select(self.right.address).unique().with_row_index(_KEY)
        versions = versions.join(keyed, on=self.right.address, how="inner", nulls_equal=True).drop(HASH)
        pairs = zip(self.left.key_names, self.spec.filter_nulls, strict=True)
        able = pl.all_horizontal(pl.lit(True), *(pl.col(key).is_not_null() for key, no in pairs if no))
        on = ([HASH, *side.key_names] for side in (self.left, self.right))
        asking = rows.filter(able).join(keyed, left_on=next(on), right_on=next(on), how="inner", nulls_equal=True)
        asking = asking.select(*self.left.names, _NUMBER, TIME, _KEY)
        met = asking.sort(TIME).join_asof(
            versions.sort(TIME), on=TIME, by=_KEY, strategy="backward", check_sortedness=False
        )
        there = met.filter(~pl.col(DELETED), *self._condition).select(_NUMBER, *self.right.names)
        found = rows.join(there.with_columns(pl.lit(True).alias(_FOUND)), on=_NUMBER, how="left", maintain_order="left")
        return found if self.spec.keeps_left else found.filter(pl.col(_FOUND))

    @property
    def _condition(self) -> list[pl.Expr]:
        condition = self.spec.non_equi_condition
        names = [*self.left.names, *self.right.names]
        return [] if condition is None else [compile_predicate(condition, names)]

    def result(self, found: pl.DataFrame, *others: str) -> pl.DataFrame:
        """Changes, of rows with a KIND, and `others` of their columns."""
        names = zip([*self.left.names, *self.right.names], (each.name for each in self.output), strict=True)
        sequence = [SEQUENCE] if SEQUENCE in found.columns else []
        return found.select(*(pl.col(ours).alias(its) for ours, its in names), KIND, *sequence, *others)
