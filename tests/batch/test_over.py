"""Functions OVER windows in batch: rows that Flink gives, frames in streams that batch mode alone has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from execnodes.core.errors import RekindleError
from rekindle.api.table_environment import TableEnvironment

BATCH = {"execution.runtime-mode": "batch"}
FOLDER = Path(__file__).parent
ROWS = (FOLDER / "over_rows.txt").read_text(encoding="utf-8")
LINES = (FOLDER / "over.jsonl").read_text(encoding="utf-8").splitlines()
QUERIES: list[tuple[str, list[list[Any]]]] = [(each["query"], each["rows"]) for each in map(json.loads, LINES)]
REFUSED = [
    ("SELECT SUM(i) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 1 FOLLOWING) FROM A", "ends before"),
    ("SELECT NTILE(0) OVER (PARTITION BY k ORDER BY id) FROM A", "NTILE takes a constant number from 1"),
    ("SELECT RANK() OVER (PARTITION BY k) FROM A", "RANK OVER needs ORDER BY"),
    ("SELECT LEAD(i) OVER (ORDER BY id ROWS 1 PRECEDING) FROM A", "takes no ROWS or RANGE"),
    ("SELECT NTH_VALUE(i, 2) OVER (ORDER BY id) FROM A", "NTH_VALUE is not supported"),
    ("SELECT SUM(i) OVER (ORDER BY s RANGE 1 PRECEDING) FROM A", "bound is a number, or of times an interval"),
]
STREAMS = [
    ("SELECT LEAD(i) OVER (ORDER BY id) FROM A", "LEAD Function is not supported in stream mode."),
    ("SELECT NTILE(2) OVER (ORDER BY id) FROM A", "NTILE Function is not supported in stream mode."),
    ("SELECT SUM(i) OVER (PARTITION BY k) FROM A", "SUM OVER needs ORDER BY"),
    ("SELECT SUM(i) OVER (ORDER BY id DESC) FROM A", "ordered in ASCENDING mode"),
    ("SELECT SUM(i) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM A", "FOLLOWING windows"),
]


@pytest.mark.spark
def test_rows_are_those_of_flink(spark: SparkSession) -> None:
    env = TableEnvironment.create(BATCH, spark=spark)
    env.execute_script(ROWS)
    parts = []
    for at, (query, rows) in enumerate(QUERIES):
        width = len(rows[0])
        columns = ", ".join(f"CAST(c{i} AS STRING)" for i in range(width))
        names = ", ".join(f"c{i}" for i in range(width))
        padding = ", CAST(NULL AS STRING)" * (5 - width)
        parts.append(f"SELECT {at}, {columns}{padding} FROM ({query}) AS q({names})")
    found: dict[int, list[tuple[str | None, ...]]] = {at: [] for at in range(len(QUERIES))}
    for _, (at, *values) in env.execute_sql(" UNION ALL ".join(parts)).collect_changes():
        found[at].append(tuple(values[: len(QUERIES[at][1][0])]))
    for at, (query, rows) in enumerate(QUERIES):
        wanted = [tuple(None if each is None else str(each) for each in row) for row in rows]
        assert sorted(found[at], key=repr) == sorted(wanted, key=repr), query


@pytest.mark.spark
def test_a_default_does_not_stand_for_values_that_are_null(spark: SparkSession) -> None:
    """Flink's type is NOT NULL there, and it prints -1, or fails for a DECIMAL."""
    env = TableEnvironment.create(BATCH, spark=spark)
    env.execute_script(ROWS)
    query = "SELECT id, LEAD(v, 1, 0) OVER (ORDER BY id), LAG(v, 1, 0) OVER (ORDER BY id) FROM B"
    rows = [tuple(row) for row in env.execute_sql(query).collect()]
    before_and_after = zip((None, 30, 30, None, 5, 0), (0, 10, None, 30, 30, None), strict=True)
    assert sorted(rows) == [(at, *each) for at, each in enumerate(before_and_after, 1)]


@pytest.mark.spark
def test_a_default_does_not_stand_for_null_in_a_stream(spark: SparkSession) -> None:
    env = TableEnvironment.create(spark=spark)
    values = "(VALUES (1, 1), (2, CAST(NULL AS INT)), (3, 3)) AS t (id, v)"
    lag = f"SELECT id, LAG(v, 1, 7) OVER (ORDER BY p) AS l FROM (SELECT *, PROCTIME() AS p FROM {values})"
    assert [tuple(row) for row in env.execute_sql(lag).collect()] == [(1, 7), (2, 1), (3, None)]
    sums = env.execute_sql(f"SELECT id, l + 1, l IS NULL, COALESCE(l, 5) FROM ({lag})").collect()
    assert [tuple(row)[:2] for row in sums] == [(1, 8), (2, 2), (3, None)]


def test_results_over_frames_that_may_be_empty_can_be_null() -> None:
    """Types that Flink gives them."""
    env = TableEnvironment.create(BATCH)
    env.execute_script(ROWS)
    query = (
        "SELECT SUM(id) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING), "
        "COUNT(id) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING), "
        "MIN(id) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), "
        "SUM(id) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW), "
        "FIRST_VALUE(id) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING), "
        "AVG(id) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), "
        "MAX(id) OVER (PARTITION BY k ORDER BY id RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING) FROM A"
    )
    types = [str(each.type) for each in env.sql_query(query).compile_plan().graph.nodes[-1].output_type.fields]
    assert types == ["INT", "BIGINT NOT NULL", "INT", "INT", "INT", "INT", "INT"]


@pytest.mark.parametrize(
    ("mode", "query", "message"),
    [
        *(("batch", *each) for each in REFUSED),
        *(("streaming", *each) for each in STREAMS),
    ],
)
def test_what_there_is_not_is_refused(mode: str, query: str, message: str) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": mode})
    env.execute_script(ROWS)
    with pytest.raises(RekindleError, match=message):
        env.sql_query(query).compile_plan()
