"""Kernel of stream-exec-interval-join_1.

A left row at T meets right rows from T - upper to T - lower (the bounds of left time - right time), and a right row at
T left ones from T + lower to T + upper. So a row is needed until the watermark has passed T + reach, where its reach is
-lower or upper. Then it leaves and, if it is of a side that is kept and has met none, is given alone. A row that comes
so late that none in time can meet it meets those that are still there, and is not kept. Source: Flink's
`TimeIntervalJoin`, which looks for rows that are to leave less often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from execnodes.core.join_spec import JoinSpec
from execnodes.core.types import BOOLEAN
from execnodes.kernels.polars_predicates import compile as compile_predicate
from execnodes.lowering.stream import HASH, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec, inserted

MET = "rk_met"
"""Whether a row has met one of the other side: of sides that are kept."""
_DUE = "rk_due"
"""Least watermark at which a row leaves, epoch ms."""
_SLOT = "rk_slot"
_EVER = 2**62
_PARTS = 16
"""Buckets over which the rows that one row may meet are spread."""


@dataclass(frozen=True)
class _Side:
    """One input: its columns are called ``l0, l1 …`` or ``r0, r1 …`` inside the kernel."""

    mark: str
    state: str
    columns: tuple[Column, ...]
    keys: tuple[int, ...]
    time: int
    reach: int
    """Milliseconds by which a row that it meets may be later; negative if all are earlier."""
    kept: bool
    """Rows that meet none are given, too."""

    @property
    def names(self) -> list[str]:
        return [f"{self.mark}{at}" for at in range(len(self.columns))]

    def name(self, what: str) -> str:
        """Name of a working column: a row's ``number``, below 0 of those in state; its ``time``, epoch ms; its ``seq``;
        whether it ``stays`` for rows to come; whether it is ``able`` to meet any.
        """
        return f"{self.mark}_{what}"

    @property
    def stored(self) -> tuple[Column, ...]:
        """Columns of its state."""
        return (*self.columns, *([Column(MET, BOOLEAN.not_null())] if self.kept else []))

    @property
    def nulls(self) -> list[pl.Expr]:
        """Its columns where a row of the other side is alone."""
        return [pl.lit(None, each.dtype).alias(name) for name, each in zip(self.names, self.columns, strict=True)]

    def number_rows(self, rows: pl.DataFrame, first: int) -> pl.DataFrame:
        """Rows of the input or of the state with kernel names, their numbers, times and _DUE."""
        names = {each.name: name for each, name in zip(self.columns, self.names, strict=True)}
        time = pl.col(self.names[self.time]).floordiv(1000)
        return rows.rename(names).with_columns(
            pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias(self.name("number")),
            time.alias(self.name("time")),
            (time + self.reach + 1).alias(_DUE),
        )

    def outward(self, rows: pl.DataFrame) -> pl.DataFrame:
        """A frame of its state."""
        named = zip(self.names, (each.name for each in self.columns), strict=True)
        met = [MET] if self.kept else []
        return rows.select(BUCKET, HASH, *(pl.col(ours).alias(its) for ours, its in named), *met)


class IntervalJoinOperator(Operator):
    """Joins rows of two inputs whose times are within bounds, as they come.

    State: the rows of each side, bucketed by the multiple of `span` at or behind the watermark at which they leave.
    They leave with their bucket, but those of a side that is kept just when they are due. The watermark is the least of
    both sides', which no row knows: a row is late by that of its micro-batch.
    """

    uses_time = True

    def __init__(
        self,
        uid: str,
        spec: JoinSpec,
        inputs: tuple[tuple[Column, ...], tuple[Column, ...]],
        output: tuple[Column, ...],
        *,
        states: tuple[str, str],
        times: tuple[int, int],
        bounds: tuple[int, int],
    ) -> None:
        """`states`: names, by side; `times`: columns; `bounds`: of left time - right time, in milliseconds."""
        self.uid = uid
        self.spec = spec
        self.inputs = inputs
        self.output = output
        self.lower, self.upper = bounds
        self.size = self.upper - self.lower
        self.span = max(1, self.size // _PARTS)
        self.left = _Side("l", states[0], inputs[0], spec.left_keys, times[0], -self.lower, spec.keeps_left)
        self.right = _Side("r", states[1], inputs[1], spec.right_keys, times[1], self.upper, spec.keeps_right)
        self.sides = (self.left, self.right)
        self.delay = self._find_delay()
        self.states = tuple(
            StateSpec(
                side.state,
                side.stored,
                bucketed=True,
                key=tuple(side.columns[each].name for each in side.keys),
                since="2.4",
            )
            for side in self.sides
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Let rows meet each other and those in state, and keep them for those to come."""
        left, right = (self._arrive(side, batch, context) for side, batch in zip(self.sides, batches, strict=True))
        known_left = self._read(self.left, right, self.right.name("time"), context)
        known_right = self._read(self.right, left, self.left.name("time"), context)
        pairs = pl.concat([self._match(left, right), self._match(left, known_right), self._match(known_left, right)])
        found = [pairs.select(*self._names, pl.max_horizontal("l_seq", "r_seq").alias(SEQUENCE))]
        for side, rows, known in ((self.left, left, known_left), (self.right, right, known_right)):
            if side.kept:
                self._mark(side, known, pairs, context)
                rows = rows.with_columns(_is_in(side, pairs).alias(MET))
                alone = rows.filter(~pl.col(MET) & ~pl.col(side.name("stays")))
                found.append(self._pad(side, alone.with_columns(pl.col(side.name("seq")).alias(SEQUENCE))))
            self._keep(side, rows.filter(pl.col(side.name("stays"))), context)
        return self._result(found)

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Let rows go that none in time can meet; those of sides that are kept are given if they have met none."""
        if context.watermark is None:
            return None
        until = _EVER if context.watermark >= DRAINED else context.watermark
        found = []
        for side in self.sides:
            if side.kept:
                found.append(self._pad(side, self._take_alone(side, until, context)))
            else:
                context.state(side.state).expire(until)
            self._wake(side, until, context)
        return self._result(found) if found else None

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Rows wait again."""
        super().restore(name, rows, context)
        side = next(each for each in self.sides if each.state == name)
        self._ask(side, side.number_rows(rows, 0), context)

    def _find_delay(self) -> int:
        """A row that has met none is older than the watermark by one more than one that meets another."""
        if self.size < 0:
            return 0
        return max(-self.lower, self.upper) + any(side.kept for side in self.sides)

    def _arrive(self, side: _Side, batch: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows that come, numbered from 0; no other row can meet those without a time, or with a NULL in their key."""
        due = pl.col(_DUE)
        stays = due.is_not_null() if context.watermark is None else (due > context.watermark + 1).fill_null(value=False)
        pairs = zip(side.keys, self.spec.filter_nulls, strict=True)
        strict = [pl.col(side.names[key]).is_not_null() for key, strict in pairs if strict]
        return side.number_rows(batch, 0).with_columns(
            stays.and_(self.size >= 0).alias(side.name("stays")),
            pl.all_horizontal(due.is_not_null(), *strict).alias(side.name("able")),
            pl.col(SEQUENCE).alias(side.name("seq")),
        )

    def _read(self, side: _Side, others: pl.DataFrame, time: str, context: Context) -> pl.DataFrame:
        """Rows of a side's state, numbered below 0, from the buckets in which rows of the other side may meet some."""
        state = context.state(side.state)
        buckets = pl.DataFrame({BUCKET: list(state.buckets())}, schema={BUCKET: pl.Int64()})
        # What a row meets leaves from 1 to `size` + 1 milliseconds after its own time.
        reached = others.select(
            HASH, first=self._bucket_of(pl.col(time) + 1), last=self._bucket_of(pl.col(time) + 1 + self.size)
        )
        ranges = reached.drop_nulls().unique()
        numbers = pl.int_ranges(pl.col("first"), pl.col("last") + 1, self.span).alias(BUCKET)
        addresses = ranges.select(HASH, numbers).explode(BUCKET).join(buckets, on=BUCKET, how="semi").unique()
        rows = state.read(addresses)
        due = pl.col(_DUE)
        able = due.is_not_null() if context.watermark is None else due > context.watermark
        return side.number_rows(rows, -rows.height).with_columns(
            pl.lit(True).alias(side.name("stays")),
            able.alias(side.name("able")),
            pl.lit(None, pl.Int64).alias(side.name("seq")),
        )

    def _match(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        """Pairs that satisfy the condition, of which one row at least would have been there when the other came.

        Rows are compared by slots of time as long as the bounds are apart: a left row meets right ones of two.
        """
        width = max(self.size, 0) + 1
        time = pl.col(self.left.name("time"))
        earliest, latest = ((time - bound).floordiv(width) for bound in (self.upper, self.lower))
        lefts = _meeting(self.left, left)
        copies = pl.concat(
            [
                lefts.with_columns(earliest.alias(_SLOT)),
                lefts.filter(latest > earliest).with_columns(latest.alias(_SLOT)),
            ]
        )
        rights = _meeting(self.right, right).with_columns(pl.col(self.right.name("time")).floordiv(width).alias(_SLOT))
        return copies.join(rights, on=[HASH, _SLOT]).filter(*self._conditions)

    @property
    def _names(self) -> list[str]:
        return [*self.left.names, *self.right.names]

    @property
    def _conditions(self) -> list[pl.Expr]:
        (left, right), spec = self.sides, self.spec
        apart = pl.col(left.name("time")) - pl.col(right.name("time"))
        found = [apart.is_between(self.lower, self.upper), pl.col(left.name("stays")) | pl.col(right.name("stays"))]
        for a, b, strict in zip(spec.left_keys, spec.right_keys, spec.filter_nulls, strict=True):
            mine, its = pl.col(left.names[a]), pl.col(right.names[b])
            found.append(mine == its if strict else mine.eq_missing(its))
        if spec.non_equi_condition is not None:
            found.append(compile_predicate(spec.non_equi_condition, self._names))
        return found

    def _mark(self, side: _Side, known: pl.DataFrame, pairs: pl.DataFrame, context: Context) -> None:
        """Say of rows in state that they have met one."""
        first_met = known.filter(~pl.col(MET) & _is_in(side, pairs))
        if first_met.is_empty():
            return
        addresses, state = first_met.select(BUCKET, HASH).unique(), context.state(side.state)
        state.read(addresses)
        marked = known.with_columns(pl.col(MET) | _is_in(side, pairs))
        state.write(side.outward(marked.join(addresses, on=[BUCKET, HASH], how="semi")))

    def _keep(self, side: _Side, rows: pl.DataFrame, context: Context) -> None:
        """Put rows into the state; those that can meet none are only waited for where they are given alone."""
        waiting = rows if side.kept else rows.filter(pl.col(side.name("able")))
        if waiting.height:
            bucketed = waiting.with_columns(self._bucket_of(pl.col(_DUE)).alias(BUCKET))
            context.state(side.state).append(side.outward(bucketed))
            self._ask(side, bucketed, context)

    def _ask(self, side: _Side, rows: pl.DataFrame, context: Context) -> None:
        """Be woken for the first of these rows, in a state, that is to be given, and for the first bucket to go."""
        leaves = pl.when(MET).then(BUCKET).otherwise(_DUE) if side.kept else pl.col(BUCKET)
        first = rows.select(leaves.min()).item()
        if first is not None:
            context.wake_at(min(first, DRAINED - 1))

    def _take_alone(self, side: _Side, until: int, context: Context) -> pl.DataFrame:
        """Take the rows out that leave, and give those that have met none, in the order in which they leave."""
        state = context.state(side.state)
        rows = side.number_rows(state.expire((until - 1) // self.span * self.span + self.span), 0)
        waiting = rows.filter(pl.col(_DUE) > until)
        if waiting.height:
            state.append(side.outward(waiting))
            self._ask(side, waiting, context)
        return rows.filter((pl.col(_DUE) <= until) & ~pl.col(MET)).sort(_DUE, maintain_order=True)

    def _wake(self, side: _Side, until: int, context: Context) -> None:
        """Ask for the first bucket all of whose rows leave later, or for the first row that it may hold."""
        ahead = (each for each in context.state(side.state).buckets() if each - self.span >= until or not side.kept)
        first = next(ahead, None)
        if first is not None:
            context.wake_at(min(first - self.span + 1 if side.kept else first, DRAINED - 1))

    def _bucket_of(self, due: pl.Expr) -> pl.Expr:
        return (due - 1).floordiv(self.span) * self.span + self.span

    def _pad(self, side: _Side, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of a side alone."""
        other = self.right if side is self.left else self.left
        return rows.with_columns(*other.nulls)

    def _result(self, found: list[pl.DataFrame]) -> pl.DataFrame:
        named = zip(self._names, (each.name for each in self.output), strict=True)
        columns = [pl.col(ours).alias(its) for ours, its in named]
        sequence = [SEQUENCE] if SEQUENCE in found[0].columns else []
        return pl.concat([each.select(*columns, *sequence, inserted()) for each in found])


def _is_in(side: _Side, pairs: pl.DataFrame) -> pl.Expr:
    """Whether rows of a side are in one of the pairs."""
    return pl.col(side.name("number")).is_in(pairs[side.name("number")].unique().implode())


def _meeting(side: _Side, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows that others can meet."""
    working = (side.name(each) for each in ("number", "time", "seq", "stays"))
    return rows.filter(pl.col(side.name("able"))).select(HASH, *side.names, *working)
