"""Aggregate functions of the user: the kernel against plain Python."""

from __future__ import annotations

import json
import pickle
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.errors import JobError
from execnodes.core.expressions import AggregateCall
from execnodes.core.places import explain, place
from execnodes.core.types import BIGINT, BOOLEAN, DOUBLE, STRING, Field, row
from execnodes.lowering.stream import KIND
from execnodes.state.kernel_types import Column
from execnodes.state.serializers.make import serializer_of
from execnodes.stream.over_aggregate.v1_frames import Frame
from execnodes.stream.over_aggregate.v1_functions import OverFunctions
from execnodes.stream.over_aggregate.v1_kernel import OverByArrival, OverShape
from execnodes.stream.python_group_aggregate.v1_kernel import STATE, PythonGroupAggregateOperator
from execnodes.stream.python_group_aggregate.v3_kernel import DistinctOperator
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.loading import definition_of
from rekindle.udf import AggregateFunction
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.user_functions import examples

INPUT = row(Field("k", STRING), Field("v", DOUBLE), Field("w", DOUBLE), Field("s", STRING), Field("f", BOOLEAN))
INSERT, DELETE = 0, 3


def call(function: Any, *args: int, name: str = "u", filtered: bool = False) -> AggregateCall:
    definition = definition_of(function, name)
    assert isinstance(definition, AggregateDefinition)
    return AggregateCall(
        name=name, system_name=name, arg_list=args, filter_arg=4 if filtered else -1, type=definition.result,
        accumulator=serializer_of(definition).schema(), retractable=definition.retractable,
    )  # fmt: skip


COUNT = AggregateCall(name="c", internal_name="$COUNT$1", type=BIGINT.not_null())


def operator(
    functions: dict[str, Any], calls: Sequence[AggregateCall], retract: bool = False, grouping: tuple[int, ...] = (0,),
    cls: type[PythonGroupAggregateOperator] = PythonGroupAggregateOperator, ttl_ms: int = 0,
) -> PythonGroupAggregateOperator:  # fmt: skip
    keys = [INPUT.fields[at] for at in grouping]
    made = cls(
        uid="1_python-group-aggregate", input_type=INPUT, grouping=grouping, calls=tuple(calls), retract=retract,
        output_type=row(*keys, *(Field(each.name, each.type) for each in calls)), update_before=True, ttl_ms=ttl_ms,
    )  # fmt: skip
    made.supply({name: definition_of(function, name) for name, function in functions.items()})
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, PythonGroupAggregateOperator)
    return again


def materialized(changes: Sequence[pl.DataFrame], width: int = 1) -> dict[Any, tuple[Any, ...]]:
    """Keys to results, after all changes; each must fit what was there."""
    found: dict[Any, tuple[Any, ...]] = {}
    for frame in changes:
        names = [name for name in frame.columns if not name.startswith("rk_")]
        for kind, *values in frame.select(KIND, *names).iter_rows():
            key, results = tuple(values[:width]), tuple(values[width:])
            if kind in (1, 3):
                assert found.pop(key) == results
            else:
                assert key not in found
                found[key] = results
    return found


table = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", None]),
        st.none() | st.integers(-4, 4).map(float), st.none() | st.integers(1, 3).map(float),
        st.none() | st.sampled_from(["a", "b"]), st.none() | st.booleans(),
    ),
    max_size=12,
)  # fmt: skip


def weighted(rows: Sequence[tuple[Any, ...]]) -> float | None:
    pairs = [(v, w) for _, v, w, _, _ in rows if v is not None and w is not None]
    return sum(v * w for v, w in pairs) / sum(w for _, w in pairs) if pairs else None


