"""Sessions against a model that takes rows one by one: out of order, in any cuts, watermarks by batch and by row."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import dataclass, field

import hypothesis
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from execnodes.core.expressions import AggregateCall
from execnodes.core.types import INT, STRING, Field, LogicalType, row
from execnodes.core.windowing import Windowing, WindowSpec
from execnodes.lowering.stream import KIND, SEQUENCE
from execnodes.state.operator import DRAINED
from execnodes.stream.window_aggregate.v2_kernel import SessionAggregateOperator
from execnodes.stream.window_aggregate.v2_sessions import LATE, SessionOperator
from execnodes.stream.window_table_function.v2_kernel import SessionRowsOperator
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.kernels.test_window_aggregate import INSTANT, MERGEABLE, PROPERTIES, ROWTIME, _call, _micros

GAP = 5
Event = tuple[str | None, int | None, int]
BY_ROWS = (_call("COUNT"), _call("SUM", 1), _call("COUNT", 1, distinct=True), _call("LISTAGG", 0))
INPUT = row(Field("k", STRING), Field("v", INT), Field("ts", ROWTIME))


def windowing(time: LogicalType = ROWTIME, gap: int = GAP, keys: tuple[int, ...] = (0,)) -> Windowing:
    window = WindowSpec(type="SessionWindow", gap=gap, partition_key_indices=keys)
    return Windowing(strategy="TimeAttribute", time_attribute_type=time, time_attribute_index=2, window=window)


def operator(
    calls: tuple[AggregateCall, ...], grouping: tuple[int, ...] = (0,), retract: bool = False
) -> SessionAggregateOperator:
    shown = (*(Field(c.name, c.type) for c in calls), *(Field(name, ROWTIME) for name in PROPERTIES))
    made = SessionAggregateOperator(
        uid="7_window-aggregate", input_type=INPUT, output_type=row(*(INPUT.fields[at] for at in grouping), *shown),
        grouping=grouping, calls=calls, windowing=windowing(keys=grouping), properties=PROPERTIES, zone="UTC",
        retract=retract,
    )  # fmt: skip
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, SessionAggregateOperator)
    return again


@dataclass
class Session:
    """What the model knows of a session."""

    start: int
    end: int
    rows: list[tuple[int, int | None]] = field(default_factory=list)


@dataclass
class Model:
    """Flink's way: a row is merged with the sessions that it touches and that have not fired."""

    open: dict[str | None, list[Session]] = field(default_factory=dict)
    late: int = 0

    def take(self, key: str | None, ms: int, seen: int | None, sign: int, v: int | None) -> None:
        def gone(end: int) -> bool:
            return seen is not None and seen >= end - 1

        sessions = self.open.setdefault(key, [])
        touched = [each for each in sessions if not gone(each.end) and each.start <= ms + GAP and each.end >= ms]
        merged = Session(min([ms, *(s.start for s in touched)]), max([ms + GAP, *(s.end for s in touched)]))
        if gone(merged.end):
            self.late += 1
            return
        merged.rows = [*(each for s in touched for each in s.rows), (sign, v)]
        self.open[key] = [*(each for each in sessions if each not in touched), merged]

    def fire(self, watermark: int) -> list[tuple[str | None, Session]]:
        fired = [(k, each) for k, sessions in self.open.items() for each in sessions if each.end - 1 <= watermark]
        for k, sessions in self.open.items():
            self.open[k] = [each for each in sessions if each.end - 1 > watermark]
        return fired


def results(
    calls: tuple[AggregateCall, ...], rows: list[tuple[int, int | None]], key: str | None
) -> tuple[object, ...]:
    values = [v for sign, v in rows if v is not None and sign > 0]
    for sign, v in rows:
        if sign < 0 and v is not None:
            values.remove(v)
    count = sum(sign for sign, _ in rows)
    total = sum(values) if values else None
    if calls is MERGEABLE:
        return count, total, min(values, default=None), int(sum(values) / len(values)) if values else None
    return count, total, len(set(values)), None if key is None else ",".join([key] * count)


