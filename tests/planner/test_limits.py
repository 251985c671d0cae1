"""Statements that grow: plans grow along with them and no faster, or the limit that they pass is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from execnodes.core.errors import SqlError
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from execnodes.stream.calc import Calc
from planner import ddl
from planner import statements as s
from planner.algebra.extent import extent
from planner.bind import build_query
from planner.catalog.catalogs import Catalog
from planner.limits import MAX_DEPTH, MAX_WAYS
from planner.lower import lower
from planner.optimize import optimize
from planner.parse import parse
from plans.format.codec import encode
from plans.format.load import load
from rekindle.statements.compile import compile_graph
from rekindle.statements.query_sink import into_collect
from tests.planner.steps import counted

TABLES = "CREATE TABLE t (k STRING, a BIGINT, b BIGINT, f BOOLEAN) WITH ('connector' = 'datagen')"


def compiled(sql: str) -> ExecGraph:
    catalog, configuration = Catalog(), Configuration()
    for statement in parse(TABLES):
        ddl.execute(statement, catalog, configuration)
    (query,) = parse(sql)
    assert isinstance(query, s.QueryStatement)
    return compile_graph(query, catalog, configuration)


def steps(sql: str) -> int:
    """Calls that Python makes to optimize and lower a query: time that no machine changes."""
    catalog, configuration = Catalog(), Configuration()
    for statement in parse(TABLES):
        ddl.execute(statement, catalog, configuration)
    (query,) = parse(sql)
    assert isinstance(query, s.QueryStatement)
    with counted() as work:
        plan = build_query(query.query, catalog, configuration)
        lower(optimize((into_collect(plan, query.position),), configuration), configuration)
    return work.calls


def nested(count: int, around: Callable[[str], str], text: str) -> str:
    for _ in range(count):
        text = around(text)
    return text


def doubled(count: int, body: str) -> str:
    """A query of WITH that reads the one before twice, and so on."""
    parts = ["c0 AS (SELECT k, a, b FROM t)"]
    parts += [f"c{at} AS ({body.format(before=f'c{at - 1}', at=at)})" for at in range(1, count + 1)]
    return f"WITH {', '.join(parts)} SELECT * FROM c{count}"


def joined(parts: list[str], by: str) -> str:
    return by.join(parts)


GROWING: dict[str, tuple[Callable[[int], str], int]] = {
    "OR": (lambda n: f"SELECT a FROM t WHERE {joined([f'a = {each}' for each in range(n)], ' OR ')}", 150),
    "AND": (lambda n: f"SELECT a FROM t WHERE {joined([f'a <> {each}' for each in range(n)], ' AND ')}", 150),
    "+": (lambda n: f"SELECT {joined(['a'] * n, ' + ')} FROM t", 64),
    "||": (lambda n: f"SELECT {joined(['k'] * n, ' || ')} FROM t", 64),
    "aggregates": (
        lambda n: f"SELECT k, {joined([f'SUM(a + {each})' for each in range(n)], ', ')} FROM t GROUP BY k",
        100,
    ),
    "VALUES": (lambda n: f"SELECT * FROM (VALUES {joined([f'({each}, 1)' for each in range(n)], ', ')})", 100),
    "IN": (lambda n: f"SELECT a FROM t WHERE a IN ({joined([str(each) for each in range(n)], ', ')})", 100),
    "CASE": (lambda n: f"SELECT CASE {' '.join(f'WHEN a = {each} THEN 1' for each in range(n))} ELSE 2 END FROM t", 60),
    "UNION ALL": (lambda n: joined([f"SELECT a + {each} FROM t" for each in range(n)], " UNION ALL "), 40),
    "a + a": (lambda n: nested(n, lambda inner: f"SELECT a + a AS a FROM ({inner})", "SELECT a FROM t"), 6),
    "a + a, filtered": (
        lambda n: nested(n, lambda inner: f"SELECT a + a AS a FROM ({inner}) WHERE a > 1", "SELECT a FROM t"),
        6,
    ),
    "two of two": (
        lambda n: nested(n, lambda inner: f"SELECT a + b AS a, a - b AS b FROM ({inner})", "SELECT a, b FROM t"),
        6,
    ),
    "EXISTS": (lambda n: nested(n, lambda inner: f"SELECT k FROM t WHERE EXISTS ({inner})", "SELECT k FROM t"), 6),
    "joined with itself": (
        lambda n: doubled(n, "SELECT x.* FROM {before} AS x JOIN {before} AS y ON x.k = y.k WHERE x.a > {at}"),
        5,
    ),
    "united and grouped": (
        lambda n: doubled(
            n,
            "SELECT k, SUM(a) AS a, MAX(b) AS b FROM "
            "(SELECT * FROM {before} UNION ALL SELECT * FROM {before}) GROUP BY k",
        ),
        5,
    ),
    "UNION": (lambda n: doubled(n, "SELECT * FROM {before} UNION SELECT * FROM {before}"), 5),
    "INTERSECT": (lambda n: doubled(n, "SELECT * FROM {before} INTERSECT SELECT * FROM {before}"), 5),
}


@pytest.mark.parametrize("shape", GROWING)
def test_twice_the_statement_takes_about_twice_the_steps(shape: str) -> None:
    text, size = GROWING[shape]
    steps(text(size))  # what is imported and cached
    one, two, three = (steps(text(size * times)) for times in (1, 2, 3))
    # A square would add five thirds as much the second time as the first; doubling, thirty times as much.
    assert three - two < 2.5 * (two - one), (one, two, three)


@pytest.mark.parametrize("shape", GROWING)
def test_what_compiles_can_be_read_again(shape: str) -> None:
    text, size = GROWING[shape]
    graph = compiled(text(2 * size))
    assert load(encode(graph)).nodes == graph.nodes


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (f"SELECT {' + '.join(['a'] * 300)} FROM t", f"nests 300 calls in each other, more than {MAX_DEPTH}"),
        (f"SELECT\n {nested(60, lambda each: f'NULLIF({each}, 1)', 'a')} FROM t", "when it is written out, more than"),
        (doubled(14, "SELECT * FROM {before} UNION ALL SELECT * FROM {before}"), f"16384 ways .* more than {MAX_WAYS}"),
        (
            f"SELECT 1 FROM t {' '.join(f'JOIN t AS t{at} ON t.k = t{at}.k' for at in range(320))}",
            "more than 300 tables",
        ),
        (
            f"SELECT COUNT(*) FROM t GROUP BY {', '.join(['GROUPING SETS ((k), (a))'] * 12)}",
            f"GROUP BY names 4096 sets of keys, more than {MAX_WAYS}",
        ),
    ],
)
def test_a_limit_is_named_with_the_place(sql: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        compiled(sql)
    assert caught.value.position is not None
    assert caught.value.hint


def test_terms_of_or_stand_side_by_side_when_there_are_many() -> None:
    def depth(terms: int) -> int:
        text = f"SELECT * FROM t WHERE f = ({' OR '.join(f'a = {each}' for each in range(terms))})"
        (condition,) = (each.condition for each in compiled(text).nodes if isinstance(each, Calc) and each.condition)
        return extent(condition)[0]

    assert depth(20) > 20
    assert depth(150) < 10


def test_a_text_may_have_a_nul() -> None:
    """What the plan says of it for people has none."""
    plan = encode(compiled("SELECT a, 'x\0' AS x FROM t WHERE k <> '\0y'"))
    assert plan.count("\\u0000") == 2
    assert encode(load(plan)) == plan
