"""The sink's upsert materializer and its conflict strategies against models that go row by row."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.changelog import RowKind
from execnodes.core.errors import JobError
from execnodes.core.types import BIGINT, STRING
from execnodes.lowering.stream import KIND
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED, Operator
from execnodes.stream.sink.v1_conflicts import ConflictResolver
from execnodes.stream.sink.v1_kernel import UpsertMaterializer
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (Column("pk", STRING), Column("id", BIGINT), Column("v", BIGINT))
Row = tuple[object, ...]
Event = tuple[int, Row]
ADD, UB, UA, D = RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE
REMOVALS = (UB, D)


def feed(
    operator: Operator, context: FakeContext, batch: Sequence[Event], watermark: int | None = None
) -> list[tuple[object, ...]]:
    frame = rows_of(operator, 0, [row for _, row in batch], [kind for kind, _ in batch], keys=[0])
    return run(operator, context, frame, watermark=watermark).select("pk", "id", "v", KIND).rows()


def materialise(table: dict[object, Row], changes: Sequence[tuple[object, ...]]) -> None:
    for *values, kind in changes:
        row, key = tuple(values), values[0]
        if kind == D:
            assert table.pop(key) == row
        else:
            assert (key in table) == (kind == UA)
            table[key] = row


@st.composite
def changelogs(draw: st.DrawFn, keyed: bool) -> list[list[Event]]:
    """A query's changelog with -U, cut into batches; keyed by `id` or a multiset of whole rows."""
    alive: list[Row] = []
    batches: list[list[Event]] = [[]]
    for _ in range(draw(st.integers(0, 20))):
        if draw(st.booleans()):
            batches.append([])
        row = (draw(st.sampled_from(["a", "b"])), draw(st.integers(0, 2)), draw(st.integers(0, 1)))
        same = [other for other in alive if other[1] == row[1]] if keyed else []
        if same:
            alive.remove(same[0])
            if draw(st.booleans()):
                batches[-1] += [(UB, same[0]), (UA, row)]
                alive.append(row)
            else:
                batches[-1].append((D, same[0]))
        elif alive and draw(st.integers(0, 2)) == 0:
            batches[-1].append((D, alive.pop(draw(st.integers(0, len(alive) - 1)))))
        else:
            batches[-1].append((ADD, row))
            alive.append(row)
    return batches


def show_last(lists: dict[object, list[Row]], batch: Sequence[Event]) -> dict[object, Row]:
    """Lists of live rows by sink key, a removal taking the first that is equal."""
    for kind, row in batch:
        live = lists.setdefault(row[0], [])
        if kind in REMOVALS:
            if row in live:
                live.remove(row)
        else:
            live.append(row)
    return {key: live[-1] for key, live in lists.items() if live}


@settings(max_examples=80, deadline=None)
@given(keyed=st.booleans(), data=st.data())
def test_the_last_live_row_shows(keyed: bool, data: st.DataObject) -> None:
    operator = UpsertMaterializer("9_upsert-materializer", COLUMNS, (0,), (1,) if keyed else None)
    context, table, lists = FakeContext(operator), dict[object, Row](), dict[object, list[Row]]()
    for batch in data.draw(changelogs(keyed)):
        materialise(table, feed(operator, context, batch))
        assert table == show_last(lists, batch)


@settings(max_examples=40, deadline=None)
@given(batches=st.lists(st.lists(st.tuples(st.sampled_from([ADD, D]), st.sampled_from([("a", 1, 1), ("a", 2, 2)])))))
def test_a_removal_of_a_row_that_is_not_there_does_nothing(batches: list[list[Event]]) -> None:
    operator = UpsertMaterializer("9_upsert-materializer", COLUMNS, (0,), None)
    context, table, lists = FakeContext(operator), dict[object, Row](), dict[object, list[Row]]()
    for batch in batches:
        materialise(table, feed(operator, context, batch))
        assert table == show_last(lists, batch)


def test_the_row_before_comes_back() -> None:
    operator = UpsertMaterializer("9_upsert-materializer", COLUMNS, (0,), (1,))
    context = FakeContext(operator)
    steps: list[tuple[Event, list[tuple[object, ...]]]] = [
        ((ADD, ("a", 1, 1)), [("a", 1, 1, ADD)]),
        ((ADD, ("a", 2, 2)), [("a", 2, 2, UA)]),
        ((D, ("a", 2, 2)), [("a", 1, 1, UA)]),
        ((D, ("a", 1, 1)), [("a", 1, 1, D)]),
        ((D, ("a", 1, 1)), []),
    ]
    for event, expected in steps:
        assert feed(operator, context, [event]) == expected