ROW = st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(-3, 3), st.integers(-20, 40))
BATCHES = st.lists(st.tuples(st.lists(ROW, max_size=8), st.integers(-5, 8)), max_size=6)


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("retract", [False, True])
@pytest.mark.parametrize("calls", [MERGEABLE, BY_ROWS], ids=["accumulators", "rows"])
@hypothesis.given(batches=BATCHES, data=st.data())
@settings(max_examples=12, deadline=None)
def test_sessions(
    calls: tuple[AggregateCall, ...], retract: bool, by_row: bool, batches: list[tuple[list[Event], int]],
    data: st.DataObject,
) -> None:  # fmt: skip
    if retract and calls is MERGEABLE:
        calls = (_call("COUNT"), _call("SUM", 1))
    made, model = operator(calls, retract=retract), Model()
    context, watermark, restored = FakeContext(made), None, data.draw(st.integers(0, 5))
    alive = list[Event]()
    for number, (rows, step) in enumerate([*batches, ([], DRAINED)]):
        taken = list[Event]()
        kinds, seen_by_row, seen = list[int](), list[int | None](), watermark
        for each in rows:
            sign = 1
            if retract and alive and data.draw(st.booleans()):
                each, sign = alive.pop(data.draw(st.integers(0, len(alive) - 1))), -1
            elif retract:
                alive.append(each)
            if by_row and data.draw(st.booleans()):
                own = data.draw(st.integers(0, 10)) + (-20 if seen is None else seen)
                seen = own
            taken.append(each)
            kinds.append(0 if sign > 0 else 3)
            seen_by_row.append(seen if by_row else None)
            k, v, ms = each
            model.take(k, ms, seen, sign, v)
        frame = rows_of(
            made, 0, [(k, v, ms * 1000) for k, v, ms in taken], kinds, seen_by_row if by_row else None, keys=(0,)
        )
        known = [each for each in (seen, watermark) if each is not None]
        watermark = step if step == DRAINED else max(known, default=-20) + max(step, 0)
        out = run(made, context, frame, watermark=watermark)
        fired = [(k, s) for k, s in model.fire(watermark) if not retract or sum(sign for sign, _ in s.rows) > 0]
        expected = []
        for k, s in fired:
            expected.append(
                (k, *results(calls, s.rows, k)[: len(calls)], s.start * 1000, s.end * 1000, (s.end - 1) * 1000)
            )
        assert sorted(map(repr, out.drop(KIND, SEQUENCE).rows())) == sorted(map(repr, expected))
        if number == restored:
            context = moved(made, context)
    assert context.counters[LATE] == model.late
    assert all(state.frame.is_empty() for state in context.states.values())


def moved(made: SessionOperator, old: FakeContext) -> FakeContext:
    """The states of a savepoint in a new job."""
    new = FakeContext(made, old.watermark)
    new.counters = old.counters
    for spec in made.states:
        if not spec.derived:
            made.restore(spec.name, old.states[spec.name].frame, new)
    return new


def given(rows: LogicalType = INPUT) -> SessionRowsOperator:
    output = row(*rows.fields, *(Field(name, ROWTIME) for name in PROPERTIES))
    return SessionRowsOperator("3_window", rows, output, windowing(rows.fields[2].type), "Europe/Berlin")


@settings(max_examples=30, deadline=None)
@hypothesis.given(batches=BATCHES, data=st.data())
def test_rows_of_sessions_come_when_they_end(batches: list[tuple[list[Event], int]], data: st.DataObject) -> None:
    made, model, watermark = given(), Model(), -20
    context, moves = FakeContext(made, watermark), data.draw(st.integers(0, 5))
    for number, (rows, step) in enumerate([*batches, ([], DRAINED)]):
        for k, v, ms in rows:
            model.take(k, ms, watermark, 1, v)
        watermark = max(watermark, min(step + watermark, DRAINED))
        frame = rows_of(made, 0, [(k, v, ms * 1000) for k, v, ms in rows], keys=(0,))
        out = run(made, context, frame, watermark=watermark)
        found = out.select("k", "v", "WindowStart", "WindowEnd", KIND).rows()
        expected = [(k, v, s.start * 1000, s.end * 1000, 0) for k, s in model.fire(watermark) for _, v in s.rows]
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
        context = moved(made, context) if number == moves else context
    assert context.counters[LATE] == model.late
    assert all(state.frame.is_empty() for state in context.states.values())


