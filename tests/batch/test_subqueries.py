"""Subqueries inside expressions: the rows that Flink gives, in batch mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from execnodes.core.errors import RekindleError
from rekindle.api.table_environment import TableEnvironment

TABLES = """
CREATE VIEW t AS SELECT * FROM (VALUES (1, 'a', 10, 1), (2, 'a', CAST(NULL AS INT), 2), (3, 'b', 30, 3),
  (4, 'b', 30, 4), (5, 'c', CAST(NULL AS INT), 5), (6, 'c', 5, 6)) AS t(id, k, v, n);
CREATE VIEW u AS
  SELECT * FROM (VALUES (1, 10, 1), (2, 20, 2), (3, CAST(NULL AS INT), 3), (7, 30, 7)) AS u(id, w, m);
"""
LINES = (Path(__file__).parent / "subqueries.jsonl").read_text(encoding="utf-8").splitlines()
QUERIES: list[tuple[str, list[list[Any]]]] = [(each["query"], each["rows"]) for each in map(json.loads, LINES)]


@pytest.mark.spark
def test_rows_are_those_of_flink(spark: SparkSession) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    env.execute_script(TABLES)
    found: dict[int, list[tuple[str | None, ...]]] = {at: [] for at in range(len(QUERIES))}
    parts = []
    for at, (query, rows) in enumerate(QUERIES):
        names = ["a", "b"][: len(rows[0]) if rows else 1]
        columns = ", ".join(f"CAST({name} AS STRING)" for name in names)
        padding = "" if len(names) == 2 else ", CAST(NULL AS STRING)"
        parts.append(f"SELECT {at}, {columns}{padding} FROM ({query}) AS q({', '.join(names)})")
    for _, (at, *values) in env.execute_sql(" UNION ALL ".join(parts)).collect():
        found[at].append(tuple(values))
    for at, (query, rows) in enumerate(QUERIES):
        wanted = [tuple([*map(_text, row), None][:2]) for row in rows]
        assert sorted(found[at], key=repr) == sorted(wanted, key=repr), query


def _text(value: object) -> str | None:
    return None if value is None else str(value).upper() if isinstance(value, bool) else str(value)


@pytest.mark.spark
def test_a_second_row_fails(spark: SparkSession) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    env.execute_script(TABLES)
    for query in ("SELECT id, (SELECT m FROM u) FROM t", "SELECT SINGLE_VALUE(id) FROM t WHERE id < 3"):
        with pytest.raises(RekindleError, match="has more than one row"):
            list(env.execute_sql(query).collect())


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT id FROM t WHERE n > ALL (1, 2)", "> ALL of a list is not supported"),
        ("SELECT id FROM t WHERE n > ALL (SELECT id, m FROM u)", "compares with one column"),
        ("SELECT id FROM t WHERE (id, v) IN (SELECT id, w FROM u) OR n = 1", "among the ANDed conditions of WHERE"),
        ("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id > t.id) OR n = 1", "conditions inner = outer"),
        ("SELECT id FROM t WHERE n IN (SELECT id, m FROM u) OR n = 1", "IN compares 1 value with 2 columns"),
    ],
)
def test_what_is_refused(query: str, message: str) -> None:
    env = TableEnvironment.create({})
    env.execute_script(TABLES)
    with pytest.raises(RekindleError, match=message) as raised:
        env.compile_plan_sql(query)
    assert "line 1" in str(raised.value)
