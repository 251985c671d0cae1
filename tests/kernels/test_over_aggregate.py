"""The over kernels against a naive model, row by row as Flink does, over any cuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execnodes.core.changelog import RowKind
from execnodes.core.expressions import AggregateCall, Literal
from execnodes.core.types import BIGINT, INT, STRING, LogicalType, array, multiset, timestamp
from execnodes.lowering.stream import KIND
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED, Operator
from execnodes.stream.over_aggregate.v1_changes import OverChanges
from execnodes.stream.over_aggregate.v1_event_time import LATE, SPAN, OverByTime
from execnodes.stream.over_aggregate.v1_frames import Frame
from execnodes.stream.over_aggregate.v1_functions import OverFunctions
from execnodes.stream.over_aggregate.v1_kernel import ROWS, OverByArrival, OverShape
from execnodes.stream.over_aggregate.v1_range import OverByRange
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.kernels.users import USERS, supplied, user_call

INPUT = (Column("k", STRING), Column("ts", timestamp(3)), Column("v", INT), Column("n", BIGINT))
Row = tuple[str | None, int, int | None, int]
CALLS: tuple[tuple[str, LogicalType, bool, bool], ...] = (
    ("ROW_NUMBER", BIGINT.not_null(), False, False),
    ("COUNT", BIGINT.not_null(), False, True),
    ("SUM", INT, False, True),
    ("SUM", INT, True, True),
    ("MIN", INT, False, True),
    ("MAX", INT, False, True),
    ("FIRST_VALUE", INT, False, True),
    ("LAST_VALUE", INT, False, True),
    ("ARRAY_AGG", array(INT), False, True),
    ("COLLECT", multiset(INT), False, True),
    ("COUNT", BIGINT.not_null(), True, True),
    ("LAG", INT, False, True),
    ("texts", STRING, False, True),
    ("texts", STRING, True, True),
    ("least", BIGINT, False, True),
)


def functions(frame: Frame, picked: Sequence[int]) -> OverFunctions:
    calls = tuple(
        AggregateCall(
            name=f"r{at}",
            internal_name=f"${name}$1",
            arg_list=(2, 4) if name == "LAG" else (2,) if reads else (),
            distinct=distinct,
            type=t,
        )
        for at, (name, t, distinct, reads) in ((at, CALLS[at]) for at in picked)
    )
    calls = tuple(
        user_call(name, call) if (name := CALLS[at][0]) in USERS else call
        for at, call in zip(picked, calls, strict=True)
    )
    return OverFunctions(INPUT, calls, (Literal(value=2, type=INT.not_null()),), frame)


def shape(frame: Frame, picked: Sequence[int], keys: tuple[int, ...], ttl_ms: int = 0) -> OverShape:
    found = functions(frame, picked)
    output = (*INPUT, *(Column(call.name, call.type) for call in found.calls))
    return OverShape("3_over-aggregate", output, keys, found, ttl_ms)


def by_time(frame: Frame, picked: Sequence[int], keys: tuple[int, ...] = (0,)) -> OverByTime:
    by_range = frame.preceding is not None and not frame.rows
    return supplied((OverByRange if by_range else OverByTime)(shape(frame, picked, keys), 1))


def value_of(name: str, distinct: bool, values: list[int | None], before: list[int | None]) -> object:
    """A function over the values of a frame; `before`: those of the key up to the end of the frame."""
    if name == "ROW_NUMBER":
        return len(values)
    if name == "LAG":
        return before[-3] if len(before) > 2 else None
    if name == "ARRAY_AGG":
        return f"[{','.join('null' if each is None else str(each) for each in values)}]"
    if name == "texts":
        return " ".join(map(str, dict.fromkeys(values) if distinct else values))
    kept = [each for each in values if each is not None]
    if name == "least":
        return min(kept, default=None)
    if name == "COLLECT":
        return "[" + ",".join(f'{{"k":{k},"v":{n}}}' for k, n in sorted(Counter(kept).items())) + "]"
    kept = list(dict.fromkeys(kept)) if distinct else kept
    if name == "COUNT":
        return len(kept)
    picks: dict[str, Any] = {"SUM": sum, "MIN": min, "MAX": max}
    picks |= {"FIRST_VALUE": lambda each: each[0], "LAST_VALUE": lambda each: each[-1]}
    return picks[name](kept) if kept else None


def results(rows: Sequence[tuple[int, Row]], frame: Frame, picked: Sequence[int]) -> list[tuple[object, ...]]:
    """Of the rows of one key, in order, with what they are ordered by."""
    found = []
    for at, (time, row) in enumerate(rows):
        end = at if frame.rows else max(i for i, (other, _) in enumerate(rows) if other == time)
        begin = 0
        if frame.preceding is not None:
            begin = max(0, at - frame.preceding)
            if not frame.rows:
                begin = min(i for i, (other, _) in enumerate(rows) if other >= time - frame.preceding)
        values = [row[2] for _, row in rows[begin : end + 1]]
        before = [row[2] for _, row in rows[: end + 1]]
        found.append((*row, *(value_of(CALLS[each][0], CALLS[each][2], values, before) for each in picked)))
    return found


def model(rows: Sequence[tuple[int, Row]], frame: Frame, picked: Sequence[int], keyed: bool) -> list[tuple[Any, ...]]:
    """Of rows of all keys."""
    found = []
    for key in {row[0] if keyed else None for _, row in rows}:
        mine = [each for each in rows if not keyed or each[1][0] == key]
        found += results(sorted(mine, key=lambda each: each[0]), frame, picked)
    return sorted(found, key=str)


ROUNDS = pytest.mark.parametrize("number", [0, *(pytest.param(each, marks=pytest.mark.long) for each in range(1, 40))])
"""Each draws other streams; one is enough to see what is broken for all."""


@st.composite
def streams(draw: st.DrawFn) -> list[list[Row]]:
    """Batches of rows with running numbers; times in microseconds of whole milliseconds."""
    batches: list[list[Row]] = [[]]
    step = draw(st.sampled_from([1, SPAN // 3]))
    for n in range(draw(st.integers(0, 24))):
        if draw(st.integers(0, 3)) == 0:
            batches.append([])
        key, value = draw(st.sampled_from(("a", "b", None))), draw(st.sampled_from([None, -2, 1, 1, 5]))
        batches[-1].append((key, draw(st.integers(0, 9)) * step * 1000, value, n))
    return batches


FRAMES = st.builds(Frame, st.booleans(), st.sampled_from([None, 0, 1, 3, SPAN // 3, SPAN]))
PICKED = st.lists(st.integers(0, len(CALLS) - 1), min_size=1, max_size=4, unique=True)


def usable(frame: Frame, picked: list[int]) -> list[int]:
    """LAG has no frame of its own."""
    return [each for each in picked if CALLS[each][0] != "LAG" or (frame.preceding is None and not frame.rows)] or [0]


def output_rows(operator: Operator, changes: pl.DataFrame) -> list[tuple[Any, ...]]:
    return changes.select(each.name for each in operator.output).rows()


def timely(rows: Sequence[Row], delay: int, bounded: bool) -> tuple[list[tuple[int, Row]], int]:
    """Row by row: a watermark after each; bounded frames ask what the key has given, as Flink's functions do."""
    kept: list[tuple[int, Row]] = []
    waiting: list[tuple[int, Row]] = []
    given: dict[str | None, int] = {}
    watermark: int | None = None
    late = 0
    for row in rows:
        time = row[1] // 1000
        behind = given.get(row[0], -1) >= time if bounded else watermark is not None and time <= watermark
        if behind:
            late += 1
        else:
            kept.append((time, row))
            waiting.append((time, row))
        after = time - delay
        if watermark is None or after > watermark:
            watermark = after
            for fired, each in waiting:
                if fired <= watermark:
                    given[each[0]] = max(fired, given.get(each[0], fired))
            waiting = [each for each in waiting if each[0] > watermark]
    return kept, late


