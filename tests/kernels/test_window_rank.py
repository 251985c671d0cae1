"""Top-N within windows against a naive model: rows in any order, any cuts, watermarks by row."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.sort_spec import SortField, SortSpec
from execnodes.core.types import BIGINT, STRING, TimeKind, timestamp
from execnodes.core.windowing import Windowing, WindowSpec
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED
from execnodes.stream.window_rank.v1_kernel import LATE, WindowTopN
from tests.kernels.fake_state import FakeContext, rows_of, run

SIZE = 5
BOUND = timestamp(3).not_null()
COLUMNS = (
    Column("k", STRING), Column("v", BIGINT), Column("at", BIGINT), Column("ts", timestamp(3, TimeKind.ROWTIME)),
    Column("window_start", BOUND), Column("window_end", BOUND),
)  # fmt: skip
WINDOWING = Windowing(
    strategy="WindowAttached", window=WindowSpec(type="TumblingWindow", size=SIZE), window_start=4, window_end=5,
    time_attribute_type=timestamp(3, TimeKind.ROWTIME),
)  # fmt: skip
Row = tuple[Any, ...]
BY_VALUE = SortSpec(fields=(SortField(index=1, is_ascending=False, null_is_last=True),))
LAST = SortSpec(fields=(SortField(index=3, is_ascending=False, null_is_last=True),))


def operator(order: SortSpec, start: int, end: int, *, latest_first: bool = False) -> WindowTopN:
    return WindowTopN(
        "5_window-rank", COLUMNS, state="windowRankState", partition=(0,), order=order, start=start, end=end,
        number=Column("rn", BIGINT), windowing=WINDOWING, zone="UTC", latest_first=latest_first,
    )  # fmt: skip


@st.composite
def streams(draw: st.DrawFn) -> list[list[Row]]:
    batches: list[list[Row]] = [[]]
    for at in range(draw(st.integers(0, 25))):
        if draw(st.booleans()):
            batches.append([])
        ms = draw(st.integers(0, 20))
        start = ms // SIZE * SIZE
        value = draw(st.one_of(st.none(), st.integers(0, 3)))
        batches[-1].append(
            (draw(st.sampled_from(["a", None])), value, at, ms * 1000, start * 1000, (start + SIZE) * 1000)
        )
    return batches


@settings(max_examples=60, deadline=None)
@given(batches=streams(), delay=st.integers(0, 12), ranks=st.sampled_from([(1, 1), (1, 2), (2, 3)]), last=st.booleans())
def test_best_rows_of_windows(batches: list[list[Row]], delay: int, ranks: tuple[int, int], last: bool) -> None:
    top = operator(LAST if last else BY_VALUE, *ranks, latest_first=last)
    context, found = FakeContext(top), list[Row]()
    model: dict[tuple[Any, ...], list[Row]] = {}
    watermark, late = None, 0
    for batch in batches:
        marks: list[int | None] = []
        for row in batch:
            marks.append(watermark)
            if watermark is not None and watermark >= row[5] // 1000 - 1:
                late += 1
            else:
                model.setdefault((row[0], row[4]), []).append(row)
            after = row[3] // 1000 - delay
            watermark = after if watermark is None else max(watermark, after)
        changes = run(top, context, rows_of(top, 0, batch, watermarks=marks, keys=[0]), watermark=watermark)
        found += changes.select([*top.names, "rn"]).rows()
    ended = run(top, context, rows_of(top, 0, [], watermarks=[]), watermark=DRAINED)
    found += ended.select([*top.names, "rn"]).rows()
    expected = []
    for rows in model.values():
        rows.sort(key=lambda row: (-row[3], -row[2]) if last else (row[1] is None, -(row[1] or 0), row[2]))
        expected += [(*row, rank) for rank, row in enumerate(rows, 1) if ranks[0] <= rank <= ranks[1]]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert context.counters[LATE] == late
    assert context.state("windowRankState").frame.is_empty()