MODELS: dict[str, tuple[Any, tuple[int, ...], bool, Callable[[Sequence[tuple[Any, ...]]], Any]]] = {
    "mean": (examples.WeightedMean, (1, 2), False, weighted),
    "mean_f": (examples.WeightedMean, (1, 2), True, lambda rows: weighted([each for each in rows if each[4]])),
    "latest": (examples.Latest, (3,), False, lambda rows: [each[3] for each in rows][-2:]),
    "spread": (
        examples.Spread, (1,), False,
        lambda rows: (max(v) - min(v)) if (v := [int(e[1]) for e in rows if e[1] is not None]) else None,
    ),
    "distinct": (examples.Distinct, (3,), False, lambda rows: len({each[3] for each in rows} - {None})),
}  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(table, st.integers(1, 5), st.sampled_from([(0,), ()]))
def test_against_plain_python(rows: list[tuple[Any, ...]], size: int, grouping: tuple[int, ...]) -> None:
    calls = [call(function, *args, name=name, filtered=f) for name, (function, args, f, _) in MODELS.items()]
    made = operator(
        {name: model[0] for name, model in MODELS.items()}, [*calls[:2], COUNT, *calls[2:]], False, grouping
    )
    context = FakeContext(made)
    cuts = [rows[at : at + size] for at in range(0, len(rows), size)]
    changes = [run(made, context, rows_of(made, 0, cut, keys=grouping)) for cut in cuts]
    groups = defaultdict(list)
    for each in rows:
        groups[tuple(each[at] for at in grouping)].append(each)
    expected = {}
    for key, members in groups.items():
        results = [model(members) for _, _, _, model in MODELS.values()]
        results = [json.dumps(r, separators=(",", ":")) if isinstance(r, list) else r for r in results]
        expected[key] = (*results[:2], len(members), *results[2:])
    assert materialized(changes, len(grouping)) == expected


@settings(deadline=None, max_examples=40)
@given(table, st.data())
def test_rows_are_taken_back(rows: list[tuple[Any, ...]], data: st.DataObject) -> None:
    made = operator({"mean": examples.WeightedMean}, [call(examples.WeightedMean, 1, 2, name="mean")], retract=True)
    context = FakeContext(made)
    gone = [each for each in rows if data.draw(st.booleans())]
    changes = [run(made, context, rows_of(made, 0, rows, keys=(0,)))] if rows else []
    if gone:
        changes.append(run(made, context, rows_of(made, 0, gone, [DELETE] * len(gone), keys=(0,))))
    left = list(rows)
    for each in gone:
        left.remove(each)
    expected = {(key,): (weighted([e for e in left if e[0] == key]),) for key in {each[0] for each in left}}
    found = materialized(changes)
    assert set(found) == set(expected)
    assert all(
        a[0] == pytest.approx(b[0]) if b[0] else not a[0] for a, b in ((found[k], expected[k]) for k in expected)
    )
    assert len(context.states[STATE].frame) == len(expected)


def distinct(values: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(values))


@settings(deadline=None, max_examples=80)
@given(table, st.integers(1, 5), st.sampled_from([(0,), ()]), st.data(), st.sampled_from([0, 1000]))
def test_distinct_arguments(
    rows: list[tuple[Any, ...]], size: int, grouping: tuple[int, ...], data: st.DataObject, ttl_ms: int
) -> None:
    """Sums of weights are told apart from those with duplicates; the order of rows is that of first occurrences."""
    gone = [each for each in rows if data.draw(st.booleans())] if data.draw(st.booleans()) else []
    functions: dict[str, Any] = {
        "mean": examples.WeightedMean,
        "plain": examples.WeightedMean,
        "filtered": examples.WeightedMean,
    }
    calls = [
        call(function, 1, 2, name=name, filtered=name == "filtered").model_copy(update={"distinct": name != "plain"})
        for name, function in functions.items()
    ]
    if not gone:
        functions["latest"] = examples.Latest
        calls.append(call(examples.Latest, 3, name="latest").model_copy(update={"distinct": True}))
    made = operator(functions, [COUNT, *calls], bool(gone), grouping, DistinctOperator, ttl_ms)
    context = FakeContext(made)
    cuts = [(INSERT, rows[at : at + size]) for at in range(0, len(rows), size)]
    cuts += [(DELETE, gone[at : at + size]) for at in range(0, len(gone), size)]
    changes = [run(made, context, rows_of(made, 0, cut, [kind] * len(cut), keys=grouping)) for kind, cut in cuts]
    left = list(rows)
    for each in gone:
        left.remove(each)
    groups = defaultdict(list)
    for each in left:
        groups[tuple(each[at] for at in grouping)].append(each)
    found = materialized(changes, len(grouping))
    assert set(found) == set(groups)
    for key, members in groups.items():
        pairs = [(None, *each, None, None) for each in distinct([each[1:3] for each in members])]
        passing = [(None, *each, None, None) for each in distinct([each[1:3] for each in members if each[4]])]
        count, *results = found[key]
        assert count == len(members)
        for result, seen in zip(results, (pairs, members, passing), strict=False):
            assert (result or 0) == pytest.approx(weighted(seen) or 0)
        if not gone:
            texts = distinct([each[3:4] for each in members])[-2:]
            assert json.loads(results[3]) == [each for (each,) in texts]
    if gone and len(gone) == len(rows):
        assert all(each.frame.is_empty() for each in context.states.values())


