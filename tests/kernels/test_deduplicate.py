"""The deduplicate kernels against naive models, over any cuts, and against what Flink gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.changelog import RowKind
from execnodes.core.types import BIGINT, STRING, timestamp
from execnodes.lowering.stream import HASH, KIND
from execnodes.state.kernel_types import Column, schema_of
from execnodes.state.operator import DRAINED
from execnodes.stream.deduplicate.v1_kernel import STATE, KeepFirstToArrive, KeepLast
from execnodes.stream.deduplicate.v2_kernel import DONE, LATE, SEEN, SPAN, WAITING, KeepFirstByTime
from execnodes.stream.deduplicate.v3_kernel import FirstByTimeAtOnce
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (Column("k", STRING), Column("ts", timestamp(3)), Column("v", BIGINT))
Row = tuple[str | None, int, int]
KEYS = ("a", "b", None)


@st.composite
def streams(draw: st.DrawFn) -> list[list[Row]]:
    """Batches of rows with running numbers as values; times in microseconds of whole milliseconds."""
    batches: list[list[Row]] = [[]]
    step = draw(st.sampled_from([1, SPAN]))
    for v in range(draw(st.integers(0, 20))):
        if draw(st.booleans()):
            batches.append([])
        batches[-1].append((draw(st.sampled_from(KEYS)), draw(st.integers(-4, 12)) * step * 1000, v))
    return batches


def materialise(table: dict[str | None, Row], changes: pl.DataFrame, update_before: bool) -> None:
    for k, ts, v, kind in changes.select("k", "ts", "v", KIND).iter_rows():
        if kind == RowKind.UPDATE_BEFORE:
            assert update_before
            assert table.pop(k) == (k, ts, v)
            continue
        assert (kind == RowKind.INSERT) == (k not in table) or (kind == RowKind.UPDATE_AFTER)
        table[k] = (k, ts, v)


@settings(max_examples=60, deadline=None)
@given(batches=streams(), by_time=st.booleans(), update_before=st.booleans())
def test_last_row(batches: list[list[Row]], by_time: bool, update_before: bool) -> None:
    operator = KeepLast("3_deduplicate", COLUMNS, (0,), 1 if by_time else None, update_before)
    context = FakeContext(operator)
    table: dict[str | None, Row] = {}
    model: dict[str | None, Row] = {}
    for batch in batches:
        changes = run(operator, context, rows_of(operator, 0, batch, keys=[0]))
        assert changes.filter(pl.col(KIND) != RowKind.UPDATE_BEFORE).height <= len(KEYS)
        materialise(table, changes, update_before)
        for row in batch:
            if row[0] not in model or not by_time or row[1] >= model[row[0]][1]:
                model[row[0]] = row
        assert table == model


@settings(max_examples=30, deadline=None)
@given(batches=streams())
def test_first_row_to_arrive(batches: list[list[Row]]) -> None:
    operator = KeepFirstToArrive("3_deduplicate", COLUMNS, (0,))
    context = FakeContext(operator)
    found: list[Row] = []
    model: dict[str | None, Row] = {}
    for batch in batches:
        changes = run(operator, context, rows_of(operator, 0, batch, keys=[0]))
        found += changes.select("k", "ts", "v").rows()
        for row in batch:
            model.setdefault(row[0], row)
        assert sorted(found, key=str) == sorted(model.values(), key=str)


def first_rows(rows: Sequence[Row], delay: int) -> tuple[list[Row], int]:
    """Row by row as Flink does: watermark after every row, `delay` ms behind the largest time."""
    best: dict[str | None, Row] = {}
    watermark, late = None, 0
    for row in rows:
        ms = row[1] // 1000
        if watermark is not None and ms < watermark:
            late += 1
        elif row[0] not in best or (best[row[0]][1] // 1000 > ms):
            best[row[0]] = row
        watermark = max(ms - delay, watermark if watermark is not None else ms - delay)
    return list(best.values()), late


def row_watermarks(batches: Sequence[Sequence[Row]], delay: int) -> list[list[int | None]]:
    """Watermark before each row."""
    found: list[list[int | None]] = []
    watermark: int | None = None
    for batch in batches:
        marks = []
        for row in batch:
            marks.append(watermark)
            after = row[1] // 1000 - delay
            watermark = after if watermark is None else max(watermark, after)
        found.append(marks)
    return found


@settings(max_examples=80, deadline=None)
@given(batches=streams(), delay=st.sampled_from([0, 2, SPAN, 3 * SPAN]))
def test_first_row_by_time_does_not_depend_on_cuts(batches: list[list[Row]], delay: int) -> None:
    operator = KeepFirstByTime("3_deduplicate", COLUMNS, (0,), 1)
    context = FakeContext(operator)
    found: list[Row] = []
    watermark: int | None = None
    for batch, marks in zip(batches, row_watermarks(batches, delay), strict=True):
        for row in batch:
            after = row[1] // 1000 - delay
            watermark = after if watermark is None else max(watermark, after)
        changes = run(operator, context, rows_of(operator, 0, batch, watermarks=marks, keys=[0]), watermark=watermark)
        assert set(changes[KIND]) <= {RowKind.INSERT}
        found += changes.select("k", "ts", "v").rows()
        assert all(watermark is not None and ts // 1000 <= watermark for _, ts, _ in found)
        reached = [r for r in _waiting(context) if watermark is not None and r <= watermark]
        assert not reached, "a row that the watermark has reached is still waiting"
    out = run(operator, context, rows_of(operator, 0, []), watermark=DRAINED)
    if not out.is_empty():
        found += out.select("k", "ts", "v").rows()
    model, late = first_rows([row for batch in batches for row in batch], delay)
    assert sorted(found, key=str) == sorted(model, key=str)
    assert context.counters[LATE] == late
    assert not _waiting(context)
    assert sorted(context.states[SEEN].frame["k"].to_list(), key=str) == sorted((row[0] for row in model), key=str)


def _waiting(context: FakeContext) -> list[int]:
    return [ts // 1000 for ts in context.states[WAITING].frame["ts"].to_list()]


@settings(max_examples=60, deadline=None)
@given(batches=streams(), cut=st.integers(0, 20), delay=st.sampled_from([0, SPAN]))
def test_state_of_1_0_goes_on(batches: list[list[Row]], cut: int, delay: int) -> None:
    """One state with all rows, and a column that says which have been given out."""
    operator = KeepFirstByTime("3_deduplicate", COLUMNS, (0,), 1)
    whole, context = FakeContext(operator), FakeContext(operator)
    (layout,) = operator.earlier
    assert (layout.name, layout.since) == (STATE, "1.0")
    expected: list[tuple[Any, ...]] = []
    found: list[tuple[Any, ...]] = []
    watermark = None
    for number, (batch, marks) in enumerate(zip(batches, row_watermarks(batches, delay), strict=True)):
        if number == cut:
            rows = pl.concat([_as_in_1_0(context, WAITING, found, False), _as_in_1_0(context, SEEN, found, True)])
            context = FakeContext(operator, watermark)
            operator.restore(STATE, rows.select(list(layout.schema)), context)
        for row in batch:
            after = row[1] // 1000 - delay
            watermark = after if watermark is None else max(watermark, after)
        frame = rows_of(operator, 0, batch, watermarks=marks, keys=[0])
        expected += run(operator, whole, frame, watermark=watermark).select("k", "ts", "v").rows()
        found += run(operator, context, frame, watermark=watermark).select("k", "ts", "v").rows()
    for each, taken in ((whole, expected), (context, found)):
        taken += run(operator, each, rows_of(operator, 0, []), watermark=DRAINED).select("k", "ts", "v").rows()
    assert sorted(found, key=str) == sorted(expected, key=str)


def _as_in_1_0(context: FakeContext, name: str, given: Sequence[Row], done: bool) -> pl.DataFrame:
    """Rows of a state as release 1.0 kept them."""
    held = context.states[name].frame
    if name == SEEN:
        rows = pl.DataFrame(given, schema=schema_of(COLUMNS), orient="row")
        assert held[DONE].all()
        held = held.select("k", HASH).join(rows, on="k", nulls_equal=True)
    return held.select("k", "ts", "v", HASH, pl.lit(done).alias(DONE))


def test_a_row_exactly_at_the_watermark_is_in_time() -> None:
    operator = KeepFirstByTime("3_deduplicate", COLUMNS, (0,), 1)
    context = FakeContext(operator)
    rows = [("c", 9_000_000, 1), ("c", 5_000_000, 2), ("c", 4_999_000, 3)]
    batch = rows_of(operator, 0, rows, watermarks=[None, 5000, 5000], keys=[0])
    assert run(operator, context, batch, watermark=5000)["v"].to_list() == [2]
    assert context.counters[LATE] == 1
    assert run(operator, context, rows_of(operator, 0, []), watermark=DRAINED).is_empty()


@pytest.mark.parametrize("keys", [(), (0,)])
def test_without_keys_all_rows_are_of_one_key(keys: tuple[int, ...]) -> None:
    operator = KeepLast("3_deduplicate", COLUMNS, keys, 1, True)
    context = FakeContext(operator)
    changes = run(operator, context, rows_of(operator, 0, [("a", 1000, 1), ("b", 2000, 2)], keys=keys))
    assert changes["v"].to_list() == ([2] if not keys else [1, 2])


def oldest(rows: Sequence[Row], known: dict[str | None, Row]) -> dict[str | None, Row]:
    """The oldest row of each key so far, the earlier of two that are as old."""
    for row in rows:
        if row[0] not in known or row[1] < known[row[0]][1]:
            known[row[0]] = row
    return known


@settings(max_examples=80, deadline=None)
@given(batches=streams(), update_before=st.booleans(), delay=st.sampled_from([0, SPAN]))
def test_first_row_by_time_at_once(batches: list[list[Row]], update_before: bool, delay: int) -> None:
    operator = FirstByTimeAtOnce("3_deduplicate", COLUMNS, (0,), 1, update_before)
    context = FakeContext(operator)
    table: dict[str | None, Row] = {}
    model: dict[str | None, Row] = {}
    watermark: int | None = None
    for batch, marks in zip(batches, row_watermarks(batches, delay), strict=True):
        for row in batch:
            after = row[1] // 1000 - delay
            watermark = after if watermark is None else max(watermark, after)
        changes = run(operator, context, rows_of(operator, 0, batch, watermarks=marks, keys=[0]), watermark=watermark)
        materialise(table, changes, update_before)
        assert table == oldest(batch, model)
    assert run(operator, context, rows_of(operator, 0, []), watermark=DRAINED).is_empty()
    assert not context.counters[LATE]


@settings(max_examples=80, deadline=None)
@given(batches=streams(), cut=st.integers(0, 20), delay=st.sampled_from([0, SPAN]))
def test_rows_that_waited_are_given_and_those_given_stay(batches: list[list[Row]], cut: int, delay: int) -> None:
    """State of plans that let first rows wait: all is given once, and what had been given is not changed."""
    before = KeepFirstByTime("3_deduplicate", COLUMNS, (0,), 1)
    after = FirstByTimeAtOnce("3_deduplicate", COLUMNS, (0,), 1, True)
    was, context = FakeContext(before), FakeContext(after)
    table: dict[str | None, Row] = {}
    watermark: int | None = None
    marks = row_watermarks(batches, delay)

    def moved(batch: list[Row]) -> int | None:
        times = [row[1] // 1000 - delay for row in batch]
        return max([*times, *([] if watermark is None else [watermark])], default=None)

    for batch, own in zip(batches[:cut], marks[:cut], strict=True):
        watermark = moved(batch)
        rows = rows_of(before, 0, batch, watermarks=own, keys=[0])
        materialise(table, run(before, was, rows, watermark=watermark), False)
    final = dict(table)
    waiting = {row[0]: row for row in was.states[WAITING].frame.select("k", "ts", "v").rows()}
    context.watermark = watermark
    for name in (WAITING, SEEN):
        after.restore(name, was.states[name].frame, context)
    model = dict(waiting)
    for batch, own in zip(batches[cut:], marks[cut:], strict=True):
        watermark = moved(batch)
        rows = rows_of(after, 0, batch, watermarks=own, keys=[0])
        materialise(table, run(after, context, rows, watermark=watermark), True)
        oldest([row for row in batch if row[0] not in final], model)
    materialise(table, run(after, context, rows_of(after, 0, []), watermark=DRAINED), True)
    assert table == {**model, **final}
    assert context.states[WAITING].frame.is_empty()
