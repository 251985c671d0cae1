"""A name that a SELECT list gives twice means no column of it, in FROM, WITH, views and ORDER BY, as in Flink 2.3."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from rekindle import TableEnvironment

DDL = """
CREATE TABLE q (a INT, b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
"""
TUMBLE = "TABLE(TUMBLE((SELECT a, b AS a, ts FROM q), DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
AMBIGUOUS = (
    "SELECT a FROM (SELECT a, b AS a FROM q) AS t",
    "SELECT t.a FROM (SELECT a, b AS a FROM q) AS t",
    "SELECT * FROM (SELECT a, a FROM q) AS t",
    "SELECT t.* FROM (SELECT a, a FROM q) AS t",
    "SELECT 1 FROM (SELECT a, a FROM q) AS t WHERE a = 1",
    "SELECT a FROM (SELECT q.*, a FROM q) AS t",
    "SELECT a FROM (SELECT a, a FROM q UNION ALL SELECT a, a AS b FROM q) AS t",
    "SELECT a FROM (WITH w AS (SELECT a FROM q) SELECT a, a FROM w) AS t",
    "SELECT z.a FROM (SELECT x.a, y.a FROM q AS x JOIN q AS y ON x.a = y.a) AS z",
    "SELECT t.a FROM q AS x, LATERAL (SELECT x.a, y.a FROM q AS y) AS t",
    "SELECT 1 FROM q WHERE a IN (SELECT a FROM (SELECT a, a FROM q) AS t)",
    f"SELECT a FROM {TUMBLE}",
    "SELECT a AS x, b AS x FROM q ORDER BY x LIMIT 1",
    "SELECT a, a FROM q ORDER BY a LIMIT 1",
)
TWICE = (
    "WITH w AS (SELECT a, a FROM q) SELECT 1 FROM w",
    "CREATE VIEW v AS SELECT a, a FROM q",
    "CREATE TEMPORARY VIEW v AS SELECT x.a, y.a FROM q AS x JOIN q AS y ON x.a = y.a",
    "CREATE VIEW v AS SELECT q.*, a FROM q",
    "CREATE VIEW v AS SELECT a, a FROM q UNION ALL SELECT a, a AS b FROM q",
)
TAKEN = {
    "SELECT a, a FROM q": ("a", "a0"),
    "SELECT b FROM (SELECT a, a, b FROM q) AS t": ("b",),
    "SELECT COUNT(*) FROM (SELECT a, a FROM q) AS t": ("EXPR$0",),
    "SELECT * FROM (SELECT a, a FROM q) AS t (x, y)": ("x", "y"),
    "WITH w (x, y) AS (SELECT a, a FROM q) SELECT y FROM w": ("y",),
    "SELECT a0 FROM (SELECT a, q.* FROM q) AS t": ("a0",),
    "SELECT * FROM (SELECT a, q.* FROM q) AS t": ("a", "a0", "b", "ts"),
    "SELECT b0 FROM (SELECT * FROM q AS x JOIN q AS y ON x.a = y.a) AS t": ("b0",),
    "SELECT * FROM (SELECT COUNT(*), COUNT(*) FROM q) AS t": ("EXPR$0", "EXPR$1"),
    f"SELECT window_start FROM {TUMBLE}": ("window_start",),
}


@pytest.fixture(name="environment")
def create_environment() -> TableEnvironment:
    made = TableEnvironment.create()
    made.execute_script(DDL)
    return made


@pytest.mark.parametrize("query", AMBIGUOUS)
def test_a_repeated_name_is_ambiguous(query: str, environment: TableEnvironment) -> None:
    with pytest.raises(SqlError, match=r"Column '[ax]' is ambiguous") as caught:
        environment.compile_script(query)
    assert caught.value.position is not None
    assert caught.value.hint is not None


@pytest.mark.parametrize("statement", TWICE)
def test_views_and_queries_of_with_name_a_column_once(statement: str, environment: TableEnvironment) -> None:
    with pytest.raises(SqlError, match=r"two columns named 'a'|names a column twice") as caught:
        environment.execute_script(statement)
    assert caught.value.position is not None
    assert caught.value.hint == "Give one of them another name, by AS."


def test_a_number_is_no_name_of_a_repeated_column(environment: TableEnvironment) -> None:
    with pytest.raises(SqlError, match="Column 'a0' not found"):
        environment.compile_script("SELECT a0 FROM (SELECT a, a FROM q) AS t")


@pytest.mark.parametrize("query", TAKEN)
def test_other_columns_are_found(query: str, environment: TableEnvironment) -> None:
    assert tuple(environment.sql_query(query).get_resolved_schema().get_column_names()) == TAKEN[query]


def test_columns_of_a_table_of_the_api_have_numbers(environment: TableEnvironment) -> None:
    table = environment.sql_query("SELECT x.a, y.a FROM q AS x JOIN q AS y ON x.a = y.a")
    environment.create_temporary_view("v", table.where(table.a0 == 1))
    assert environment.sql_query("SELECT a0, a FROM v").get_resolved_schema().get_column_names() == ["a0", "a"]