class FlinkKey:
    """A key as RowTimeRangeBoundedPrecedingFunction of Flink 2.3 keeps it, with timers that come one by one."""

    def __init__(self, preceding: int) -> None:
        self.preceding = preceding
        self.timers: set[int] = set()
        self.waiting: dict[int, list[Row]] = {}
        self.given: list[tuple[int, Row]] = []
        self.triggered: int | None = None
        self.cleanup: int | None = None

    def take(self, row: Row) -> bool:
        """Whether it is in time."""
        time = row[1] // 1000
        if self.triggered is not None and time <= self.triggered:
            return False
        self.waiting.setdefault(time, []).append(row)
        self.timers.add(time)
        if self.cleanup is None or self.cleanup < time + self.preceding + 1:
            self.cleanup = time + int(self.preceding * 1.5) + 1
            self.timers.add(self.cleanup)
        return True

    def advance(self, watermark: int, picked: Sequence[int]) -> list[tuple[object, ...]]:
        """What comes when the watermark is there."""
        found: list[tuple[object, ...]] = []
        for timer in sorted(each for each in self.timers if each <= watermark):
            self.timers.discard(timer)
            if self.cleanup is not None and self.cleanup <= timer:
                self.given, self.waiting, self.triggered, self.cleanup = [], {}, None, None
                continue
            new = self.waiting.pop(timer, [])
            self.given = [each for each in self.given if each[0] >= timer - self.preceding]
            self.given += [(timer, row) for row in new]
            values = [row[2] for _, row in self.given]
            found += [(*row, *(value_of(CALLS[at][0], CALLS[at][2], values, values) for at in picked)) for row in new]
            self.triggered = timer
        return found


