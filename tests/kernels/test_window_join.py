"""Joins of windows against a naive model: rows in any order and any cuts, NULLs among the keys, every kind of join."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.expressions import Call, InputRef
from execnodes.core.join_spec import JoinSpec
from execnodes.core.types import BIGINT, BOOLEAN, STRING, TimeKind, timestamp
from execnodes.core.windowing import Windowing, WindowSpec
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED
from execnodes.stream.window_join.v1_kernel import LATE, WindowJoinOperator
from tests.kernels.fake_state import FakeContext, rows_of, run

SIZE = 5
BOUND = timestamp(3).not_null()
COLUMNS = (Column("k", STRING), Column("v", BIGINT), Column("window_start", BOUND), Column("window_end", BOUND))
WINDOWING = Windowing(
    strategy="WindowAttached",
    window=WindowSpec(type="TumblingWindow", size=SIZE),
    window_start=2,
    window_end=3,
    time_attribute_type=timestamp(3, TimeKind.ROWTIME),
)
Kind = Literal["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"]
KINDS: tuple[Kind, ...] = ("INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
Row = tuple[Any, ...]
SMALLER = Call(
    internal_name="$<$1",
    operands=(InputRef(input_index=1, type=BIGINT), InputRef(input_index=5, type=BIGINT)),
    type=BOOLEAN,
)


def operator(kind: Kind, *, strict: bool = True, smaller: bool = False, keyed: bool = True) -> WindowJoinOperator:
    keys = (0,) if keyed else ()
    spec = JoinSpec(
        join_type=kind,
        left_keys=keys,
        right_keys=keys,
        filter_nulls=(strict,) * len(keys),
        non_equi_condition=SMALLER if smaller else None,
    )
    pairs = [Column(f"o{at}", each.type) for at, each in enumerate((*COLUMNS, *COLUMNS))]
    return WindowJoinOperator(
        "5_window-join",
        spec,
        (COLUMNS, COLUMNS),
        tuple(pairs if spec.pairs else pairs[:4]),
        states=("leftState", "rightState"),
        windowing=(WINDOWING, WINDOWING),
        zone="UTC",
    )


@st.composite
def streams(draw: st.DrawFn) -> list[tuple[list[Row], list[Row], int]]:
    """Micro-batches of both sides, and how far the watermark goes behind each."""
    batches = []
    for _ in range(draw(st.integers(1, 5))):
        sides: list[list[Row]] = [[], []]
        for side in sides:
            for _ in range(draw(st.integers(0, 4))):
                start = draw(st.integers(0, 3)) * SIZE * 1000
                key = draw(st.sampled_from(["a", "b", None]))
                side.append((key, draw(st.one_of(st.none(), st.integers(0, 2))), start, start + SIZE * 1000))
        batches.append((sides[0], sides[1], draw(st.integers(0, 25))))
    return batches


def expected_of(
    kind: Kind, left: list[Row], right: list[Row], *, strict: bool, smaller: bool, keyed: bool
) -> list[Row]:
    def meets(mine: Row, its: Row) -> bool:
        same = not keyed or (mine[0] == its[0] and not (strict and mine[0] is None))
        less = not smaller or (mine[1] is not None and its[1] is not None and mine[1] < its[1])
        return mine[2:] == its[2:] and same and less

    if kind in ("SEMI", "ANTI"):
        return [mine for mine in left if any(meets(mine, its) for its in right) is (kind == "SEMI")]
    found = [(*mine, *its) for mine, its in product(left, right) if meets(mine, its)]
    nothing = (None,) * 4
    if kind in ("LEFT", "FULL"):
        found += [(*mine, *nothing) for mine in left if not any(meets(mine, its) for its in right)]
    if kind in ("RIGHT", "FULL"):
        found += [(*nothing, *its) for its in right if not any(meets(mine, its) for mine in left)]
    return found


@settings(max_examples=150, deadline=None)
@given(
    batches=streams(), kind=st.sampled_from(KINDS), strict=st.booleans(), smaller=st.booleans(), keyed=st.booleans(),
)  # fmt: skip
def test_rows_of_equal_windows_meet(
    batches: list[tuple[list[Row], list[Row], int]], kind: Kind, strict: bool, smaller: bool, keyed: bool
) -> None:
    join = operator(kind, strict=strict, smaller=smaller, keyed=keyed)
    context, found, late = FakeContext(join), list[Row](), 0
    sides: tuple[list[Row], list[Row]] = ([], [])
    watermark: int | None = None
    for left, right, ahead in batches:
        for model, rows in zip(sides, (left, right), strict=True):
            in_time = [row for row in rows if watermark is None or watermark < row[3] // 1000 - 1]
            late += len(rows) - len(in_time)
            model += in_time
        watermark = ahead if watermark is None else max(watermark, ahead)
        frames = [rows_of(join, at, rows, keys=[0] if keyed else []) for at, rows in enumerate((left, right))]
        given_now = run(join, context, *frames, watermark=watermark).select(each.name for each in join.output).rows()
        assert all((row[3] if row[3] is not None else row[7]) // 1000 - 1 <= watermark for row in given_now)
        found += given_now
    nothing = [rows_of(join, at, []) for at in (0, 1)]
    found += run(join, context, *nothing, watermark=DRAINED).select(each.name for each in join.output).rows()
    expected = expected_of(kind, *sides, strict=strict, smaller=smaller, keyed=keyed)
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert context.counters[LATE] == late
    assert all(context.state(each.name).frame.is_empty() for each in join.states)
