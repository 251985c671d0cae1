"""Aggregate functions of the user in plans, and what the planner says of them."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from execnodes.core.errors import FunctionError, PlanError, SqlError
from execnodes.core.types import BIGINT, DOUBLE, parse_type
from execnodes.state.serializers.make import serializer_of, snapshot_of
from execnodes.state.serializers.pickled import PickleSerializer
from execnodes.user_functions.loading import definition_of
from plans.format.calls import map_calls, user_calls
from rekindle import Over, Row, Tumble, col, lit
from rekindle import call as api_call
from rekindle.api.table_environment import TableEnvironment
from rekindle.udf import udaf
from tests.user_functions import examples
from tests.user_functions.test_plans import TABLE, environment


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
        places = [each for each in plan["places"] if each["text"].startswith("LATEST")]
        (call,) = (each for each in places if each["path"])
        assert (call["line"], call["column"]) == (1, 8)
        assert {each["node"] for each in places} == {call["node"]}  # that of an OVER node itself names its rows' errors


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


def test_a_row_without_fields_cannot_be_an_accumulator() -> None:
    with pytest.raises(FunctionError, match="cannot be an accumulator"):
        serializer_of(udaf(examples.Latest, accumulator_type="ROW<>").definition)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("ARRAY<BIGINT>", "ARRAY<BIGINT>", ""),
        ("MAP<STRING, BIGINT>", "MAP<STRING, INT>", "the accumulator was MAP<STRING, BIGINT> and is MAP<STRING, INT>"),
        ("ROW<x BIGINT>", "BIGINT", "the accumulator was not one value"),
    ],
)
def test_accumulators_of_one_value_keep_their_type(before: str, after: str, reason: str) -> None:
    old, new = (serializer_of(udaf(examples.Latest, accumulator_type=each).definition) for each in (before, after))
    found = new.snapshot().resolve_schema_compatibility(snapshot_of(old.schema()))
    assert found.reason == reason
    assert snapshot_of(new.schema()).restore_serializer().from_row(new.to_row([1])) == [1]


@pytest.mark.parametrize("value", [Row(1, "a"), [1, "a"], {"n": 1, "s": "a"}])
def test_accumulators_that_are_rows_are_found_by_place_and_name(value: object) -> None:
    serializer = serializer_of(udaf(examples.Latest, accumulator_type="ROW<n BIGINT, s STRING>").definition)
    accumulator = serializer.from_row(serializer.to_row(value))
    accumulator[0] += 1
    assert (accumulator[0], accumulator["n"], accumulator.s) == (2, 2, "a")
    assert list(serializer.to_row(accumulator)) == [2, "a"]
    with pytest.raises(ValueError, match="2 fields"):
        serializer.to_row([1])


def test_pickled_rows_are_read_again() -> None:
    pickled = PickleSerializer("")
    assert pickled.deserialize(pickled.serialize([Row(1, Row(a=2))])) == [Row(1, Row(a=2))]


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