def test_rows_of_a_session_keep_order_and_kind() -> None:
    made = given()
    context = FakeContext(made)
    run(made, context, rows_of(made, 0, [("a", 2, 3000), ("a", 1, 1000)], keys=(0,)))
    run(made, context, rows_of(made, 0, [("a", 2, 3000), ("a", 3, 3000)], [1, 2], keys=(0,)))
    out = run(made, context, rows_of(made, 0, []), watermark=DRAINED)
    assert out.select("v", KIND).rows() == [(2, 0), (1, 0), (2, 1), (3, 2)]
    assert out["WindowTime"].unique().to_list() == [7000]


def test_a_session_across_the_change_of_the_clock() -> None:
    made = given(row(*INPUT.fields[:2], Field("ts", INSTANT)))
    context = FakeContext(made)
    # An hour is left out in between: locally the two are more than a gap apart, or less.
    rows = [("a", 1, _micros("2024-03-31T00:59:59") + 998_000), ("a", 2, _micros("2024-03-31T01:00:00"))]
    out = run(made, context, rows_of(made, 0, rows, keys=(0,)), watermark=DRAINED)
    bounds = [(_micros("2024-03-31T01:59:59") + 998_000, _micros("2024-03-31T02:00:00") + 3_000)]
    assert out.select("v", "WindowStart", "WindowEnd").rows() == [
        (1, *bounds[0]),
        (2, _micros("2024-03-31T03:00:00"), _micros("2024-03-31T03:00:00") + 5_000),
    ]


def test_a_row_between_two_sessions_makes_them_one_without_moving_what_is_kept() -> None:
    made = operator(BY_ROWS)
    context = FakeContext(made)
    run(made, context, rows_of(made, 0, [("a", 1, 0), ("a", 2, 9000)], keys=(0,)))
    run(made, context, rows_of(made, 0, [("a", 3, 4000)], keys=(0,)))
    assert context.states["windowAggregateState"].frame.select("rk_part", "rk_start", "rk_end").rows() == [
        (1, 0, 14_000),
        (2, 0, 14_000),
    ]
    out = run(made, context, rows_of(made, 0, []), watermark=DRAINED)
    assert out.select("COUNT", "SUM", "WindowStart", "WindowEnd").rows() == [(3, 6, 0, 14_000)]


@hypothesis.given(times=st.lists(st.integers(0, 40), max_size=12), cuts=st.lists(st.integers(1, 4), min_size=12))
@hypothesis.example(times=[10, 0, 5], cuts=[1] * 12)
@settings(max_examples=40, deadline=None)
def test_rows_of_sessions_that_grow_together_stand_as_they_came(times: list[int], cuts: list[int]) -> None:
    made, model = operator((_call("LISTAGG", 0),), grouping=()), Model()
    context, names = FakeContext(made), iter(map(str, range(len(times))))
    for number, ms in enumerate(times):
        model.take(None, ms, None, 1, number)
    left = iter(times)
    for cut in cuts:
        part = [(next(names), None, ms * 1000) for ms in itertools.islice(left, cut)]
        run(made, context, rows_of(made, 0, part))
    found = run(made, context, rows_of(made, 0, []), watermark=DRAINED)["LISTAGG"].to_list()
    expected = [sorted(v for _, v in each.rows if v is not None) for _, each in model.fire(DRAINED)]
    assert sorted(found) == sorted(",".join(map(str, each)) for each in expected)


def test_a_part_that_lost_more_than_it_holds_counts_with_the_others() -> None:
    made = operator((_call("COUNT"), _call("SUM", 1)), retract=True)
    context = FakeContext(made)
    run(made, context, rows_of(made, 0, [("a", 1, 0), ("a", 2, 9000)], keys=(0,)))
    # The row that joins them, and the one that is taken back, are kept with the first: it has none left.
    run(made, context, rows_of(made, 0, [("a", 5, 4000), ("a", 1, 0), ("a", 2, 9000)], [0, 3, 3], keys=(0,)))
    out = run(made, context, rows_of(made, 0, []), watermark=DRAINED)
    assert out.select("COUNT", "SUM", "WindowStart", "WindowEnd").rows() == [(1, 5, 0, 14_000)]


@pytest.mark.parametrize("name", ["k0", "a1", "rk_part"])
def test_columns_may_be_called_as_the_operator_calls_its_own(name: str) -> None:
    made = given(row(Field("k", STRING), Field(name, INT), Field("ts", ROWTIME)))
    out = run(made, FakeContext(made), rows_of(made, 0, [("a", 7, 1000)], keys=(0,)), watermark=DRAINED)
    assert out.to_series(1).to_list() == [7]
