"""Windows of old against a naive model: any size and slide, early fire, allowed lateness, rows that are taken back."""

from __future__ import annotations

import pickle
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.aggregates import RECORD_COUNT
from execnodes.core.types import INT, STRING, Field, row, timestamp
from execnodes.core.windowing import Windowing, WindowSpec
from execnodes.lowering.stream import KIND, SEQUENCE
from execnodes.state.operator import DRAINED
from execnodes.stream.group_window_aggregate.v1_kernel import LATE, GroupWindowAggregateOperator
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.kernels.test_window_aggregate import PROPERTIES, ROWTIME, TUMBLE, EventRow, _bounds, _call, batches

CALLS = (_call("COUNT"), _call("COUNT", 1, distinct=True))
OVERLAPPING = WindowSpec(type="HoppingWindow", size=7, slide=3, offset=-1)
HOLES = WindowSpec(type="HoppingWindow", size=3, slide=7)
INPUT = row(Field("k", STRING), Field("v", INT), Field("ts", ROWTIME))


def operator(
    window: WindowSpec, early: bool = False, lateness: int = 0, retract: bool = False
) -> GroupWindowAggregateOperator:
    shown = (timestamp(3), timestamp(3), ROWTIME)
    output = row(
        INPUT.fields[0], *(Field(f"c{at}", c.type) for at, c in enumerate(CALLS)), *map(Field, PROPERTIES, shown)
    )
    windowing = Windowing(strategy="TimeAttribute", window=window, time_attribute_type=ROWTIME, time_attribute_index=2)
    made = GroupWindowAggregateOperator(
        uid="7_group-window-aggregate", input_type=INPUT, output_type=output, grouping=(0,), calls=CALLS,
        windowing=windowing, properties=PROPERTIES, zone="UTC", retract=retract, update_before=True, early=early,
        lateness_ms=lateness,
    )  # fmt: skip
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, GroupWindowAggregateOperator)
    return again


@pytest.mark.parametrize("window", [TUMBLE, OVERLAPPING, HOLES], ids=["tumble", "overlapping", "holes"])
@pytest.mark.parametrize(("early", "lateness"), [(False, 0), (True, 0), (False, 6), (True, 6)])
@pytest.mark.parametrize("retract", [False, True])
@given(batches=batches, data=st.data())
@settings(max_examples=12, deadline=None)
def test_windows(
    window: WindowSpec, early: bool, lateness: int, retract: bool, batches: list[tuple[list[EventRow], int]],
    data: st.DataObject,
) -> None:  # fmt: skip
    made = operator(window, early, lateness, retract)
    context, moves = FakeContext(made), data.draw(st.integers(0, 5))
    windows: dict[tuple[str | None, int, int], Counter[int | None]] = {}
    given, alive = Counter[tuple[object, ...]](), list[EventRow]()
    watermark, late = -20, 0
    for number, (rows, following) in enumerate([*batches, ([], DRAINED)]):
        context.watermark = watermark
        taken, kinds = list[EventRow](), list[int]()
        for each in rows:
            back = retract and bool(alive) and data.draw(st.booleans())
            event = alive.pop(data.draw(st.integers(0, len(alive) - 1))) if back else each
            alive += [] if back else [each]
            taken.append(event)
            kinds.append(3 if back else 0)
            k, v, ms = event
            every = _bounds(window, ms)
            open_ = [(start, end) for start, end in every if watermark < end - 1 + lateness]
            late += bool(every) and not open_
            for start, end in open_:
                windows.setdefault((k, start, end), Counter())[v] += -1 if back else 1
        frame = rows_of(made, 0, [(k, v, ms * 1000) for k, v, ms in taken], kinds, keys=(0,))
        before, watermark = watermark, max(watermark, following)
        for *values, kind in run(made, context, frame, watermark=watermark).drop(SEQUENCE, strict=False).rows():
            given[tuple(values)] += 1 if kind in (0, 2) else -1
            assert given[tuple(values)] in (0, 1), "what is taken away was there, and nothing is there twice"
        shown = {
            (k, sum(seen.values()), _distinct(seen), start * 1000, end * 1000, (end - 1) * 1000)
            for (k, start, end), seen in windows.items()
            if (early or end - 1 <= watermark) and sum(seen.values()) > 0
        }
        if not retract or all(min(seen.values()) >= 0 for seen in windows.values()):
            assert {each for each, count in given.items() if count} == shown
        context = moved(made, context) if number == moves else context
        assert before <= watermark
    assert context.counters[LATE] == late
    assert all(state.frame.is_empty() for state in context.states.values())


def _distinct(seen: Counter[int | None]) -> int:
    return len([value for value, count in seen.items() if value is not None and count])


def moved(made: GroupWindowAggregateOperator, old: FakeContext) -> FakeContext:
    """The states of a savepoint in a new job."""
    new = FakeContext(made, old.watermark)
    new.counters = old.counters
    for name, state in old.states.items():
        made.restore(name, state.frame, new)
    return new


def test_what_is_counted_ends_with_the_last_row() -> None:
    made = operator(TUMBLE, early=True, retract=True)
    context = FakeContext(made)
    assert RECORD_COUNT in {column.name for column in made.states[0].columns}
    assert run(made, context, rows_of(made, 0, [("a", 1, 0)], keys=(0,)))[KIND].to_list() == [0]
    assert run(made, context, rows_of(made, 0, [("a", 1, 0)], [3], keys=(0,)))[KIND].to_list() == [3]
    assert made.states[0].name in context.states
    assert context.states[made.states[0].name].frame.is_empty()
