"""Window aggregates against a naive model: out-of-order rows, any cuts, watermarks by batch and by row."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.aggregates import resolve
from execnodes.core.errors import PlanError
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import INT, STRING, Field, LogicalType, TimeKind, row, timestamp, timestamp_ltz
from execnodes.core.windowing import NamedWindowProperty, Windowing, WindowSpec
from execnodes.lowering.stream import KIND, SEQUENCE
from execnodes.state.operator import DRAINED
from execnodes.stream.window_aggregate import WindowAggregate, v1
from execnodes.stream.window_aggregate.v1_kernel import LATE, WindowAggregateOperator
from execnodes.stream.window_aggregate.v1_windows import Windows
from tests.kernels.fake_state import FakeContext, rows_of, run

ROWTIME = timestamp(3, TimeKind.ROWTIME)
INSTANT = timestamp_ltz(3, TimeKind.ROWTIME)
PROPERTIES = ("WindowStart", "WindowEnd", "WindowTime")
TUMBLE = WindowSpec(type="TumblingWindow", size=5)
HOP = WindowSpec(type="HoppingWindow", size=10, slide=5, offset=-2)
CUMULATE = WindowSpec(type="CumulativeWindow", max_size=9, step=3, offset=1)


def _call(function: str, *args: int, distinct: bool = False) -> AggregateCall:
    internal, result = resolve(function, tuple((STRING, INT)[index] for index in args), distinct=distinct)
    name = f"{function}{'_d' if distinct else ''}"
    return AggregateCall(name=name, internal_name=internal, arg_list=args, distinct=distinct, type=result)


CALLS = (_call("COUNT"), _call("SUM", 1), _call("COUNT", 1, distinct=True), _call("LAST_VALUE", 1))
MERGEABLE = (_call("COUNT"), _call("SUM", 1), _call("MIN", 1), _call("AVG", 1))


def _operator(
    window: WindowSpec, time: LogicalType = ROWTIME, zone: str = "UTC", grouping: tuple[int, ...] = (0,),
    attached: bool = False, calls: tuple[AggregateCall, ...] = CALLS,
) -> WindowAggregateOperator:  # fmt: skip
    input_type = row(Field("k", STRING), Field("v", INT), Field("ts", time))
    keys = tuple(input_type.fields[index] for index in grouping)
    shown = (timestamp(3), timestamp(3), time)
    output = row(*keys, *(Field(c.name, c.type) for c in calls), *map(Field, PROPERTIES, shown))
    windowing = Windowing(
        strategy="WindowAttached" if attached else "TimeAttribute", window=window, time_attribute_type=time,
        time_attribute_index=None if attached else 2, window_end=2 if attached else None,
    )  # fmt: skip
    made = WindowAggregateOperator(
        uid="7_window-aggregate", input_type=input_type, output_type=output, grouping=grouping, calls=calls,
        windowing=windowing, properties=PROPERTIES, zone=zone,
    )  # fmt: skip
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, WindowAggregateOperator)
    return again


def _bounds(window: WindowSpec, ms: int) -> list[tuple[int, int]]:
    """All windows of a time by trying every window near it."""
    offset, found = window.offset or 0, []
    for position in range(-30, 60):
        if window.type == "CumulativeWindow":
            assert window.max_size
            assert window.step
            start = position * window.max_size + offset
            ends = range(start + window.step, start + window.max_size + 1, window.step)
        else:
            assert window.size
            start = position * (window.slide or window.size) + offset
            ends = range(start + window.size, start + window.size + 1)
        found += [(start, end) for end in ends if start <= ms < end]
    return found


EventRow = tuple[str | None, int | None, int]
batches = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(-3, 3), st.integers(-20, 40))),
        st.integers(-20, 40),
    ),
    max_size=5,
)


@pytest.mark.parametrize("window", [TUMBLE, HOP, CUMULATE], ids=["tumble", "hop", "cumulate"])
@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("calls", [CALLS, MERGEABLE], ids=["by_rows", "by_slices"])
@given(batches=batches, data=st.data())
@settings(max_examples=15, deadline=None)
def test_windows(
    window: WindowSpec, by_row: bool, calls: tuple[AggregateCall, ...], batches: list[tuple[list[EventRow], int]],
    data: st.DataObject,
) -> None:  # fmt: skip
    made = _operator(window, calls=calls)
    context = FakeContext(made)
    open_windows: dict[tuple[int, int, str | None], list[int | None]] = {}
    dropped, watermark = 0, None
    for rows, following in [*batches, ([], DRAINED)]:
        row_watermarks = [data.draw(st.none() | st.integers(-20, 40)) if by_row else None for _ in rows]
        for (k, v, ms), own in zip(rows, row_watermarks, strict=True):
            seen = max((each for each in (own, watermark) if each is not None), default=None)
            fitting = [(s, e) for s, e in _bounds(window, ms) if seen is None or seen < e - 1]
            dropped += not fitting
            for bounds in fitting:
                open_windows.setdefault((*bounds, k), []).append(v)
        frame = rows_of(
            made, 0, [(k, v, ms * 1000) for k, v, ms in rows], None, row_watermarks if by_row else None, keys=(0,)
        )
        watermark = following if watermark is None else max(watermark, following)
        out = run(made, context, frame, watermark=watermark)
        fired = {key: values for key, values in open_windows.items() if key[1] - 1 <= watermark}
        open_windows = {key: values for key, values in open_windows.items() if key not in fired}
        assert set(out[KIND].to_list()) <= {0}
        assert sorted(map(repr, out.drop(KIND, SEQUENCE).rows())) == sorted(
            repr(_expected(calls, k, start, end, values)) for (start, end, k), values in fired.items()
        )
    assert context.counters[LATE] == dropped
    assert all(state.frame.is_empty() for state in context.states.values())


def _expected(
    calls: tuple[AggregateCall, ...], k: str | None, start: int, end: int, values: Sequence[int | None]
) -> tuple[object, ...]:
    there = [value for value in values if value is not None]
    count, total = len(values), sum(there) if there else None
    results: tuple[object, ...] = (count, total, len(set(there)), there[-1] if there else None)
    if calls is MERGEABLE:
        results = (count, total, min(there, default=None), int(sum(there) / len(there)) if there else None)
    return (k, *results, start * 1000, end * 1000, (end - 1) * 1000)


def test_a_row_exactly_at_the_last_millisecond_is_late() -> None:
    made = _operator(TUMBLE)
    context = FakeContext(made, watermark=3)
    assert run(made, context, rows_of(made, 0, [("a", 1, 4000)]), watermark=3).is_empty()
    assert run(made, context, rows_of(made, 0, []), watermark=4).select("COUNT").rows() == [(1,)]
    assert run(made, context, rows_of(made, 0, [("a", 1, 4000)]), watermark=5).is_empty()
    assert context.counters[LATE] == 1


def test_windows_read_from_columns_and_no_keys() -> None:
    made = _operator(HOP, grouping=(), attached=True)
    context = FakeContext(made)
    out = run(made, context, rows_of(made, 0, [("a", 1, 8000), ("b", 2, 8000), ("b", 3, 13000)]), watermark=7)
    assert out.drop(KIND, SEQUENCE).rows() == [(2, 3, 2, 2, -2000, 8000, 7000)]
    assert context.wakes == {12}


def test_windows_beyond_the_end_of_input_fire_at_the_end() -> None:
    made = _operator(TUMBLE)
    context = FakeContext(made)
    run(made, context, rows_of(made, 0, [("a", 1, (DRAINED + 10**9) * 1000)]))
    assert context.wakes == {DRAINED - 1}
    assert run(made, context, rows_of(made, 0, []), watermark=DRAINED).height == 1


def _micros(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def test_instants_are_in_windows_of_local_time() -> None:
    day = WindowSpec(type="TumblingWindow", size=86_400_000)
    made = _operator(day, INSTANT, "Europe/Berlin")
    context = FakeContext(made)
    rows = [("a", i, _micros("2024-03-31T01:00:00") + i * 1_800_000_000) for i in range(9)]
    end = _micros("2024-03-31T22:00:00") // 1000
    assert run(made, context, rows_of(made, 0, rows), watermark=end - 2).is_empty()
    out = run(made, context, rows_of(made, 0, []), watermark=end - 1)
    bounds = (_micros("2024-03-31T00:00:00"), _micros("2024-04-01T00:00:00"), _micros("2024-03-31T22:00:00") - 1000)
    assert out.drop(KIND, SEQUENCE).rows() == [("a", 9, 36, 9, 8, *bounds)]


@pytest.mark.parametrize(
    ("end", "fires", "shown"),
    [
        # The hour from 2 to 3 is there twice on 2024-10-27, and not at all on 2024-03-31.
        ("2024-10-27T03:00:00", "2024-10-27T02:00:00", "2024-10-27T01:00:00"),
        ("2024-03-31T02:30:00", "2024-03-31T01:00:00.001", "2024-03-31T01:30:00"),
    ],
)
def test_the_clock_change(end: str, fires: str, shown: str) -> None:
    windowing = Windowing(strategy="TimeAttribute", window=TUMBLE, time_attribute_type=INSTANT, time_attribute_index=2)
    windows = Windows(windowing, "Europe/Berlin")
    end_micros = pl.lit(_micros(end))
    firing, time = pl.select(windows.firing(end_micros), windows.time(end_micros).alias("time")).row(0)
    moment = datetime.fromisoformat(fires).replace(tzinfo=UTC)
    assert firing + 1 == (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert time == _micros(shown) - 1000


def test_node_refuses_windows_it_cannot_compute() -> None:
    made = _operator(TUMBLE)
    input_type = row(*(Field(column.name, column.type) for column in made.inputs[0]))
    node = WindowAggregate(
        id=7, description="", output_type=row(*(Field(column.name, column.type) for column in made.output)),
        grouping=(0,), agg_calls=CALLS, windowing=made.windowing,
        named_window_properties=tuple(
            NamedWindowProperty.model_validate({"name": name, "property": name}) for name in PROPERTIES
        ),
    )  # fmt: skip
    node.check((input_type,))
    assert node.uids() == ("7_window-aggregate",)
    session = made.windowing.model_copy(update={"window": WindowSpec(type="SessionWindow", gap=5)})
    with pytest.raises(PlanError, match="the keys of a SessionWindow must be those of the grouping"):
        node.replaced(windowing=session).check((input_type,))
    with pytest.raises(PlanError, match="cannot aggregate over a SessionWindow"):
        v1.WindowAggregate.model_validate(
            {name: getattr(node, name) for name in v1.WindowAggregate.model_fields} | {"windowing": session}
        ).check((input_type,))
    uneven = made.windowing.model_copy(update={"window": WindowSpec(type="HoppingWindow", size=5, slide=3)})
    with pytest.raises(PlanError, match="must be a multiple of its step"):
        node.replaced(windowing=uneven).check((input_type,))
