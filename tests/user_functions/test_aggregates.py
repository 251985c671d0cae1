"""Aggregate functions of the user: the kernel against plain Python, and what the planner says of them."""

from __future__ import annotations

import json
import logging
import pickle
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.errors import FunctionError, JobError, PlanError, SqlError
from execnodes.core.expressions import AggregateCall
from execnodes.core.places import explain, place
from execnodes.core.types import BIGINT, BOOLEAN, DOUBLE, STRING, Field, parse_type, row
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
from plans.format.calls import map_calls, user_calls
from rekindle import Over, Tumble, col, lit
from rekindle import call as api_call
from rekindle.api.table_environment import TableEnvironment
from rekindle.udf import AggregateFunction, udaf
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.user_functions import examples
from tests.user_functions.test_plans import TABLE, environment

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


def registered(*statements: str) -> TableEnvironment:
    made = environment(*statements)
    made.create_temporary_system_function("wmean", examples.WeightedMean)
    made.create_temporary_system_function("latest", udaf(examples.Latest))
    made.create_temporary_system_function("distinct_texts", examples.Distinct)
    made.create_temporary_system_function("shout", examples.shout)
    return made


def test_the_call_in_a_plan() -> None:
    plan = json.loads(
        registered().compile_plan_sql("SELECT b, WMEAN(a, 2), COUNT(*) FROM t GROUP BY b").as_json_string()
    )
    node = next(each for each in plan["nodes"] if each["type"] == "stream-exec-python-group-aggregate_3")
    (mean, count) = node["aggCalls"]
    assert count["internalName"] == "$COUNT$1"
    assert mean["systemName"] == "wmean"
    assert mean["retractable"] is True
    assert mean["accumulator"] == {
        "serializer": "dataclass",
        "version": 1,
        "type": "ROW<`total` DOUBLE, `weight` DOUBLE>",
        "configuration": {
            "class": f"{examples.__name__}:MeanState",
            "columns": "ROW<`total` DOUBLE, `weight` DOUBLE>",
            "defaults": '{"total": 0.0, "weight": 0.0}',
        },
    }
    assert [each["name"] for each in node["state"]] == ["pythonGroupAggregateState"]


RETRACTING = "(SELECT b, COUNT(*) AS c FROM t GROUP BY b)"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"SELECT LATEST(b) FROM {RETRACTING}", "latest cannot take rows back"),
        ("SELECT WMEAN(b, 1) FROM t", r"wmean does not take \(STRING, INT NOT NULL\)"),
        ("SELECT a FROM t WHERE LATEST(b) = 'x'", "aggregate function LATEST may not stand"),
        ("SELECT LATEST(b) OVER () FROM t", "OVER needs ORDER BY"),
        ("SELECT LATEST(b) FILTER (WHERE TRUE) OVER (ORDER BY a) FROM t", "FILTER with OVER"),
        ("SELECT WMEAN(DISTINCT a, 2) OVER (ORDER BY a) FROM t", "takes one argument"),
        ("SELECT WMEAN(b, 1) OVER (ORDER BY a) FROM t", r"wmean does not take \(STRING, INT NOT NULL\)"),
        ("SELECT LATEST(*) FROM t", r"\*"),
        (
            "SELECT LATEST(DISTINCT b) FROM w GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
            r"latest\(DISTINCT …\) is not supported in windows of GROUP BY",
        ),
    ],
)
def test_refused_with_its_place(query: str, message: str) -> None:
    made = registered(
        "CREATE TABLE w (b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"
    )
    with pytest.raises(SqlError, match=message) as caught:
        made.compile_plan_sql(query)
    assert caught.value.position is not None


EVENTS = "CREATE TABLE w (b STRING, a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"
MINUTE = "TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
WINDOWS = [MINUTE, "HOP(TABLE w, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)",
           "CUMULATE(TABLE w, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)",
           "SESSION(TABLE w, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "node"),
    [
        ("SELECT LATEST(b) OVER (PARTITION BY b ORDER BY ts), SUM(a) OVER (PARTITION BY b ORDER BY ts) FROM w",
         "stream-exec-over-aggregate_1"),
        ("SELECT LATEST(DISTINCT b) OVER (ORDER BY a) FROM w", "stream-exec-over-aggregate_1"),
        (f"SELECT LATEST(b) FROM TABLE({MINUTE}) GROUP BY window_start, window_end", "stream-exec-window-aggregate_2"),
        ("SELECT LATEST(b) FROM w GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)", "stream-exec-window-aggregate_2"),
        ("SELECT LATEST(b) FROM w GROUP BY HOP(ts, INTERVAL '7' SECOND, INTERVAL '1' MINUTE)",
         "stream-exec-group-window-aggregate_1"),
        ("SELECT LATEST(DISTINCT b) FILTER (WHERE a > 1) FROM w", "stream-exec-python-group-aggregate_3"),
        *((f"SELECT LATEST(DISTINCT b), SUM(a) FROM TABLE({each}) GROUP BY window_start, window_end",
           "stream-exec-python-group-aggregate_3") for each in WINDOWS),
    ],
)  # fmt: skip
def test_where_it_stands(query: str, node: str) -> None:
    """It is in one node, with its place, whatever strategy is set for the phases."""
    for strategy in ("AUTO", "TWO_PHASE"):
        made = registered(EVENTS, f"SET 'table.optimizer.agg-phase-strategy' = '{strategy}'")
        plan = json.loads(made.compile_plan_sql(query).as_json_string())
        assert [each["type"] for each in plan["nodes"] if '"latest"' in json.dumps(each)] == [node]
        (place,) = (each for each in plan["places"] if each["text"].startswith("LATEST"))
        assert (place["line"], place["column"]) == (1, 8)


