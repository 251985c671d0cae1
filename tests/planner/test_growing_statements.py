"""Statements that grow: long chains take their length in time; what nests too deep is refused at its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from execnodes.core.errors import SqlError
from planner import syntax
from planner.parse import parse
from planner.sql.cursor import MOST_NESTED
from rekindle.api.table_environment import TableEnvironment
from tests.planner.steps import counted
from tests.planner.syntax_text import parse_expression

LONG: dict[str, Callable[[int], str]] = {
    "AND": lambda n: "SELECT 1 FROM t WHERE " + " AND ".join(f"a = {i}" for i in range(n)),
    "OR": lambda n: "SELECT 1 FROM t WHERE " + " OR ".join(f"a = {i}" for i in range(n)),
    "+": lambda n: "SELECT " + " + ".join(f"a{i}" for i in range(n)),
    "||": lambda n: "SELECT " + " || ".join(f"a{i}" for i in range(n)),
    "UNION ALL": lambda n: " UNION ALL ".join(f"SELECT {i}" for i in range(n)),
    "INTERSECT": lambda n: " INTERSECT ".join(f"SELECT {i}" for i in range(n)),
    "JOIN": lambda n: "SELECT 1 FROM t" + "".join(f" JOIN t{i} ON t{i}.a = t.a" for i in range(n)),
    "comma": lambda n: "SELECT 1 FROM t" + "".join(f", t{i}" for i in range(n)),
    "VALUES": lambda n: "VALUES " + ", ".join(f"({i}, 'x', 1.5)" for i in range(n)),
    "IN": lambda n: f"SELECT 1 FROM t WHERE a IN ({', '.join(map(str, range(n)))})",
    "aggregates": lambda n: "SELECT " + ", ".join(f"SUM(a{i}) FILTER (WHERE b > {i})" for i in range(n)),
    "CASE": lambda n: "SELECT CASE " + " ".join(f"WHEN a = {i} THEN {i}" for i in range(n)) + " END",
    "columns": lambda n: f"CREATE TABLE t ({', '.join(f'c{i} INT' for i in range(n))})",
    "statements": lambda n: "INSERT INTO t SELECT 1;" * n,
    "WITH": lambda n: "WITH " + ", ".join(f"a{i} AS (SELECT 1)" for i in range(n)) + " SELECT 1",
}


@pytest.mark.parametrize("kind", LONG)
def test_long_chains_take_steps_by_their_length(kind: str) -> None:
    spent = []
    for length in (400, 4000):
        text = LONG[kind](length)
        with counted() as steps:
            assert parse(text)
        spent.append(steps.calls)
    assert spent[1] < 15 * spent[0]


DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "SELECT " + "(" * n + "a" + ")" * n,
    "calls": lambda n: "SELECT " + "f(" * n + "a" + ")" * n,
    "CASE": lambda n: "SELECT " + "CASE WHEN a THEN " * n + "a" + " END" * n,
    "subqueries": lambda n: "SELECT * FROM (" * n + "SELECT 1" + ")" * n,
    "WITH": lambda n: "WITH a AS (" * n + "SELECT 1" + ") SELECT * FROM a" * n,
    "EXISTS": lambda n: "SELECT 1 FROM t WHERE EXISTS (" * n + "SELECT 1" + ")" * n,
    "types": lambda n: "SELECT CAST(a AS " + "ARRAY<" * (n - 1) + "INT" + ">" * (n - 1) + ")",
    "suffixed types": lambda n: "SELECT CAST(a AS INT" + " ARRAY" * (n - 1) + ")",
    "rows": lambda n: "CREATE TABLE t (a " + "ROW<a " * (n - 1) + "INT" + ">" * (n - 1) + ")",
    "NOT": lambda n: "SELECT " + "NOT " * n + "a",
    "minus": lambda n: "SELECT " + "- " * n + "a",
    "indexes": lambda n: "SELECT a" + "[1]" * n,
    "fields": lambda n: "SELECT f(a)" + ".b" * n,
    "names": lambda n: "SELECT a" + ".b" * n,
    "IS NULL": lambda n: "SELECT a" + " IS NULL" * n,
    "joins": lambda n: "SELECT 1 FROM " + "(" * n + "t" + " JOIN u ON TRUE)" * n,
    "GROUPING SETS": lambda n: "SELECT 1 FROM t GROUP BY " + "GROUPING SETS (" * n + "a" + ")" * n,
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_nesting_is_read_or_refused_at_its_place(kind: str) -> None:
    assert parse(DEEP[kind](MOST_NESTED))
    for depth in (MOST_NESTED + 2, 30_000):
        with pytest.raises(SqlError, match=f"nested deeper than {MOST_NESTED} levels") as raised:
            parse(DEEP[kind](depth))
        assert raised.value.position is not None
        assert raised.value.position.column < len(DEEP[kind](MOST_NESTED + 2))


def test_a_chain_keeps_its_form() -> None:
    found = parse_expression("a OR b OR (c OR d) OR e")
    assert isinstance(found, syntax.Call)
    assert len(found.args) == 4
    found = parse_expression("a + b + c")
    assert isinstance(found, syntax.Call)
    assert isinstance(found.args[0], syntax.Call)


SUMS = "SELECT k{} FROM (VALUES ('a', 1)) AS t (k, v) GROUP BY k"
COMPILED: dict[str, tuple[Callable[[int], str], int]] = {
    "VALUES": (lambda n: "SELECT * FROM (VALUES " + ", ".join(f"({i}, 'x', {i}.5)" for i in range(n)) + ") AS t", 650),
    "aggregates": (lambda n: SUMS.format("".join(f", SUM(v + {i})" for i in range(n))), 2300),
}
"""Statements, and the most calls for each of their parts: from text to a plan that has been written and read."""


@pytest.mark.parametrize("kind", COMPILED)
def test_plans_take_steps_by_their_length(kind: str) -> None:
    statement, most = COMPILED[kind]
    environment, spent = TableEnvironment.create(), []
    for length in (100, 100, 300):  # what is loaded and cached by the first does not count
        with counted() as steps:
            environment.compile_plan_sql(statement(length))
        spent.append(steps.calls)
    assert (spent[2] - spent[1]) / 200 < most


TABLES = "CREATE TABLE t (a INT, b INT) WITH ('connector' = 'datagen')"
NESTED: dict[str, str] = {
    "IN beside OR": "SELECT a FROM t WHERE a IN ({}) OR b > 1",
    "IN of a correlated query beside OR": (
        "SELECT a FROM t WHERE a IN (SELECT a FROM t AS x WHERE x.b = t.b AND a = ({})) OR b > 1"
    ),
    "NOT IN": "SELECT a FROM t WHERE a NOT IN ({})",
    "EXISTS beside OR": "SELECT a FROM t WHERE EXISTS ({}) OR b > 1",
    "ALL": "SELECT a FROM t WHERE a > ALL ({})",
    "ALL over values of subqueries": "SELECT CASE WHEN a > ALL ({}) THEN 1 END AS a FROM t",
    "a value in SELECT": "SELECT ({}) AS a FROM t",
    "a value in WHERE": "SELECT a FROM t WHERE a = ({})",
    "a value in an aggregate": "SELECT MAX(a + ({})) AS a FROM t",
    "LATERAL": "SELECT x.a FROM t, LATERAL (SELECT a FROM ({}) AS y WHERE y.a = t.b) AS x",
    "LATERAL with aggregates": "SELECT x.a FROM t, LATERAL (SELECT MAX(a) AS a FROM ({}) AS y WHERE y.a = t.b) AS x",
    "LATERAL with LIMIT": (
        "SELECT x.a FROM t, LATERAL (SELECT a FROM ({}) AS y WHERE y.a = t.b ORDER BY a LIMIT 1) AS x"
    ),
    "a correlated value over a query in FROM": "SELECT (SELECT MAX(a) FROM ({}) AS x WHERE x.a = t.b) AS a FROM t",
}


@pytest.mark.parametrize("kind", NESTED)
def test_nested_subqueries_take_steps_by_their_depth(kind: str) -> None:
    environment, spent = TableEnvironment.create(), []
    environment.execute_sql(TABLES)
    for depth in (3, 3, 6, 12):  # what is loaded and cached by the first does not count
        query = "SELECT a FROM t"
        for _ in range(depth):
            query = NESTED[kind].format(query)
        with counted() as steps:
            environment.compile_plan_sql(query)
        spent.append(steps.calls)
    assert spent[3] - spent[2] < 4 * (spent[2] - spent[1])