def test_updates_without_update_before() -> None:
    operator = UpsertMaterializer("9_upsert-materializer", COLUMNS, (0,), (1,), retracts=False)
    context = FakeContext(operator)
    assert feed(operator, context, [(ADD, ("a", 1, 1)), (UA, ("a", 1, 2))]) == [("a", 1, 2, ADD)]
    assert feed(operator, context, [(UA, ("a", 1, 3)), (D, ("a", 1, 3))]) == [("a", 1, 2, D)]


def resolver(fails: bool = False, upsert_key: tuple[int, ...] | None = (1,)) -> tuple[ConflictResolver, FakeContext]:
    operator = ConflictResolver("9_upsert-materializer", COLUMNS, (0,), upsert_key, fails)
    return operator, FakeContext(operator)


def test_do_nothing_keeps_the_first_row_and_forgets_the_others() -> None:
    operator, context = resolver()
    steps: list[tuple[list[Event], int, list[tuple[object, ...]]]] = [
        ([(ADD, ("a", 1, 1))], 10, [("a", 1, 1, ADD)]),
        ([(ADD, ("a", 2, 2))], 20, []),
        ([(UB, ("a", 1, 1)), (UA, ("b", 1, 3))], 30, [("a", 1, 1, D), ("b", 1, 3, ADD)]),
        ([(ADD, ("a", 4, 4)), (ADD, ("a", 5, 5))], 40, [("a", 4, 4, ADD)]),
        ([(UB, ("a", 4, 4)), (UA, ("a", 4, 6))], 50, [("a", 4, 6, UA)]),
        ([(D, ("a", 2, 2))], 60, []),
    ]
    for batch, watermark, expected in steps:
        assert feed(operator, context, batch, watermark) == expected


def test_changes_wait_for_the_watermark() -> None:
    operator, context = resolver(fails=True)
    assert feed(operator, context, [(ADD, ("a", 1, 1))], 5) == [("a", 1, 1, ADD)]
    assert feed(operator, context, [(ADD, ("a", 2, 2))]) == []
    assert feed(operator, context, [(D, ("a", 1, 1))]) == []
    assert feed(operator, context, [], 6) == [("a", 2, 2, UA)]
    assert feed(operator, context, [(D, ("a", 2, 2))]) == []
    assert feed(operator, context, [], DRAINED) == [("a", 2, 2, D)]


def test_changes_that_arrive_at_the_end_settle_at_once() -> None:
    operator, context = resolver()
    context.watermark = DRAINED
    assert feed(operator, context, [(ADD, ("a", 1, 1))]) == [("a", 1, 1, ADD)]


def test_do_error_names_the_key() -> None:
    operator, context = resolver(fails=True)
    with pytest.raises(JobError, match=r"(?s)meet in the sink key pk = a.*DO NOTHING"):
        feed(operator, context, [(ADD, ("a", 1, 1)), (ADD, ("a", 2, 2))], 1)


def test_opposite_changes_of_one_watermark_cancel_in_any_order() -> None:
    operator, context = resolver(fails=True, upsert_key=None)
    feed(operator, context, [(ADD, ("a", 1, 1))], 1)
    assert feed(operator, context, [(UA, ("a", 2, 2)), (UB, ("a", 1, 1))], 2) == [("a", 2, 2, UA)]
    assert feed(operator, context, [(D, ("a", 2, 2)), (ADD, ("a", 2, 2))], 3) == []


@settings(max_examples=60, deadline=None)
@given(events=changelogs(keyed=True).map(lambda batches: [e for b in batches for e in b]), data=st.data())
def test_settling_does_not_depend_on_the_cuts(events: list[Event], data: st.DataObject) -> None:
    """With the watermark of each row known, one batch and many settle alike."""
    marks = sorted(data.draw(st.lists(st.integers(1, 6), min_size=len(events), max_size=len(events))))
    cuts = data.draw(st.sets(st.integers(0, max(len(events) - 1, 0))))
    tables = []
    for whole in (True, False):
        operator, context = resolver()
        table: dict[object, Row] = {}
        start = 0
        for at in range(len(events) + 1):
            if at < len(events) and (whole or at not in cuts):
                continue
            rows = events[start:at]
            frame = rows_of(operator, 0, [r for _, r in rows], [k for k, _ in rows], marks[start:at], keys=[0])
            last = marks[at - 1] if at > start else None
            materialise(table, run(operator, context, frame, watermark=last).select("pk", "id", "v", KIND).rows())
            start = at
        materialise(table, feed(operator, context, [], DRAINED))
        tables.append(table)
    assert tables[0] == tables[1]
