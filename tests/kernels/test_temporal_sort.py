"""ORDER BY time against Flink's way of doing it, row by row, whatever the cuts of the input."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.sort_spec import SortField, SortSpec
from execnodes.core.types import BIGINT, TimeKind, timestamp, timestamp_ltz
from execnodes.lowering.stream import KIND
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED
from execnodes.stream.temporal_sort.v1_kernel import LATE, SPAN, SortByArrival, SortByTime
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (Column("ts", timestamp(3, TimeKind.ROWTIME)), Column("v", BIGINT), Column("at", BIGINT))
Row = tuple[int, int | None, int]
BY_TIME = SortSpec(fields=(SortField(index=0),))
BY_TIME_AND_VALUE = SortSpec(fields=(SortField(index=0), SortField(index=1, is_ascending=False, null_is_last=True)))


def flink(rows: list[Row], delay: int, by_value: bool) -> tuple[list[Row], list[int | None], int]:
    """Timers fire when a watermark moves on; a row is late if its time is not after the last timer that fired."""
    waiting: dict[int, list[Row]] = {}
    out: list[Row] = []
    marks: list[int | None] = []
    watermark, last, late = None, None, 0

    def fire(until: int) -> None:
        nonlocal last
        for time in sorted(each for each in waiting if each <= until):
            found = waiting.pop(time)
            out.extend(sorted(found, key=lambda row: (row[1] is None, -(row[1] or 0))) if by_value else found)
            last = time

    for row in rows:
        marks.append(watermark)
        time = row[0] // 1000
        if last is not None and time <= last:
            late += 1
        else:
            waiting.setdefault(time, []).append(row)
        if watermark is None or time - delay > watermark:
            watermark = time - delay
            fire(watermark)
    fire(2**62)
    return out, marks, late


@st.composite
def streams(draw: st.DrawFn) -> list[list[Row]]:
    batches: list[list[Row]] = [[]]
    step = draw(st.sampled_from([1, SPAN // 2]))
    for at in range(draw(st.integers(0, 25))):
        if draw(st.booleans()):
            batches.append([])
        batches[-1].append((draw(st.integers(-4, 12)) * step * 1000, draw(st.sampled_from([None, 1, 2])), at))
    return batches


@settings(max_examples=80, deadline=None)
@given(batches=streams(), delay=st.sampled_from([0, 2, SPAN, 3 * SPAN]), by_value=st.booleans())
def test_rows_come_as_from_flink(batches: list[list[Row]], delay: int, by_value: bool) -> None:
    operator = SortByTime("3_temporal-sort", COLUMNS, BY_TIME_AND_VALUE if by_value else BY_TIME)
    context = FakeContext(operator)
    expected, marks, late = flink([row for batch in batches for row in batch], delay, by_value)
    found: list[Row] = []
    watermark: int | None = None
    for batch in batches:
        own, marks = marks[: len(batch)], marks[len(batch) :]
        for row in batch:
            watermark = max(row[0] // 1000 - delay, row[0] // 1000 - delay if watermark is None else watermark)
        changes = run(operator, context, rows_of(operator, 0, batch, watermarks=own), watermark=watermark)
        found += changes.select("ts", "v", "at").rows()
    found += (
        run(operator, context, rows_of(operator, 0, [], watermarks=[]), watermark=DRAINED)
        .select("ts", "v", "at")
        .rows()
    )
    assert found == expected
    assert context.counters[LATE] == late


def test_rows_of_a_batch_are_one_moment_of_processing_time() -> None:
    columns = (Column("pt", timestamp_ltz(3, TimeKind.PROCTIME)), *COLUMNS[1:])
    operator = SortByArrival("3_temporal-sort", columns, BY_TIME_AND_VALUE)
    rows = rows_of(operator, 0, [(0, 1, 0), (0, None, 1), (0, 2, 2), (0, 1, 3)])
    out = run(operator, FakeContext(operator), rows)
    assert out["at"].to_list() == [2, 0, 3, 1]
    assert out[KIND].to_list() == [0] * 4
    assert out["rk_seq"].to_list() == [0, 1, 2, 3]
