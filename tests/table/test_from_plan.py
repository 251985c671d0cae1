"""The query of a compiled plan as a Table: its nodes stay as they are, and what is written on it comes above them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from execnodes.core.errors import CatalogError, PlanError, SqlError
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table import Table, Window
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan

FILES = "WITH ('connector' = 'filesystem', 'path' = '/data', 'format' = 'json')"
TABLES = f"""
CREATE TABLE a (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {FILES};
CREATE TABLE b (k INT, w INT) {FILES};
CREATE TABLE out_p (k INT, s INT) WITH ('connector' = 'print');
CREATE TABLE out_k (s INT PRIMARY KEY NOT ENFORCED, k INT) WITH (
  'connector' = 'duckdb', 'path' = '/db', 'table' = 't');
CREATE TABLE out_kk (k INT PRIMARY KEY NOT ENFORCED, s INT) WITH (
  'connector' = 'duckdb', 'path' = '/db', 'table' = 't');
"""
SUMS = "SELECT k, SUM(v) AS s FROM a GROUP BY k"
TIMED = "SELECT k AS key1, ts AS at_ FROM a WHERE v > 1"


@pytest.fixture
def env() -> TableEnvironment:
    return environment()


def environment(**options: str) -> TableEnvironment:
    made = TableEnvironment.create({key.replace("__", "-").replace("_", "."): value for key, value in options.items()})
    made.execute_script(TABLES)
    return made


def plan_of(env: TableEnvironment, sql: str) -> CompiledPlan:
    """A plan as it comes from a file."""
    return CompiledPlan.from_json_string(env.sql_query(sql).compile_plan().as_json_string())


def query_nodes(graph: ExecGraph) -> tuple[ExecNode, ...]:
    return tuple(node for node in graph.nodes if node.key.name != "stream-exec-sink")


def assert_included(old: ExecGraph, new: ExecGraph) -> list[ExecNode]:
    """Every node of the old query is in the new graph, unchanged; the nodes that came on top, all with higher ids."""
    kept = query_nodes(old)
    for node in kept:
        assert new.by_id[node.id] == node
        assert new.by_id[node.id].uids() == node.uids()
        assert new.inputs[node.id] == old.inputs[node.id]
    largest = max(node.id for node in kept)
    added = [node for node in new.nodes if node.id not in {each.id for each in kept}]
    assert all(node.id > largest for node in added)
    return added


def names(nodes: list[ExecNode]) -> list[str]:
    return [node.key.name.removeprefix("stream-exec-") for node in nodes]


ON_TOP: list[tuple[str, Callable[[Table], Table], list[str]]] = [
    ("itself", lambda t: t, ["sink"]),
    ("filter", lambda t: t.where("s > 1 AND k > 2"), ["calc", "sink"]),
    ("projection", lambda t: t.select("s + 1 AS s1"), ["calc", "sink"]),
    ("aggregate", lambda t: t.group_by("s").select("s", "COUNT(*) AS n"),
     ["calc", "local-group-aggregate", "exchange", "global-group-aggregate", "sink"]),
    ("distinct", lambda t: t.distinct(), ["local-group-aggregate", "exchange", "global-group-aggregate", "sink"]),
    ("union", lambda t: t.union_all(t), ["union", "sink"]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "added"), [case[1:] for case in ON_TOP], ids=[case[0] for case in ON_TOP])
def test_nodes_stay_and_new_ones_come_above(
    env: TableEnvironment, change: Callable[[Table], Table], added: list[str]
) -> None:
    old = plan_of(env, SUMS)
    new = change(env.from_plan(old)).compile_plan()
    assert names(assert_included(old.graph, new.graph)) == added
    assert new.graph.nodes == load(encode(new.graph)).nodes


def test_what_was_edited_in_the_plan_stays(env: TableEnvironment) -> None:
    document = json.loads(plan_of(env, SUMS).as_json_string())
    (stateful,) = (node for node in document["nodes"] if node.get("state"))
    stateful["state"][0]["ttl"] = "4 d"
    moved = CompiledPlan.from_json_string(json.dumps(document))
    kept = env.from_plan(moved).where("s > 1").compile_plan().graph.by_id[stateful["id"]]
    assert kept.state_ttl() == "4 d"


def test_columns_have_the_names_of_the_query(env: TableEnvironment) -> None:
    """Even those that only the sink knows of."""
    table = env.from_plan(plan_of(env, "SELECT k AS one, v AS two FROM a"))
    graph = table.select("two", "one").compile_plan().graph
    assert graph.nodes[-1].output_type.fields[0].name == "two"
    env.create_temporary_view("seen", table)
    assert [row[0] for row in env.execute_sql("DESCRIBE seen").rows or ()] == ["one", "two"]


def test_tables_of_one_plan_share_it(env: TableEnvironment) -> None:
    old = plan_of(env, SUMS)
    left, right = env.from_plan(old), env.from_plan(CompiledPlan.from_json_string(old.as_json_string()))
    graph = left.join(right.select("k AS k1", "s AS s1"), "k = k1").compile_plan().graph
    added = assert_included(old.graph, graph)
    assert "join" in names(added)
    assert not {"table-source-scan", "global-group-aggregate"} & set(names(added))


def test_joins_a_table_of_the_catalog(env: TableEnvironment) -> None:
    old = plan_of(env, SUMS)
    graph = env.sql_query("SELECT k AS kb, w FROM b").join(env.from_plan(old), "k = kb").compile_plan().graph
    assert "table-source-scan" in names(assert_included(old.graph, graph))


def test_a_plan_on_a_plan(env: TableEnvironment) -> None:
    first = plan_of(env, SUMS)
    text = env.from_plan(first).group_by("s").select("s", "COUNT(*) AS n").compile_plan().as_json_string()
    second = CompiledPlan.from_json_string(text)
    third = env.from_plan(first).join(env.from_plan(second).select("s AS s1", "n"), "s = s1").compile_plan()
    assert_included(second.graph, third.graph)


def test_inserts_and_explains(env: TableEnvironment) -> None:
    old = plan_of(env, SUMS)
    pipeline = env.from_plan(old).insert_into("out_p")
    assert names(assert_included(old.graph, pipeline.compile_plan().graph)) == ["sink"]
    assert "GlobalGroupAggregate" in pipeline.explain()
    assert "[+I, -U, +U]" in pipeline.explain()


def test_a_sink_that_finds_rows_by_key_gets_no_update_before(env: TableEnvironment) -> None:
    """The key of the old sink's input tells that none is needed."""
    old = plan_of(env, SUMS)
    added = assert_included(old.graph, env.from_plan(old).insert_into("out_kk").compile_plan().graph)
    assert names(added) == ["drop-update-before", "sink"]


def test_an_upsert_query_is_refused_where_update_before_is_needed(env: TableEnvironment) -> None:
    document = json.loads(plan_of(env, SUMS).as_json_string())
    for node in document["nodes"]:
        for name in ("changelogMode", "inputChangelogMode"):
            if node.get(name) == "I,UB,UA":
                node[name] = "I,UA"
        if node.get("generateUpdateBefore"):
            node["generateUpdateBefore"] = False
    table = env.from_plan(CompiledPlan.from_json_string(json.dumps(document)))
    with pytest.raises(SqlError, match="without -U"):
        table.group_by("s").select("s", "COUNT(*)").compile_plan()
    assert names(list(table.insert_into("out_kk").compile_plan().graph.nodes))[-2:] == [
        "global-group-aggregate",
        "sink",
    ]


def test_event_time_survives(env: TableEnvironment) -> None:
    table = env.from_plan(plan_of(env, TIMED))
    windowed = table.window(Window.tumble("at_", "INTERVAL '1' MINUTE")).group_by("window_start", "window_end")
    graph = windowed.select("window_start", "COUNT(*) AS n").compile_plan().graph
    assert "window-aggregate" in names(list(graph.nodes))


def test_event_time_ends_at_a_join(env: TableEnvironment) -> None:
    table = env.from_plan(plan_of(env, "SELECT a.k, ts FROM a JOIN b ON a.k = b.k"))
    with pytest.raises(SqlError, match="time attribute"):
        table.window(Window.tumble("ts", "INTERVAL '1' MINUTE")).compile_plan()


@pytest.mark.parametrize(("source", "refused"), [("a", False), ("b", True)])
def test_conflict_strategies_look_for_watermarks(env: TableEnvironment, source: str, refused: bool) -> None:
    table = env.from_plan(plan_of(env, f"SELECT COUNT(*) AS n, k FROM {source} GROUP BY k"))
    insert = f"INSERT INTO out_k SELECT CAST(n AS INT), k FROM ({table.sql}) ON CONFLICT DO NOTHING"
    if refused:
        with pytest.raises(SqlError, match="needs watermarks"):
            env.compile_plan_sql(insert)
    else:
        assert env.compile_plan_sql(insert).graph.nodes


def test_max_parallelism_is_that_of_the_plan(env: TableEnvironment) -> None:
    old = plan_of(environment(pipeline_max__parallelism="32"), SUMS)
    table = env.from_plan(old)
    assert table.compile_plan().graph.max_parallelism == 32
    with pytest.raises(PlanError, match="max parallelism"):
        table.union_all(env.from_plan(plan_of(env, SUMS))).compile_plan()


def test_plans_whose_uids_collide_are_refused(env: TableEnvironment) -> None:
    left, right = env.from_plan(plan_of(env, SUMS)), env.from_plan(plan_of(env, "SELECT k AS k1, w FROM b"))
    with pytest.raises(PlanError, match="same uid '1_source'"):
        left.join(right, "k = k1").compile_plan()


INSERT = "INSERT INTO out_p SELECT k, v FROM a"


@pytest.mark.parametrize("statement", [INSERT, f"EXECUTE STATEMENT SET BEGIN {INSERT}; {INSERT}; END"])
def test_plans_of_inserts_are_refused(env: TableEnvironment, statement: str) -> None:
    with pytest.raises(PlanError, match=r"out_p(?s:.*)execute_plan"):
        env.from_plan(env.compile_plan_sql(statement))


def test_names_are_free_and_found_from_everywhere(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TEMPORARY VIEW query_1 AS SELECT k FROM b")
    table = env.from_plan(plan_of(env, SUMS))
    env.execute_script("CREATE DATABASE other; USE other")
    assert table.compile_plan().graph.nodes
    with pytest.raises(CatalogError, match="compiled plan"):
        env.execute_sql("SHOW CREATE VIEW default_database.query_2")


def test_takes_no_rows(env: TableEnvironment) -> None:
    name = env.from_plan(plan_of(env, SUMS)).sql.removeprefix("SELECT * FROM ")
    with pytest.raises(SqlError, match="view"):
        env.compile_plan_sql(f"INSERT INTO {name} SELECT k, v FROM a")