BEHIND: list[list[Row]] = [
    [("a", 13_332_000, None, 1)], [("b", 0, None, 4)], [("b", 16_665_000, None, 5)], [("a", 0, None, 6)],
    [("b", 0, None, 10)],
]  # fmt: skip
"""The first row of a key comes behind the watermark: the next one finds the timers that it asked for."""


@ROUNDS
@settings(max_examples=60, deadline=None)
@example(batches=BEHIND, preceding=0, picked=[0], delay=1, moved=0)
@given(
    batches=streams(),
    preceding=st.sampled_from([0, 1, 2, 3, 5, SPAN // 3, SPAN // 3 + 1, SPAN]),
    picked=PICKED,
    delay=st.sampled_from([0, 1, 2, SPAN // 3]),
    moved=st.integers(0, 6),
)
def test_keys_are_forgotten_as_flink_does(
    number: int, batches: list[list[Row]], preceding: int, picked: list[int], delay: int, moved: int
) -> None:
    frame = Frame(False, preceding)
    picked = usable(frame, picked)
    made = supplied(OverByRange(shape(frame, picked, (0,)), 1))
    changes, late = feed(made, batches, delay, (0,), moved)
    keys: dict[str | None, FlinkKey] = {}
    expected, watermark, expected_late = list[tuple[object, ...]](), None, 0
    for row in (row for batch in batches for row in batch):
        expected_late += not keys.setdefault(row[0], FlinkKey(preceding)).take(row)
        after = row[1] // 1000 - delay
        if watermark is None or after > watermark:
            watermark = after
            expected += [each for key in keys.values() for each in key.advance(watermark, picked)]
    expected += [each for key in keys.values() for each in key.advance(DRAINED, picked)]
    assert sorted(output_rows(made, changes), key=str) == sorted(expected, key=str)
    assert late == expected_late


def feed(
    operator: Operator, batches: list[list[Row]], delay: int, keys: Sequence[int], moved: int = -1
) -> tuple[pl.DataFrame, int]:
    """All changes, and how many rows were late; `moved`: the batch before which the states go to another job."""
    context = FakeContext(operator)
    watermark: int | None = None
    parts = []
    for number, batch in enumerate(batches):
        marks = []
        for row in batch:
            marks.append(watermark)
            after = row[1] // 1000 - delay
            watermark = after if watermark is None else max(watermark, after)
        if number == moved:
            context = restored(operator, context)
        context.now = number
        parts.append(
            run(operator, context, rows_of(operator, 0, batch, watermarks=marks, keys=keys), watermark=watermark)
        )
    parts.append(run(operator, context, rows_of(operator, 0, [], watermarks=[], keys=keys), watermark=DRAINED))
    return pl.concat(parts, how="diagonal"), context.counters[LATE]


def restored(operator: Operator, old: FakeContext) -> FakeContext:
    """The states of a savepoint in a new job."""
    new = FakeContext(operator, old.watermark)
    new.counters = old.counters
    for spec in operator.states:
        operator.restore(spec.name, old.states[spec.name].frame, new)
    return new


@ROUNDS
@settings(max_examples=40, deadline=None)
@given(batches=streams(), frame=FRAMES, picked=PICKED, keyed=st.booleans(), delay=st.sampled_from([0, 2, 10**6]))
def test_by_event_time(
    number: int, batches: list[list[Row]], frame: Frame, picked: list[int], keyed: bool, delay: int
) -> None:
    if not keyed:
        batches = [[("a", *row[1:]) for row in batch] for batch in batches]
    picked = usable(frame, picked)
    keys = (0,) if keyed else ()
    times = [row[1] // 1000 for batch in batches for row in batch]
    if frame.preceding is not None and not frame.rows and times and max(times) - min(times) > frame.preceding:
        # A key that has been idle for long is forgotten, so that old rows of it are in time again.
        delay = 10**6
    operator = by_time(frame, picked, keys)
    changes, late = feed(operator, batches, delay, keys)
    rows, expected_late = timely([row for batch in batches for row in batch], delay, frame.preceding is not None)
    assert sorted(output_rows(operator, changes), key=str) == model(rows, frame, picked, keyed)
    assert late == expected_late
    assert set(changes[KIND]) <= {RowKind.INSERT}


@ROUNDS
@settings(max_examples=30, deadline=None)
@given(batches=streams(), frame=FRAMES, picked=PICKED, keyed=st.booleans())
def test_by_arrival(number: int, batches: list[list[Row]], frame: Frame, picked: list[int], keyed: bool) -> None:
    picked = usable(frame, picked)
    # Without a beginning each row has its own time.
    laid = Frame(frame.rows or frame.preceding is None, frame.preceding)
    operator = supplied(OverByArrival(shape(laid, picked, (0,) if keyed else ()), kept_ms=10**6))
    context = FakeContext(operator)
    found, rows = [], []
    for number, batch in enumerate(batches):
        context.now = number
        found += output_rows(operator, run(operator, context, rows_of(operator, 0, batch, keys=[0] if keyed else [])))
        rows += [(number, row) for row in batch]
    assert sorted(found, key=str) == model(rows, laid, picked, keyed)


@ROUNDS
@settings(max_examples=40, deadline=None)
@given(batches=streams(), rows_frame=st.booleans(), picked=PICKED, keyed=st.booleans(), data=st.data())
def test_by_a_column(
    number: int, batches: list[list[Row]], rows_frame: bool, picked: list[int], keyed: bool, data: st.DataObject
) -> None:
    frame = Frame(rows_frame, None)
    picked = usable(frame, picked)
    operator = supplied(OverChanges(shape(frame, picked, (0,) if keyed else ()), 2, nulls_last=False))
    context = FakeContext(operator)
    alive: list[Row] = []
    table: Counter[tuple[Any, ...]] = Counter()
    for number, batch in enumerate(batches):
        gone = data.draw(st.lists(st.sampled_from(alive), max_size=3, unique=True)) if alive else []
        context.now = number
        rows = [*gone, *batch]
        kinds = [*([RowKind.DELETE] * len(gone)), *([RowKind.INSERT] * len(batch))]
        changes = run(operator, context, rows_of(operator, 0, rows, kinds, keys=[0] if keyed else []))
        for values, kind in zip(output_rows(operator, changes), changes[KIND], strict=True):
            if kind in (RowKind.DELETE, RowKind.UPDATE_BEFORE):
                assert table[values], "it takes back what is not there"
                table[values] -= 1
            else:
                table[values] += 1
        alive = [row for row in alive if row not in gone] + batch
        expected = model([(-10 if row[2] is None else row[2], row) for row in alive], frame, picked, keyed)
        assert sorted(table.elements(), key=str) == expected


def test_rows_that_have_left_every_frame_leave_the_state() -> None:
    for frame, most in ((Frame(True, 3), 3), (Frame(False, 5), 6)):
        operator = by_time(frame, [2])
        context = FakeContext(operator)
        for n in range(40):
            run(operator, context, rows_of(operator, 0, [("a", n * 1000, 1, n)], keys=[0]), watermark=n)
        assert context.states[ROWS].frame.height <= most
        run(operator, context, rows_of(operator, 0, [("b", 10**9, 1, 0)], keys=[0]), watermark=10**6 - 1)
        run(operator, context, rows_of(operator, 0, [], keys=[0]), watermark=10**6)
        if not frame.rows:
            assert context.states[ROWS].frame["k0"].to_list() == ["b"]
    unbounded = OverByTime(shape(Frame(False, None), [2, 4], (0,)), 1)
    assert ROWS not in {spec.name for spec in unbounded.states}


def test_lag_does_not_reach_into_another_key() -> None:
    lag = next(at for at, each in enumerate(CALLS) if each[0] == "LAG")
    operator = by_time(Frame(False, None), [lag])
    rows: list[Row] = [(key, n * 1000, n, n) for n, key in enumerate("aaabbb", 1)]
    changes = run(operator, FakeContext(operator), rows_of(operator, 0, rows, keys=[0]), watermark=10)
    expected = [(1, None), (2, None), (3, 1), (4, None), (5, None), (6, 4)]
    assert sorted(changes.select("v", f"r{lag}").rows()) == expected
