"""Spark's optimized plans: between a source and where its rows are counted stands nothing that loses one of them.

Whatever a query asks of its rows: Spark infers conditions of its own, and pushes what it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import Column, Observation
from pyspark.sql import DataFrame as ParentDataFrame
from pyspark.sql.classic.dataframe import DataFrame

from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.base import SinkWriter
from rekindle.connectors.blackhole import Blackhole
from rekindle.spark.session import prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTED = "CollectMetrics"
LOSING = re.compile(
    r"(Filter|Generate|GlobalLimit|LocalLimit|Limit|Sample|Aggregate|Deduplicate|Join|Except|Intersect)\b"
)
"""Nodes that lose rows, or make others of them."""
TIMED = "WATERMARK FOR ts AS ts - INTERVAL '10' SECOND"
TABLES = f"""
CREATE TABLE t (k STRING, v INT, s STRING, xs ARRAY<INT>, ts TIMESTAMP(3), {TIMED})
  WITH ('connector' = 'filesystem', 'path' = '{{dir}}/t', 'format' = 'parquet');
CREATE TABLE p (k STRING, v INT, s STRING, ts TIMESTAMP(3), {TIMED}) PARTITIONED BY (s)
  WITH ('connector' = 'filesystem', 'path' = '{{dir}}/p', 'format' = 'parquet');
CREATE TABLE made (k INT, v INT, ts TIMESTAMP(3), {TIMED})
  WITH ('connector' = 'datagen', 'number-of-rows' = '10');
CREATE VIEW v AS SELECT k, v, s, ts FROM t WHERE s = '403';
CREATE FUNCTION liked AS 'tests.differential.functions:liked' LANGUAGE PYTHON;
"""
SHAPES = {
    "equal": "t WHERE s = '403'",
    "none at all": "t WHERE 1 = 2",
    "texts": "t WHERE s LIKE '4%' OR UPPER(s) = 'X'",
    "time": "t WHERE ts > TIMESTAMP '2024-01-01 00:00:00' AND k = 'a'",
    "not null": "t WHERE k IS NOT NULL",
    "user function": "t WHERE liked(s)",
    "user function and more": "t WHERE liked(s) AND v > 1",
    "view": "v WHERE v > 1",
    "file format that filters": "p WHERE v > 1 AND k IS NOT NULL",
    "partitions": "p WHERE s = '403'",
    "generator": "made WHERE v > 1",
    "unnest": "(SELECT k, x AS v, ts FROM t CROSS JOIN UNNEST(xs) AS u (x))",
    "unnest filtered": "(SELECT k, x AS v, ts FROM t CROSS JOIN UNNEST(xs) AS u (x) WHERE s = '403' AND x > 1)",
    "left unnest": "(SELECT k, x AS v, ts FROM t LEFT JOIN UNNEST(xs) AS u (x) ON TRUE WHERE s = '403')",
    "union": "(SELECT k, v, ts FROM t WHERE s = '403' UNION ALL SELECT k, v, ts FROM v WHERE v > 1)",
    "union of two": "(SELECT k, v, ts FROM t WHERE s = '403' UNION ALL SELECT k, v, ts FROM p WHERE s = '403')",
    "random": "t WHERE RAND() < 0.5",
}
QUERIES = {
    "over": "SELECT CAST(k AS STRING), COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM {}",
    "window": "SELECT CAST(k AS STRING), COUNT(*) FROM (SELECT k, v, ts FROM {}) "
    "GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)",
}


class Plans(SinkWriter):
    """Keeps the optimized plans of what it is given."""

    single_pass = True

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, batch: ParentDataFrame, batch_id: int) -> None:
        self.lines += str(batch._jdf.queryExecution().optimizedPlan().toString()).splitlines()
        batch.write.format("noop").mode("overwrite").save()


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> Plans:
    made = Plans()
    monkeypatch.setattr(Blackhole, "writer", lambda *_: made)
    return made


def optimized(plans: Plans, spark: SparkSession, folder: Path, query: str) -> list[str]:
    """Lines of the plans, as Spark runs them."""
    for name in "tp":
        (folder / name).mkdir()
    environment = TableEnvironment.create(spark=prepare(spark, 2, {}))
    environment.execute_script(TABLES.format(dir=folder))
    environment.execute_script(
        f"CREATE TABLE nothing (k STRING, n BIGINT) WITH ('connector' = 'blackhole'); INSERT INTO nothing {query}"
    )
    return plans.lines


def below_counts(plan: list[str]) -> Iterator[str]:
    """Nodes below where rows are counted; a node stands deeper than the one it gives rows to."""
    depth: int | None = None
    for line in plan:
        node = re.sub(r"^[\s:+\-~]*", "", line)
        at = len(line) - len(node)
        if depth is not None and at <= depth:
            depth = None
        if depth is not None:
            yield node
        elif node.startswith(COUNTED):
            depth = at


def losing(plan: list[str]) -> list[str]:
    """Those that lose rows."""
    return [node for node in below_counts(plan) if LOSING.match(node)]


@pytest.mark.spark
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_lost_below_counts(
    spark: SparkSession, tmp_path: Path, plans: Plans, shape: str, query: str
) -> None:
    plan = optimized(plans, spark, tmp_path, QUERIES[query].format(SHAPES[shape]))
    assert list(below_counts(plan)) or shape == "none at all"
    assert losing(plan) == []


@pytest.mark.spark
def test_what_is_pushed_is_seen(
    spark: SparkSession, tmp_path: Path, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows are counted behind a condition."""
    observe = DataFrame.observe

    def behind(frame: DataFrame, seen: Observation, *columns: Column) -> ParentDataFrame:
        return observe(frame.where("v > rand()"), seen, *columns)  # type: ignore[arg-type]  # this class's own

    monkeypatch.setattr(DataFrame, "observe", behind)
    assert losing(optimized(plans, spark, tmp_path, QUERIES["over"].format(SHAPES["equal"])))
