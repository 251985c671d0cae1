"""Windows made of slices, local and global halves together, against a naive model: any cuts, tasks and watermarks."""

from __future__ import annotations

import pickle

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.aggregates import accumulator_columns
from execnodes.core.types import INT, STRING, Field, LogicalType, row, timestamp
from execnodes.core.windowing import SlicedWindowing, Windowing, WindowSpec
from execnodes.lowering.stream import KIND, SEQUENCE
from execnodes.state.operator import DRAINED
from execnodes.stream.global_window_aggregate.v1_kernel import GlobalWindowAggregateOperator
from execnodes.stream.local_window_aggregate.v1_kernel import LocalWindowAggregateKernel
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.kernels.test_window_aggregate import (
    CUMULATE,
    HOP,
    MERGEABLE,
    PROPERTIES,
    ROWTIME,
    TUMBLE,
    EventRow,
    _bounds,
    _expected,
    _operator,
    batches,
)  # fmt: skip

LONG = WindowSpec(type="HoppingWindow", size=33, slide=3)
KEYED, ALL = (0,), ()


def halves(
    window: WindowSpec, grouping: tuple[int, ...], time: LogicalType = ROWTIME, zone: str = "UTC"
) -> tuple[LocalWindowAggregateKernel, GlobalWindowAggregateOperator]:
    """Both kernels, as they come out of a pickle."""
    input_type = row(Field("k", STRING), Field("v", INT), Field("ts", time))
    keys = [input_type.fields[each] for each in grouping]
    partial = row(*keys, *accumulator_columns(MERGEABLE, input_type, False), Field("$slice_end", timestamp(3)))
    shown = (timestamp(3), timestamp(3), time)
    output = row(*keys, *(Field(c.name, c.type) for c in MERGEABLE), *map(Field, PROPERTIES, shown))
    by_time = Windowing(strategy="TimeAttribute", window=window, time_attribute_type=time, time_attribute_index=2)
    sliced = SlicedWindowing(window=window, time_attribute_type=time, slice_end=len(partial.fields) - 1)
    local = LocalWindowAggregateKernel(
        input_type=input_type, output_type=partial, grouping=grouping, calls=MERGEABLE,
        windowing=by_time, zone=zone,
    )  # fmt: skip
    whole = GlobalWindowAggregateOperator(
        uid="7_global-window-aggregate", input_type=partial, output_type=output, local_input_type=input_type,
        grouping=tuple(range(len(grouping))), calls=MERGEABLE, windowing=sliced, properties=PROPERTIES, zone=zone,
    )  # fmt: skip
    return pickle.loads(pickle.dumps((local, whole)))  # type: ignore[no-any-return]


@pytest.mark.parametrize("grouping", [KEYED, ALL], ids=["keyed", "all"])
@pytest.mark.parametrize("window", [TUMBLE, HOP, LONG, CUMULATE], ids=["tumble", "hop", "long", "cumulate"])
@pytest.mark.parametrize("by_row", [False, True])
@given(batches=batches, data=st.data())
@settings(max_examples=12, deadline=None)
def test_windows(
    window: WindowSpec, by_row: bool, grouping: tuple[int, ...], batches: list[tuple[list[EventRow], int]],
    data: st.DataObject,
) -> None:  # fmt: skip
    local, whole = halves(window, grouping)
    source = _operator(window)
    context, moves = FakeContext(whole), data.draw(st.integers(0, 5))
    windows: dict[tuple[int, int, str | None], list[int | None]] = {}
    watermark = None
    for number, (rows, following) in enumerate([*batches, ([], DRAINED)]):
        marks = [data.draw(st.none() | st.integers(-20, 40)) if by_row else None for _ in rows]
        for (k, v, ms), own in zip(rows, marks, strict=True):
            seen = max((each for each in (own, watermark) if each is not None), default=None)
            for bounds in [(s, e) for s, e in _bounds(window, ms) if seen is None or seen < e - 1]:
                windows.setdefault((*bounds, k if grouping else None), []).append(v)
        given = [(k, v, ms * 1000) for k, v, ms in rows]
        cut = data.draw(st.integers(0, len(given)))
        tasks = [
            rows_of(source, 0, given[a:b], None, marks[a:b] if by_row else None, a, grouping)
            for a, b in ((0, cut), (cut, len(given)))
        ]
        folded = pl.concat([local.fold(each) for each in tasks if len(each)] or [local.fold(tasks[0])])
        watermark = following if watermark is None else max(watermark, following)
        out = run(whole, context, folded, watermark=watermark)
        fired = {key: values for key, values in windows.items() if key[1] - 1 <= watermark}
        windows = {key: values for key, values in windows.items() if key not in fired}
        found = [(*(() if grouping else (None,)), *each) for each in out.drop(KIND, SEQUENCE).rows()]
        expected = [_expected(MERGEABLE, k, start, end, values) for (start, end, k), values in fired.items()]
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
        if number == moves:
            context = moved(whole, context)
    assert all(state.frame.is_empty() for state in context.states.values())


def moved(operator: GlobalWindowAggregateOperator, old: FakeContext) -> FakeContext:
    """The states of a savepoint in a new job."""
    new = FakeContext(operator, old.watermark)
    for name, state in old.states.items():
        operator.restore(name, state.frame, new)
    return new
