"""Aggregate functions of the user in batch: lists that are folded, against each frame computed by itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from execnodes.core.changelog import RowKind
from execnodes.core.errors import JobError, PlanError
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT, STRING, LogicalType, parse_type
from execnodes.kernels.aggregates.user_groups import UserGroups, UserPartitions
from execnodes.state.serializers.make import serializer_of
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.arrow_values import reader, writer
from execnodes.user_functions.equal_values import key_of
from execnodes.user_functions.loading import definition_of
from plans.format.calls import map_calls, user_calls
from rekindle import Over, col
from rekindle import call as api_call
from rekindle.api.table_environment import TableEnvironment
from rekindle.udf import AggregateFunction, udaf
from tests.user_functions import examples

BATCH = {"execution.runtime-mode": "batch"}


class Listed(AggregateFunction):
    """All that it was given, in the list that it goes on with."""

    def create_accumulator(self) -> dict[str, Any]:
        return {"v": []}

    def accumulate(self, accumulator: dict[str, Any], value: Any) -> None:
        accumulator["v"].append(None if value is None else str(value))

    def get_value(self, accumulator: dict[str, Any]) -> Any:
        return accumulator["v"]


class Lost(Listed):
    """None where an INT must be."""

    def get_value(self, accumulator: dict[str, Any]) -> Any:
        return None


def listed(type: str, cls: type[AggregateFunction] = Listed, result: str = "ARRAY<STRING>") -> Any:
    return udaf(cls, input_types=[type], result_type=result, accumulator_type="ROW<v ARRAY<STRING>>")


def folding(cls: type[UserGroups], function: Any, *types: LogicalType) -> UserGroups:
    definition = definition_of(function, "f")
    assert isinstance(definition, AggregateDefinition)
    call = AggregateCall(
        name="f", system_name="f", arg_list=tuple(range(len(types))), type=definition.result,
        accumulator=serializer_of(definition).schema(),
    )  # fmt: skip
    return cls(call, definition, types)


FUNCTIONS: list[tuple[Any, LogicalType, st.SearchStrategy[Any]]] = [
    (examples.Latest, STRING, st.sampled_from(["a", "b", None])),
    (examples.Distinct, STRING, st.sampled_from(["a", "b", None])),
    (examples.Spread, BIGINT, st.sampled_from([1, 2, 5, None])),
    (listed("STRING"), STRING, st.sampled_from(["a", "b", None])),
]


@given(st.data(), st.sampled_from(FUNCTIONS), st.booleans())
def test_frames_give_what_their_rows_give_alone(
    data: st.DataObject, function: tuple[Any, LogicalType, st.SearchStrategy[Any]], once: bool
) -> None:
    """Frames as ROWS and RANGE have them: neither bound goes back, and some lie outside of the partition."""
    made, type, values = function
    rows = data.draw(st.lists(values, min_size=1, max_size=8))
    count = len(rows)
    bound = st.lists(st.integers(0, count + 2), min_size=count, max_size=count).map(sorted)
    begins, ends = data.draw(bound | st.just([0] * count)), data.draw(bound)
    alone = folding(UserGroups, made, type)
    wanted = [
        alone.eval(len(part), once, part)
        for part in (rows[first:end] for first, end in zip(begins, ends, strict=True))
    ]  # fmt: skip
    assert folding(UserPartitions, made, type).eval(begins, ends, once, rows) == wanted


def test_values_that_distinct_takes_for_one() -> None:
    nan = float("nan")
    same: list[tuple[Any, Any]] = [
        (nan, float("nan")), (0.0, -0.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([{"m": {1: nan}}], [{"m": {1: nan}}]),
        (examples.Point(1, "x"), examples.Point(1, "x")), ([[1], None], [[1], None]),
    ]  # fmt: skip
    for one, other in same:
        assert hash(key_of(one)) == hash(key_of(other))
        assert key_of(one) == key_of(other)
    others: list[tuple[Any, Any]] = [
        ([1, 2], [2, 1]), ({"a": 1}, {"a": 2}), (examples.Point(1, "x"), examples.Point(1, None)), (None, 0),
    ]  # fmt: skip
    for one, other in others:
        assert key_of(one) != key_of(other)


@dataclass(frozen=True)
class Pair:
    a: int
    b: int


@pytest.mark.parametrize(
    ("type", "hint", "given", "read"),
    [
        ("MULTISET<ROW<a INT, b INT>>", Any, [({"a": 1, "b": 2}, 3)], {(1, 2): 3}),
        ("MULTISET<ROW<a INT, b INT>>", dict[Pair, int], [({"a": 1, "b": 2}, 3)], {Pair(1, 2): 3}),
        ("MAP<ARRAY<INT>, INT>", Any, [([1, 2], 3)], {(1, 2): 3}),
        ("MAP<ROW<a ARRAY<INT>>, ARRAY<INT>>", Any, [({"a": [1]}, [2])], {((1,),): [2]}),
    ],
)
def test_nested_keys_can_be_keys_in_python(type: str, hint: Any, given: Any, read: Any) -> None:
    """And can be given back."""
    made, back = reader(parse_type(type), hint), writer(parse_type(type))
    assert made is not None
    assert back is not None
    assert made(given) == read
    again = back(made(given))
    assert made(again) == read


ROWS = """CREATE TEMPORARY VIEW A AS SELECT k, id, i, s, ts, MAP['x', i] AS m, ROW(i, MAP['x', i]) AS r FROM (VALUES
    ('a', 1, 1, 'x', TIMESTAMP '2024-01-01 00:00:01'), ('a', 2, 2, 'y', TIMESTAMP '2024-01-01 00:00:03'),
    ('a', 3, 2, 'z', TIMESTAMP '2024-01-01 00:00:04'), ('a', 4, 5, 'w', TIMESTAMP '2024-01-01 00:00:09'),
    (CAST(NULL AS STRING), 5, 7, 'v', TIMESTAMP '2024-01-01 00:00:01'),
    (CAST(NULL AS STRING), 6, CAST(NULL AS INT), CAST(NULL AS STRING), TIMESTAMP '2024-01-01 00:00:02'),
    ('c', 7, 9, 'u', CAST(NULL AS TIMESTAMP(3)))) AS t(k, id, i, s, ts)"""
WINDOWS = [
    "", "PARTITION BY k", "ORDER BY id DESC", "PARTITION BY k ORDER BY i", "ORDER BY ts DESC, id",
    "PARTITION BY k ORDER BY id ROWS 1 PRECEDING", "ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "PARTITION BY k ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING",
    "PARTITION BY k ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING",
    "ORDER BY i RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING", "ORDER BY i DESC RANGE BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ORDER BY ts RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND INTERVAL '2' SECOND FOLLOWING",
    "PARTITION BY k ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' SECOND FOLLOWING",
]  # fmt: skip


def environment(spark: SparkSession | None = None) -> TableEnvironment:
    made = TableEnvironment.create(BATCH, spark=spark)
    made.create_temporary_function("latest", examples.Latest)
    made.create_temporary_function("spread", examples.Spread)
    made.create_temporary_function("wmean", examples.WeightedMean)
    made.create_temporary_function("listed", listed("INT"))
    made.create_temporary_function("lost", listed("INT", Lost, "INT NOT NULL"))
    for name, type in {"maps": "MAP<STRING, INT>", "structs": "ROW<a INT, m MAP<STRING, INT>>",
                       "arrays": "ARRAY<MAP<STRING, INT>>", "bags": "MULTISET<STRING>",
                       "pairs": "MULTISET<ROW<a INT, b INT>>"}.items():  # fmt: skip
        made.create_temporary_function(name, listed(type))
    made.execute_sql(ROWS)
    return made


@pytest.mark.spark
def test_frames_are_those_of_functions_of_the_system(spark: SparkSession) -> None:
    """Whose rows are compared with those of Flink."""
    env = environment(spark)
    queries = (
        f"SELECT {at}, id, listed(id) OVER ({w}), ARRAY_AGG(id) OVER ({w}), spread(i) OVER ({w}), "
        f"MAX(i) OVER ({w}) - MIN(i) OVER ({w}) FROM A"
        for at, w in enumerate(WINDOWS)
    )
    found = [row for _, row in env.execute_sql(" UNION ALL ".join(queries)).collect_changes()]
    assert len(found) == 7 * len(WINDOWS)
    for at, id, ours, theirs, spread, difference in found:
        assert (ours, spread) == ([str(each) for each in theirs or []], difference), (WINDOWS[at], id)


Row = tuple[Any, ...]
NESTED: dict[str, list[Row]] = {
    "SELECT k, maps(m), maps(DISTINCT m), maps(m) FILTER (WHERE id > 2) FROM A WHERE id < 5 GROUP BY k": [
        ("a", ["{'x': 1}", "{'x': 2}", "{'x': 2}", "{'x': 5}"], ["{'x': 1}", "{'x': 2}", "{'x': 5}"],
         ["{'x': 2}", "{'x': 5}"]),
    ],
    "SELECT structs(DISTINCT r), arrays(DISTINCT ARRAY[m]), ARRAY_AGG(m) FROM A WHERE id IN (2, 3)": [
        (["{'a': 2, 'm': {'x': 2}}"], ["[{'x': 2}]"], [[("x", 2)], [("x", 2)]]),
    ],
    "SELECT id, maps(DISTINCT m) OVER (ORDER BY id), structs(r) OVER (ORDER BY id ROWS 1 PRECEDING), m "
    "FROM A WHERE id IN (2, 3)": [
        (2, ["{'x': 2}"], ["{'a': 2, 'm': {'x': 2}}"], [("x", 2)]),
        (3, ["{'x': 2}"], ["{'a': 2, 'm': {'x': 2}}"] * 2, [("x", 2)]),
    ],
    "SELECT bags(DISTINCT b), pairs(DISTINCT c), bags(b) FROM "
    "(SELECT i, COLLECT(k) AS b, COLLECT(ROW(i, 0)) AS c FROM A WHERE id < 4 GROUP BY i)": [
        (["{'a': 1}", "{'a': 2}"], ["{(1, 0): 1}", "{(2, 0): 2}"], ["{'a': 1}", "{'a': 2}"]),
    ],
    "SELECT maps(DISTINCT m), maps(m) FROM TABLE(TUMBLE(TABLE A, DESCRIPTOR(ts), INTERVAL '5' SECOND)) "
    "WHERE k = 'a' AND id IN (2, 3) GROUP BY window_start, window_end": [(["{'x': 2}"], ["{'x': 2}", "{'x': 2}"])],
    "SELECT listed(DISTINCT i), wmean(i, 1), latest(s) OVER (ORDER BY MAX(id)) FROM A GROUP BY i, s HAVING i = 7": [
        (["7"], 7.0, ["v"]),
    ],
}  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("query", NESTED)
def test_arguments_that_spark_does_not_compare(spark: SparkSession, query: str) -> None:
    found: Sequence[Row] = sorted((row for _, row in environment(spark).execute_sql(query).collect_changes()), key=repr)
    assert found == NESTED[query]


@pytest.mark.spark
def test_failures_name_the_call(spark: SparkSession) -> None:
    env = environment(spark)
    with pytest.raises(JobError, match=r"function lost returned None for row 1 of a partition.*INT NOT NULL") as caught:
        env.execute_sql("SELECT id,\n lost(i) OVER (ORDER BY id) FROM A").collect_changes()
    assert "line 2, column 2" in str(caught.value)
    assert list(env.execute_sql("SELECT latest(s) OVER (PARTITION BY k) FROM A WHERE id > 9").collect_changes()) == []


@pytest.mark.spark
def test_distinct_in_windows_of_streams(spark: SparkSession, tmp_path: Path) -> None:
    """As in Flink the windows of table functions are plain keys of functions of the user: a result is updated."""
    times = [("x", 1), ("y", 2), ("x", 3), ("x", 61), ("x", 62)]
    lines = (json.dumps({"b": b, "ts": f"2024-01-01 00:{at // 60:02}:{at % 60:02}"}) for b, at in times)
    (tmp_path / "rows.json").write_text("\n".join(lines))
    env = TableEnvironment.create(spark=spark)
    env.create_temporary_function("listed", listed("STRING"))
    env.execute_sql(
        "CREATE TABLE e (b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector'='filesystem','path'='{tmp_path}','format'='json')"
    )
    windows = "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    query = f"SELECT listed(DISTINCT b), COUNT(*) FROM TABLE({windows}) GROUP BY window_start, window_end"
    left: list[Row] = []
    for kind, row in env.execute_sql(query).collect_changes():
        (left.append if kind in (RowKind.INSERT, RowKind.UPDATE_AFTER) else left.remove)(row)
    assert sorted(left) == [(["x"], 2), (["x", "y"], 3)]


def test_functions_of_the_user_have_a_node_of_their_own() -> None:
    query = "SELECT SUM(i) OVER w, latest(DISTINCT s) OVER w FROM A WINDOW w AS (PARTITION BY k ORDER BY id)"
    plan = json.loads(environment().sql_query(query).compile_plan().as_json_string())
    types = [each["type"] for each in plan["nodes"] if "over" in each["type"]]
    assert types == ["batch-exec-over-aggregate_2", "batch-exec-python-over-aggregate_1"]
    (place,) = (each for each in plan["places"] if each["text"].startswith("latest"))
    assert (place["line"], place["column"]) == (1, 23)


def test_the_table_api_makes_the_same_plan() -> None:
    env = environment()
    by_key = Over.partition_by(col("k")).order_by(col("id")).alias("o")
    table = env.from_path("A").over_window(by_key).select(api_call("latest", col("s")).over(col("o")).alias("l"))
    window = "PARTITION BY k ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    query = f"SELECT latest(s) OVER ({window}) AS l FROM A"
    assert table.explain() == env.explain_sql(query)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"accumulator": None}, "the accumulator of .* is missing"),
        ({"arg_list": (9,)}, "latest reads a column that is not among the 7 input columns"),
    ],
)
def test_calls_that_no_planner_makes(change: dict[str, Any], message: str) -> None:
    graph = environment().compile_plan_sql("SELECT latest(s) OVER (ORDER BY id) FROM A").graph
    (node,) = (each for each in graph.nodes if any(user_calls(each)))
    changed = map_calls(node, lambda call: call.model_copy(update=change))
    with pytest.raises(PlanError, match=message):
        changed.check(tuple(each.output_type for each in graph.inputs_of(node)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partition_fields": (7,)}, "reads a column that its input of 7 columns does not have"),
        ({"preceding": 3, "sort_spec": None}, "a RANGE that reaches so far goes by one column"),
        ({"agg_calls": ()}, "its output must be the columns of its input, and one for each call"),
    ],
)
def test_windows_that_no_planner_makes(change: dict[str, Any], message: str) -> None:
    graph = environment().compile_plan_sql("SELECT latest(s) OVER (ORDER BY id) FROM A").graph
    (node,) = (each for each in graph.nodes if any(user_calls(each)))
    empty = node.sort_spec.model_copy(update={"fields": ()})  # type: ignore[attr-defined]  # of the node
    if "sort_spec" in change:
        change = {**change, "sort_spec": empty}
    with pytest.raises(PlanError, match=message):
        node.model_copy(update=change).check(tuple(each.output_type for each in graph.inputs_of(node)))