@pytest.mark.parametrize(
    ("query", "change", "message"),
    [
        (f"SELECT LATEST(b) FROM TABLE({MINUTE}) GROUP BY window_start, window_end", {"distinct": True},
         "latest cannot be DISTINCT in windows"),
        ("SELECT LATEST(b) FROM w GROUP BY HOP(ts, INTERVAL '7' SECOND, INTERVAL '1' MINUTE)", {"distinct": True},
         "latest cannot be DISTINCT in windows"),
        (f"SELECT LATEST(b) FROM TABLE({MINUTE}) GROUP BY window_start, window_end", {"accumulator": None},
         "the accumulator of latest is missing"),
        ("SELECT LATEST(b) OVER (ORDER BY ts) FROM w", {"accumulator": None}, "the accumulator of latest is missing"),
        ("SELECT WMEAN(a, a) OVER (ORDER BY ts) FROM w", {"distinct": True}, "DISTINCT with OVER takes one argument"),
    ],
)  # fmt: skip
def test_plans_that_no_planner_makes(query: str, change: dict[str, Any], message: str) -> None:
    graph = registered(EVENTS).compile_plan_sql(query).graph
    (node,) = (each for each in graph.nodes if any(user_calls(each)))
    changed = map_calls(node, lambda call: call.model_copy(update=change))
    with pytest.raises(PlanError, match=message):
        changed.check(tuple(each.output_type for each in graph.inputs_of(node)))


def test_the_table_api_makes_the_same_plans() -> None:
    made = registered(EVENTS)
    events = made.from_path("w")
    by_key = Over.partition_by(col("b")).order_by(col("ts")).alias("o")
    tables = {
        "SELECT b, LATEST(b) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS l "
        "FROM w": events.over_window(by_key).select(col("b"), api_call("latest", col("b")).over(col("o")).alias("l")),
        "SELECT b, LATEST(b) AS l FROM w GROUP BY b, TUMBLE(ts, INTERVAL '1' MINUTE)": events.window(
            Tumble.over(lit(1).minutes).on(col("ts")).alias("x")
        ).group_by(col("b"), col("x")).select(col("b"), api_call("latest", col("b")).alias("l")),
        "SELECT b, LATEST(DISTINCT b) AS l FROM w GROUP BY b": events.group_by(col("b")).select(
            col("b"), api_call("latest", col("b")).distinct.alias("l")
        ),
    }  # fmt: skip
    for query, table in tables.items():
        assert table.explain() == made.explain_sql(query)


def test_pickled_accumulators_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="rekindle.functions"):
        registered().compile_plan_sql("SELECT DISTINCT_TEXTS(b) FROM t")
    assert "can only be pickled, so its state can never evolve" in caplog.text


@pytest.mark.parametrize(
    ("accumulator", "message"), [("BIGINT", "cannot be an accumulator"), ("ROW<>", "cannot be an accumulator")]
)
def test_what_cannot_be_an_accumulator(accumulator: str, message: str) -> None:
    with pytest.raises(FunctionError, match=message):
        serializer_of(udaf(examples.Latest, accumulator_type=accumulator).definition)


def test_a_function_that_lost_retract_is_refused() -> None:
    plan = registered().compile_plan_sql("SELECT WMEAN(a, 2) FROM t")

    class Weighted(examples.WeightedMean):
        retract = None  # type: ignore[assignment]  # as if it had none

    other = TableEnvironment.create()
    other.execute_sql(TABLE)
    other.create_temporary_system_function("wmean", Weighted)
    with pytest.raises(PlanError, match="wmean has changed"):
        other.functions_of(plan.graph)


def test_types_of_results() -> None:
    assert definition_of(examples.WeightedMean, "f").result == DOUBLE
    assert definition_of(examples.Spread, "f").result == BIGINT
    assert definition_of(udaf(examples.Latest, result_type="ARRAY<CHAR(1)>"), "f").result == parse_type(
        "ARRAY<CHAR(1)>"
    )
