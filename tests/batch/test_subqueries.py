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
    for _, (at, *values) in env.execute_sql(" UNION ALL ".join(parts)).collect_changes():
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
            list(env.execute_sql(query).collect_changes())


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT id FROM t WHERE n > ALL (SELECT id, m FROM u)", "compares with one column"),
        ("SELECT id FROM t WHERE (id, v) IN (SELECT id, w FROM u) OR n = 1", "among the ANDed conditions of WHERE"),
        ("SELECT id FROM t WHERE n IN (SELECT id, m FROM u) OR n = 1", "IN compares 1 value with 2 columns"),
        ("SELECT id FROM t WHERE n IN (SELECT MAX(m) FROM u WHERE u.id = x.id)", "Table 'x' not found"),
        (
            "SELECT id FROM t WHERE n IN (SELECT m FROM u WHERE u.id = t.id LIMIT 1)",
            "column 't.id' of the query around",
        ),
        (
            "SELECT id FROM t WHERE EXISTS (SELECT m FROM u WHERE u.id = t.id UNION SELECT 1)",
            "'t.id' of the query around",
        ),
        ("SELECT id, (SELECT MAX(m) OVER () FROM u WHERE u.id = t.id) FROM t", "'t.id' of the query around"),
    ],
)
def test_what_is_refused(query: str, message: str) -> None:
    env = TableEnvironment.create({})
    env.execute_script(TABLES)
    with pytest.raises(RekindleError, match=message) as raised:
        env.compile_plan_sql(query)
    assert "line 1" in str(raised.value)


BEYOND_FLINK = [
    # Flink finds no plan for LIMIT, and drops a row where a column in front of it is NULL.
    (
        "SELECT u.id, x.n FROM u, LATERAL (SELECT n FROM t WHERE t.v = u.w ORDER BY n DESC LIMIT 1) AS x",
        [[1, 1], [7, 4]],
    ),
    (
        "SELECT u.id, x.n FROM u LEFT JOIN LATERAL (SELECT n AS m FROM t WHERE t.v = u.w ORDER BY m LIMIT 1 OFFSET 1) "
        "AS x (n) ON TRUE",
        [[1, None], [2, None], [3, None], [7, 4]],
    ),
    (
        "SELECT u.id, x.s FROM u, LATERAL (SELECT k, SUM(n) AS s FROM t WHERE t.v = u.w GROUP BY k ORDER BY 2 LIMIT 1) "
        "AS x",
        [[1, 1], [7, 7]],
    ),
    (
        "SELECT u.id, x.y FROM u, LATERAL (SELECT v + u.w FROM t WHERE t.id = u.id) AS x (y)",
        [[1, 20], [2, None], [3, None]],
    ),
    (
        "SELECT y.n, x.k FROM (SELECT id AS n FROM u) AS y, LATERAL (SELECT * FROM t WHERE id = y.n) AS x",
        [[1, "a"], [2, "a"], [3, "b"]],
    ),
    (
        "SELECT x.v, z.c FROM u, LATERAL (SELECT v FROM t WHERE t.v = u.w) AS x, LATERAL (SELECT COUNT(*) AS c FROM t "
        "WHERE t.v = x.v) AS z",
        [[10, 1], [30, 2], [30, 2]],
    ),
]


@pytest.mark.spark
@pytest.mark.parametrize(("query", "rows"), BEYOND_FLINK)
def test_rows_that_flink_does_not_give(query: str, rows: list[list[Any]], spark: SparkSession) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    env.execute_script(TABLES)
    assert sorted((list(row) for _, row in env.execute_sql(query).collect_changes()), key=repr) == sorted(
        rows, key=repr
    )


FRONT = "SELECT 1 FROM u, LATERAL "
REFUSED = {
    "SELECT 1 FROM u RIGHT JOIN LATERAL (SELECT v FROM t WHERE t.v = u.w) AS x ON TRUE": "RIGHT JOIN of a LATERAL",
    "(SELECT v FROM t WHERE t.v = u.w LIMIT 1) AS x": "LIMIT without ORDER BY",
    "(SELECT DISTINCT v FROM t WHERE t.v = u.w ORDER BY v LIMIT 1) AS x": "LIMIT with DISTINCT",
    "(SELECT RANK() OVER (ORDER BY v) FROM t WHERE t.v = u.w) AS x": "functions OVER windows",
    "(SELECT v FROM t WHERE t.v = u.w) AS x (a, b)": "2 column names for 1 columns",
    "(SELECT v FROM t WHERE t.v = u.w) AS u": "two relations are named 'u'",
    "(SELECT v FROM t WHERE t.v = u.q) AS x": "not found",
    "(SELECT v FROM t WHERE t.v = u.w ORDER BY 2 LIMIT 1) AS x": "ORDER BY 2: there are 1 columns",
    "SELECT (SELECT MAX(v) FROM t WHERE t.v = u.w LIMIT 0) FROM u": "a subquery that gives no row",
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_no_join_can_stand_for_is_refused_at_its_place(query: str) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"})
    env.execute_script(TABLES)
    with pytest.raises(RekindleError) as raised:
        env.compile_plan_sql(query if query.startswith("SELECT") else FRONT + query)
    assert REFUSED[query] in str(raised.value)
    assert raised.value.position is not None


def test_a_query_with_limit_and_one_row_of_aggregates_counts_for_each_row() -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"})
    env.execute_script(TABLES)
    plain, limited = (
        env.compile_plan_sql(f"SELECT (SELECT MAX(v) FROM t WHERE t.v = u.w{end}) FROM u").as_json_string()
        for end in ("", " ORDER BY 1 LIMIT 1")
    )
    assert plain == limited
