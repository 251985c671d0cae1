"""Plans that were compiled apart in one pipeline: ids give way, the uids of state do not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import PlanError, SqlError
from execnodes.core.graph import ExecGraph
from planner.lower.compiled import prefixed
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE a (k INT, v INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
CREATE TABLE b (k INT, w INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
CREATE TABLE out_a (k INT, s INT) WITH ('connector' = 'collect', 'name' = 'a');
CREATE TABLE out_b (k INT, n BIGINT) WITH ('connector' = 'collect', 'name' = 'b');
"""
SUMS = "INSERT INTO out_a SELECT k, SUM(v) FROM a GROUP BY k"
COUNTS = "INSERT INTO out_b SELECT k, COUNT(*) FROM b GROUP BY k"
PLAIN = "INSERT INTO out_b SELECT k, CAST(w AS BIGINT) FROM b WHERE w > 1"
FORMAT = "table.exec.uid.format"


def environment(**options: str) -> TableEnvironment:
    env = TableEnvironment.create({FORMAT: options["uids"]} if "uids" in options else {})
    env.execute_script(TABLES)
    return env


def plan_of(sql: str, **options: str) -> CompiledPlan:
    """A plan as another session has written it."""
    return CompiledPlan.from_json_string(environment(**options).compile_plan_sql(sql).as_json_string())


def uids(graph: ExecGraph) -> set[str]:
    return {uid for node in graph.nodes for uid in node.addresses()}


@pytest.fixture
def env() -> TableEnvironment:
    return environment()


def test_one_plan_stays_as_it_is(env: TableEnvironment) -> None:
    plan = plan_of(SUMS)
    assert env.create_statement_set().add_plan(plan).compile_plan().as_json_string() == plan.as_json_string()


def test_statements_come_behind_plans(env: TableEnvironment) -> None:
    plan = plan_of(SUMS)
    graph = env.create_statement_set().add_insert_sql(PLAIN).add_plan(plan).compile_plan().graph
    assert graph.nodes[: len(plan.graph.nodes)] == plan.graph.nodes
    assert min(node.id for node in graph.nodes[len(plan.graph.nodes) :]) > max(plan.graph.by_id)
    assert len(list(graph.roots())) == 2


def test_equal_uids_are_refused(env: TableEnvironment) -> None:
    statements = env.create_statement_set().add_plan(plan_of(SUMS)).add_plan(plan_of(COUNTS))
    with pytest.raises(PlanError, match=r"TableSourceScan(?s:.*)'1_source'(?s:.*)uid_prefix='b'"):
        statements.compile_plan()


def test_a_prefix_gives_other_uids(env: TableEnvironment) -> None:
    first, second = plan_of(SUMS), plan_of(COUNTS)
    plan = env.create_statement_set().add_plan(first).add_plan(second, uid_prefix="b").compile_plan()
    graph = plan.graph
    assert graph.nodes[: len(first.graph.nodes)] == first.graph.nodes
    assert uids(graph) == uids(first.graph) | {f"b_{uid}" for uid in uids(second.graph)}
    assert len(graph.nodes) == len(first.graph.nodes) + len(second.graph.nodes)
    assert load(encode(graph)).nodes == graph.nodes
    again = env.create_statement_set().add_plan(first).add_plan(second, uid_prefix="b").compile_plan()
    assert again.as_json_string() == plan.as_json_string()


def test_ids_move_and_uids_stay(env: TableEnvironment) -> None:
    """Plans whose uids were told apart when they were compiled need no prefix, and lose nothing."""
    first, second = plan_of(SUMS, uids="a-<id>_<operator>"), plan_of(COUNTS, uids="b-<id>_<type>-<version>_<operator>")
    graph = env.create_statement_set().add_plan(first).add_plan(second).compile_plan().graph
    assert uids(graph) == uids(first.graph) | uids(second.graph)
    assert "b-1_stream-exec-table-source-scan-2_source" in uids(graph)
    assert len({node.id for node in graph.nodes}) == len(first.graph.nodes) + len(second.graph.nodes)
    added = graph.nodes[len(first.graph.nodes) :]
    assert [n.description for n in added] == [n.description for n in second.graph.nodes]


def test_queries_of_two_plans_are_joined(env: TableEnvironment) -> None:
    left, right = plan_of("SELECT k, SUM(v) AS s FROM a GROUP BY k"), plan_of("SELECT k AS k1, w FROM b")
    with pytest.raises(PlanError, match="uid_prefix"):
        env.from_plan(left).join(env.from_plan(right), "k = k1").compile_plan()
    renamed = env.from_plan(right, uid_prefix="b")
    graph = env.from_plan(left).join(renamed, "k = k1").union_all(renamed.select("k1", "w", "k1", "w")).compile_plan()
    scans = [node for node in graph.graph.nodes if node.key.name == "stream-exec-table-source-scan"]
    assert [node.addresses() for node in scans] == [("1_source",), ("b_1_source",)]


@pytest.mark.parametrize(
    ("sql", "prefix", "message"),
    [("SELECT k FROM a", None, "add_insert"), (SUMS, "", "no prefix"), (SUMS, "b-1", "no prefix")],
)
def test_what_is_no_part_of_a_set(env: TableEnvironment, sql: str, prefix: str | None, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        env.create_statement_set().add_plan(plan_of(sql), uid_prefix=prefix)


def test_a_plan_is_added_once(env: TableEnvironment) -> None:
    statements = env.create_statement_set().add_plan(plan_of(SUMS))
    with pytest.raises(PlanError, match="added already"):
        statements.add_plan(plan_of(SUMS))
    with pytest.raises(SqlError, match="INSERT"):
        env.create_statement_set().add_insert_sql("SELECT 1").compile_plan()


def test_max_parallelism_is_one(env: TableEnvironment) -> None:
    other = TableEnvironment.create({"pipeline.max-parallelism": "32"})
    other.execute_script(TABLES)
    statements = env.create_statement_set().add_plan(plan_of(SUMS))
    statements.add_plan(other.compile_plan_sql(COUNTS), uid_prefix="b")
    with pytest.raises(PlanError, match="max parallelism"):
        statements.compile_plan()


def test_a_prefix_leaves_everything_else(env: TableEnvironment) -> None:
    graph = plan_of(SUMS).graph
    changed = prefixed(graph, "b")
    for old, new in zip(graph.nodes, changed.nodes, strict=True):
        assert new.replaced(configuration=old.configuration) == old


def test_attaching_needs_a_folder(env: TableEnvironment) -> None:
    with pytest.raises(PlanError, match=r"execution\.job-dir"):
        env.create_statement_set().add_plan(plan_of(SUMS)).attach_as_data_stream()


@pytest.mark.spark
def test_plans_run_together_and_attached(spark: SparkSession, tmp_path: Path) -> None:
    from rekindle.connectors import collect

    results = []
    for attached in (False, True):
        env = TableEnvironment.create({"execution.job-dir": str(tmp_path / str(attached))}, spark=spark)
        env.execute_script(TABLES)
        statements = env.create_statement_set().add_plan(plan_of(SUMS)).add_plan(plan_of(COUNTS), uid_prefix="b")
        collect.clear()
        if attached:
            statements.attach_as_data_stream().trigger(availableNow=True).start().awaitTermination()
        else:
            statements.execute().await_()
        results.append((sorted(collect.results("a")), sorted(collect.results("b"))))
    assert results[0] == results[1]
    assert [len(each) for each in results[0]] == [3, 3]