class Negative(examples.WeightedMean):
    """The same accumulators, another result."""

    def get_value(self, accumulator: examples.MeanState) -> float | None:
        return -accumulator.total


def test_what_was_given_is_taken_back_as_the_function_of_today_tells_it() -> None:
    calls = [call(examples.WeightedMean, 1, 2, name="mean")]
    before = operator({"mean": examples.WeightedMean}, calls)
    context = FakeContext(before)
    run(before, context, rows_of(before, 0, [("x", 8.0, 2.0, None, None)], keys=(0,)))
    changes = run(
        now := operator({"mean": Negative}, calls), context, rows_of(now, 0, [("x", 1.0, 1.0, None, None)], keys=(0,))
    )
    assert changes.select(KIND, "mean").rows() == [(1, -16.0), (2, -17.0)]


class Broken(AggregateFunction):
    def create_accumulator(self) -> examples.MeanState:
        return examples.MeanState()

    def accumulate(self, accumulator: examples.MeanState, value: float) -> None:
        accumulator.total = 1 / value

    def get_value(self, accumulator: examples.MeanState) -> str:
        return accumulator.total  # type: ignore[return-value]  # what is tested


@pytest.mark.parametrize(
    ("value", "message"),
    [(0.0, r"function u failed for \(0.0\): ZeroDivisionError"), (1.0, "function u failed in get_value: TypeError")],
)
def test_failures_name_the_function(value: float, message: str) -> None:
    made = operator({"u": Broken}, [call(Broken, 1)])
    with pytest.raises(JobError, match=message):
        run(made, FakeContext(made), rows_of(made, 0, [("x", value, None, None, None)], keys=(0,)))


def test_failures_over_rows_name_the_function_and_the_place() -> None:
    failing = call(Broken, 1).put(place(3, 7, "U(v)"))
    columns = tuple(Column(each.name, each.type) for each in INPUT.fields)
    functions = OverFunctions(columns, (failing,), (), Frame(True, 1))
    made = OverByArrival(OverShape("1_over-aggregate", (*columns, Column("u", failing.type)), (0,), functions))
    made.supply({"u": definition_of(Broken, "u")})
    rows = rows_of(made, 0, [("x", 0.0, None, None, None)], keys=(0,))
    with pytest.raises(JobError, match=r"function u failed for \(0.0\): ZeroDivisionError") as caught:
        run(made, FakeContext(made), rows)
    assert str(explain(caught.value.message)[1]) == "line 3, column 7: U(v)"


def test_the_columns_of_state() -> None:
    made = operator({"m": examples.WeightedMean}, [COUNT, call(examples.WeightedMean, 1, 2, name="m")], retract=True)
    assert [(each.name, str(each.type)) for each in made.states[0].columns] == [
        ("k0", "STRING"), ("record_count", "BIGINT NOT NULL"), ("c$count", "BIGINT"), ("m$total", "DOUBLE"),
        ("m$weight", "DOUBLE"),
    ]  # fmt: skip


# -- the planner
