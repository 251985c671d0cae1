"""Batch jobs: results, sinks, nodes that several sinks share, failures."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import JobError
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.batch import sinks_reached

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BATCH = {"execution.runtime-mode": "batch", "parallelism.default": "1", "spark.sql.adaptive.enabled": "false"}
ROWS = [{"k": "a", "v": 3}, {"k": "b", "v": -8}, {"k": "a", "v": 4}, {"k": None, "v": None}]

pytestmark = pytest.mark.spark


@pytest.fixture
def environment(spark: SparkSession, tmp_path: Path) -> TableEnvironment:
    made = TableEnvironment.create(BATCH, spark=spark)
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "in.json").write_text(lines, encoding="utf-8")
    made.execute_script(
        f"CREATE TABLE t (k STRING, v INT) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in.json', 'format' = 'json');"
    )
    return made


def rows(environment: TableEnvironment, sql: str) -> list[tuple[object, ...]]:
    return [values for _, values in environment.execute_sql(sql).collect_changes()]


CASES = [
    ("SELECT v / 2 AS h FROM t ORDER BY v", [(None,), (-4,), (1,), (2,)]),
    ("SELECT k, AVG(v), SUM(v) FROM t GROUP BY k ORDER BY k", [(None, None, None), ("a", 3, 7), ("b", -8, -8)]),
    ("SELECT COUNT(*), MAX(v) FROM t WHERE v > 100", [(0, None)]),
    ("SELECT PERCENTILE(v, 0.5), PERCENTILE(v, ARRAY[0, 0.25, 1]) FROM t", [(3.0, [-8.0, -2.5, 4.0])]),
    ("SELECT PERCENTILE(v, 0.5, 2), PERCENTILE(v, ARRAY[1], v), PERCENTILE(v, 0.5, 0) FROM t", [(3.0, [4.0], None)]),
    ("SELECT PERCENTILE(DISTINCT v, 0.5, v) FROM (SELECT v FROM t UNION ALL SELECT v FROM t)", [(4.0,)]),
    ("SELECT v FROM (SELECT v FROM t INTERSECT ALL SELECT v + 1 FROM t) ORDER BY v", [(None,), (4,)]),
    ("SELECT v FROM t ORDER BY v DESC LIMIT 2", [(4,), (3,)]),
    ("SELECT v FROM t ORDER BY v OFFSET 2 ROWS FETCH NEXT 1 ROWS ONLY", [(3,)]),
    ("SELECT k, LISTAGG(CAST(v AS STRING), '+') FROM t WHERE k = 'a' GROUP BY k", [("a", "3+4")]),
    (
        "SELECT k, v, n FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t) "
        "WHERE n <= 1 AND k = 'a'",
        [("a", 4, 1)],
    ),
    (
        "SELECT v, SUM(v) OVER (ORDER BY v), LAG(v) OVER (ORDER BY v) FROM t WHERE v IS NOT NULL ORDER BY v",
        [(-8, -8, None), (3, -5, -8), (4, -1, 3)],
    ),
    (
        "SELECT v, AVG(v) OVER (PARTITION BY k ORDER BY v), ROW_NUMBER() OVER (ORDER BY v DESC) FROM t "
        "WHERE v IS NOT NULL ORDER BY v",
        [(-8, -8, 3), (3, 3, 2), (4, 3, 1)],
    ),
    ("SELECT v FROM t WHERE v > (SELECT AVG(v) FROM t) ORDER BY v", [(3,), (4,)]),
    ("SELECT k FROM t WHERE k NOT IN (SELECT k FROM t WHERE v > 0)", [("b",)]),
    ("SELECT k, v FROM t WHERE k IN (SELECT k FROM t WHERE v > 3 OR v IS NULL) ORDER BY v", [("a", 3), ("a", 4)]),
    ("SELECT v FROM t x WHERE EXISTS (SELECT 1 FROM t y WHERE y.k = x.k AND y.v = x.v + 1)", [(3,)]),
    (
        "SELECT k FROM t x WHERE NOT EXISTS (SELECT 1 FROM t y WHERE y.k = x.k AND y.v > 0) ORDER BY k",
        [(None,), ("b",)],
    ),
    ("SELECT x.v, y.v FROM t x JOIN t y ON x.v < y.v WHERE y.v < 4", [(-8, 3)]),
    (
        "SELECT k, GROUPING(k), COUNT(*) FROM t WHERE k IS NOT NULL GROUP BY CUBE (k) ORDER BY 2, 1",
        [("a", 0, 2), ("b", 0, 1), (None, 1, 3)],
    ),
    ("SELECT v FROM t INTERSECT SELECT v FROM t WHERE v < 0 OR v IS NULL ORDER BY v", [(None,), (-8,)]),
]


def test_queries(environment: TableEnvironment) -> None:
    for sql, expected in CASES:
        assert rows(environment, sql) == expected, sql


def optimized(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().optimizedPlan().toString())


def test_spark_sees_the_size_of_parquet_files_and_reads_nothing_else(
    environment: TableEnvironment, spark: SparkSession, tmp_path: Path
) -> None:
    """Both decide on its joins: a column of facts about files is filled in for every row."""
    spark.range(9).selectExpr("id AS k", "repeat('x', 50) AS text").write.parquet(str(tmp_path / "p"))
    environment.execute_sql(
        f"CREATE TABLE p (k BIGINT, text STRING, name STRING METADATA FROM 'file.name') "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/p', 'format' = 'parquet')"
    )
    plan = optimized(environment.as_data_stream(environment.sql_query("SELECT k FROM p")))
    assert "_metadata" not in plan
    assert "text" in plan.splitlines()[-1]
    named = environment.as_data_stream(environment.sql_query("SELECT DISTINCT right(name, 8) AS n FROM p"))
    assert "_metadata" in optimized(named)
    assert [row.n for row in named.collect()] == [".parquet"]


def test_steps_of_a_hop_need_not_fill_it(environment: TableEnvironment, tmp_path: Path) -> None:
    environment.execute_sql(
        "CREATE TABLE e (v INT, ts AS TO_TIMESTAMP_LTZ(v * 1000, 3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in.json', 'format' = 'json')"
    )

    def counted(window: str) -> list[tuple[object, ...]]:
        query = (
            f"SELECT EXTRACT(SECOND FROM HOP_START({window})) AS s, COUNT(*) AS c FROM (SELECT * FROM e WHERE v > 0) "
        )
        return rows(environment, f"{query} GROUP BY HOP({window}) ORDER BY s")

    assert counted("ts, INTERVAL '4' SECOND, INTERVAL '2' SECOND") == [(4, 1)]
    assert counted("ts, INTERVAL '2' SECOND, INTERVAL '3' SECOND") == [(2, 2), (4, 1)]


def test_in_reaches_equal_columns(environment: TableEnvironment) -> None:
    """Each k of the sums is one of the asked ones, so that the others need not be summed."""
    found = environment.as_data_stream(
        environment.sql_query(
            "SELECT x.k, s.total FROM t x JOIN (SELECT k, SUM(v) AS total FROM t GROUP BY k) s ON x.k = s.k "
            "WHERE x.k IN (SELECT k FROM t WHERE v > 3)"
        )
    )
    assert optimized(found).count("LeftSemi") == 2
    assert sorted((row.k, row.total) for row in found.collect()) == [("a", 7), ("a", 7)]


def test_results_are_printed_without_changes(environment: TableEnvironment) -> None:
    out = io.StringIO()
    result = environment.execute_sql("SELECT k, COUNT(*) AS c FROM t GROUP BY k ORDER BY k DESC LIMIT 1")
    result.print(out)
    assert not result.is_changelog
    assert out.getvalue().splitlines() == [
        "+---+---+",
        "| k | c |",
        "+---+---+",
        "| b | 1 |",
        "+---+---+",
        "1 row in set",
    ]


def test_sinks_share_what_they_have_in_common(environment: TableEnvironment, tmp_path: Path) -> None:
    for name in ("one", "other"):
        environment.execute_sql(
            f"CREATE TABLE {name} (k STRING, c BIGINT) "
            f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/{name}', 'format' = 'json')"
        )
    environment.execute_sql("CREATE TEMPORARY VIEW counts AS SELECT k, COUNT(*) AS c FROM t GROUP BY k")
    body = (
        "BEGIN INSERT INTO one SELECT k, c FROM counts WHERE c > 1; "
        "INSERT INTO other SELECT k, c FROM counts WHERE c < 2; END"
    )
    graph = environment.compile_plan_sql(f"EXECUTE STATEMENT SET {body}").graph
    reached = sinks_reached(graph)
    (shared,) = [node for node in graph.nodes if node.key.name == "batch-exec-hash-aggregate"]
    assert reached[shared.id] == {node.id for node in graph.roots()}
    assert all(len(reached[each.id]) == 1 for each in graph.consumers_of(shared))
    environment.execute_sql(f"EXECUTE STATEMENT SET {body}").await_()
    assert rows(environment, "SELECT * FROM one") == [("a", 2)]
    assert rows(environment, "SELECT * FROM other ORDER BY k") == [(None, 1), ("b", 1)]


def test_a_table_is_overwritten(environment: TableEnvironment, tmp_path: Path) -> None:
    files = f"'connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'csv'"
    base = f"'connector' = 'duckdb', 'path' = '{tmp_path}/d.db', 'table' = 'out'"
    for name, options in (("files", files), ("base", base)):
        environment.execute_sql(f"CREATE TABLE {name} (v INT) WITH ({options})")
        for verb, condition in (("INTO", "v = 3"), ("OVERWRITE", "v > 3"), ("INTO", "v < 0")):
            environment.execute_sql(f"INSERT {verb} {name} SELECT v FROM t WHERE {condition}").await_()
        assert rows(environment, f"SELECT v FROM {name} ORDER BY v") == [(-8,), (4,)], name


def test_the_mode_of_a_plan_is_its_own(environment: TableEnvironment, spark: SparkSession, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    environment.compile_plan_sql("SELECT SUM(v) AS s FROM t").write_to_file(plan)
    elsewhere = TableEnvironment.create(spark=spark)
    assert [values for _, values in elsewhere.execute_plan(plan).collect_changes()] == [(-1,)]


def test_a_failure_says_what_was_wrong(environment: TableEnvironment) -> None:
    with pytest.raises(JobError, match="division by zero"):
        rows(environment, "SELECT 1 / (v - v) FROM t")


def test_a_stream_ends_with_the_same_rows(spark: SparkSession, environment: TableEnvironment, tmp_path: Path) -> None:
    sql = (
        "SELECT PERCENTILE(v, 0.5), PERCENTILE(DISTINCT v, ARRAY[0, 0.25, 1]) FROM (SELECT v FROM t EXCEPT ALL "
        "SELECT v FROM t WHERE k IS NULL UNION ALL SELECT v FROM t WHERE k = 'a')"
    )
    stream = TableEnvironment.create({"parallelism.default": "1"}, spark=spark)
    stream.execute_script(
        f"CREATE TABLE t (k STRING, v INT) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/in.json', 'format' = 'json');"
    )
    assert rows(stream, sql)[-1:] == rows(environment, sql) == [(3.0, [-8.0, -2.5, 4.0])]
