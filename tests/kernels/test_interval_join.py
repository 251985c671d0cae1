"""Interval joins against a naive model: rows in any order and any cuts, late rows and NULLs, every kind of join."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.expressions import Call, InputRef
from execnodes.core.join_spec import JoinSpec
from execnodes.core.types import BIGINT, BOOLEAN, STRING, TimeKind, timestamp
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED
from execnodes.stream.interval_join.v1_kernel import IntervalJoinOperator
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (Column("k", STRING), Column("v", BIGINT), Column("ts", timestamp(3, TimeKind.ROWTIME)))
Kind = Literal["INNER", "LEFT", "RIGHT", "FULL"]
KINDS: tuple[Kind, ...] = ("INNER", "LEFT", "RIGHT", "FULL")
Row = tuple[Any, ...]
NOTHING = (None, None, None)
SMALLER = Call(
    internal_name="$<$1",
    operands=(InputRef(input_index=1, type=BIGINT), InputRef(input_index=4, type=BIGINT)),
    type=BOOLEAN,
)


def operator(
    kind: Kind, lower: int, upper: int, *, strict: bool = True, smaller: bool = False, keyed: bool = True
) -> IntervalJoinOperator:
    keys = (0,) if keyed else ()
    spec = JoinSpec(
        join_type=kind,
        left_keys=keys,
        right_keys=keys,
        filter_nulls=(strict,) * len(keys),
        non_equi_condition=SMALLER if smaller else None,
    )
    return IntervalJoinOperator(
        "5_interval-join",
        spec,
        (COLUMNS, COLUMNS),
        tuple(Column(f"o{at}", each.type) for at, each in enumerate((*COLUMNS, *COLUMNS))),
        states=("leftState", "rightState"),
        times=(2, 2),
        bounds=(lower, upper),
    )


@dataclass
class Kept:
    """A row as the model has it."""

    row: Row
    due: int | None
    """Watermark at which it leaves; None: it has no time."""
    stays: bool
    batch: int
    met: bool = False


@dataclass
class Model:
    """Each row is compared with all that came before it."""

    join: IntervalJoinOperator
    meets: Any
    sides: tuple[list[Kept], list[Kept]] = field(default_factory=lambda: ([], []))

    def come(self, rows: tuple[list[Row], list[Row]], watermark: int | None, batch: int) -> list[Row]:
        """Pairs, and rows that are given at once."""
        new: list[list[Kept]] = []
        for side, mine in zip(self.join.sides, rows, strict=True):
            dues = [None if row[2] is None else row[2] // 1000 + side.reach + 1 for row in mine]
            needed = [due is not None and (watermark is None or due > watermark + 1) for due in dues]
            stays = [each and self.join.size >= 0 for each in needed]
            new.append([Kept(*each, batch) for each in zip(mine, dues, stays, strict=True)])
        for kept, added in zip(self.sides, new, strict=True):
            kept += added
        found = []
        for left in self.sides[0]:
            for right in self.sides[1]:
                if max(left.batch, right.batch) == batch and self._meet(left, right, watermark):
                    left.met = right.met = True
                    found.append((*left.row, *right.row))
        return found + self._alone(lambda each: each.batch == batch and not each.stays)

    def pass_time(self, watermark: int) -> list[Row]:
        """Rows that the watermark gives."""
        drained = watermark >= DRAINED
        return self._alone(lambda each: each.stays and (drained or each.due <= watermark))

    def _meet(self, left: Kept, right: Kept, watermark: int | None) -> bool:
        if left.due is None or right.due is None or not self.meets(left.row, right.row):
            return False
        if left.batch == right.batch:
            return left.stays or right.stays
        older = left if left.batch < right.batch else right
        return older.stays and (watermark is None or older.due is None or older.due > watermark)

    def _alone(self, leaves: Any) -> list[Row]:
        found = []
        for side, kept, pad in ((0, self.join.left.kept, NOTHING), (1, self.join.right.kept, NOTHING)):
            going = [each for each in self.sides[side] if kept and not each.met and leaves(each)]
            for each in going:
                found.append((*each.row, *pad) if side == 0 else (*pad, *each.row))
                each.met = True
        return found


@st.composite
def streams(draw: st.DrawFn) -> list[tuple[list[Row], list[Row], int]]:
    """Micro-batches of both sides, and how far the watermark goes behind each."""
    span = draw(st.sampled_from([20, 200]))
    batches = []
    for _ in range(draw(st.integers(1, 6))):
        sides: list[list[Row]] = [[], []]
        for side in sides:
            for _ in range(draw(st.integers(0, 5))):
                time = draw(st.one_of(st.integers(-span // 2, span), st.integers(0, span), st.none()))
                key = draw(st.sampled_from(["a", "b", None]))
                value = draw(st.one_of(st.none(), st.integers(0, 2)))
                side.append((key, value, None if time is None else time * 1000))
        batches.append((sides[0], sides[1], draw(st.integers(-5, span))))
    return batches


def meets(join: IntervalJoinOperator, *, strict: bool, smaller: bool, keyed: bool) -> Any:
    def meet(mine: Row, its: Row) -> bool:
        same = not keyed or (mine[0] == its[0] and not (strict and mine[0] is None))
        less = not smaller or (mine[1] is not None and its[1] is not None and mine[1] < its[1])
        return same and less and join.lower <= (mine[2] - its[2]) // 1000 <= join.upper

    return meet


@settings(max_examples=150, deadline=None)
@given(
    batches=streams(), kind=st.sampled_from(KINDS), lower=st.integers(-60, 30), size=st.integers(-3, 90),
    strict=st.booleans(), smaller=st.booleans(), keyed=st.booleans(),
)  # fmt: skip
def test_rows_within_the_bounds_meet(
    batches: list[tuple[list[Row], list[Row], int]],
    kind: Kind,
    lower: int,
    size: int,
    strict: bool,
    smaller: bool,
    keyed: bool,
) -> None:
    join = operator(kind, lower, lower + size, strict=strict, smaller=smaller, keyed=keyed)
    model = Model(join, meets(join, strict=strict, smaller=smaller, keyed=keyed))
    context, names = FakeContext(join), [each.name for each in join.output]
    for batch, (left, right, ahead) in enumerate([*batches, ([], [], DRAINED)]):
        before = context.watermark
        watermark = ahead if before is None else max(before, ahead)
        frames = [rows_of(join, at, rows, keys=[0] if keyed else []) for at, rows in enumerate((left, right))]
        found = run(join, context, *frames, watermark=watermark).select(names).rows()
        expected = model.come((left, right), before, batch) + model.pass_time(watermark)
        assert sorted(found, key=str) == sorted(expected, key=str)
        for side in join.sides:
            state = side.number_rows(context.state(side.state).frame, 0)
            assert state.filter(pl.col("rk_due") <= watermark - (0 if side.kept else join.span)).is_empty()
    assert all(context.state(each.name).frame.is_empty() for each in join.states)


@settings(max_examples=40, deadline=None)
@given(batches=streams(), kind=st.sampled_from(KINDS), lower=st.integers(-60, 30), size=st.integers(0, 90))
def test_what_it_gives_is_not_late_behind_it(
    batches: list[tuple[list[Row], list[Row], int]], kind: Kind, lower: int, size: int
) -> None:
    """Of rows in time: each that comes is after the watermark."""
    join = operator(kind, lower, lower + size)
    context = FakeContext(join)
    for left, right, ahead in batches:
        reached = -(2**62) if context.watermark is None else context.watermark
        sides = [[row for row in rows if row[2] is not None and row[2] // 1000 > reached] for rows in (left, right)]
        frames = [rows_of(join, at, rows, keys=[0]) for at, rows in enumerate(sides)]
        found = run(join, context, *frames, watermark=ahead).select("o2", "o5").rows()
        times = [time // 1000 for row in found for time in row if time is not None]
        assert all(time > reached - (join.delay or 0) for time in times)
