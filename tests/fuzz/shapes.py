"""Statements of one shape in any size: they compile along with their size, or the limit that they pass is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from execnodes.core.errors import SqlError
from execnodes.core.options import Configuration
from planner import ddl
from planner import statements as s
from planner.catalog.catalogs import Catalog
from planner.parse import parse
from plans.format.codec import encode
from plans.format.load import load
from rekindle.statements.compile import compile_graph
from tests.fuzz.frame import Defect, Fuzzer

TABLE = "CREATE TABLE t (k STRING, a BIGINT, b BIGINT, f BOOLEAN, d DOUBLE) WITH ('connector' = 'datagen')"
Shape = Callable[[int], str]


def _list(part: str, by: str, around: str) -> Shape:
    return lambda size: around.format(by.join(part.format(at=at) for at in range(size)))


def _nest(around: str, inner: str, whole: str = "{}") -> Shape:
    def text(size: int) -> str:
        made = inner
        for _ in range(size):
            made = around.replace("@", made)
        return whole.format(made)

    return text


def _with(body: str) -> Shape:
    def text(size: int) -> str:
        parts = ["c0 AS (SELECT k, a, b FROM t)"]
        parts += [f"c{at} AS ({body.replace('@', f'c{at - 1}').replace('#', str(at))})" for at in range(1, size + 1)]
        return f"WITH {', '.join(parts)} SELECT * FROM c{size}"

    return text


SHAPES: dict[str, Shape] = {
    "parentheses": lambda size: f"SELECT {'(' * size}a{')' * size} FROM t",
    "right sums": lambda size: f"SELECT {'(1 + ' * size}a{')' * size} FROM t",
    "or": _list("a = {at}", " OR ", "SELECT a FROM t WHERE {}"),
    "and": _list("a <> {at} AND b > {at}", " AND ", "SELECT a FROM t WHERE {}"),
    "not": lambda size: f"SELECT a FROM t WHERE {'NOT ' * size}f",
    "sum": _list("a", " + ", "SELECT {} FROM t"),
    "text": _list("k", " || ", "SELECT {} FROM t"),
    "joins": _list("JOIN t AS t{at} ON t0.k = t{at}.k", " ", "SELECT 1 AS x FROM t {}"),
    "commas": _list("t AS t{at}", ", ", "SELECT 1 AS x FROM {}"),
    "aggregates": _list("SUM(a + {at})", ", ", "SELECT k, {} FROM t GROUP BY k"),
    "filtered aggregates": _list("COUNT(*) FILTER (WHERE a = {at})", ", ", "SELECT k, {} FROM t GROUP BY k"),
    "keys": _list("a + {at}", ", ", "SELECT COUNT(*) FROM t GROUP BY {}"),
    "cube": _list("a{at}", ", ", "SELECT COUNT(*) FROM t GROUP BY CUBE ({})"),
    "values": _list("({at}, 'x', {at}.5)", ", ", "SELECT * FROM (VALUES {}) AS v(a, b, c)"),
    "computed values": _list("({at}, UPPER('x'))", ", ", "SELECT * FROM (VALUES {}) AS v(a, b)"),
    "in": _list("{at}", ", ", "SELECT a FROM t WHERE a NOT IN ({})"),
    "mixed in": _list("{at}, {at}.5", ", ", "SELECT a FROM t WHERE a IN ({})"),
    "case": _list("WHEN a = {at} THEN {at}", " ", "SELECT CASE {} END FROM t"),
    "nested case": _nest("CASE WHEN a > 1 THEN @ ELSE 0 END", "a", "SELECT {} FROM t"),
    "coalesce": _list("NULLIF(a, {at})", ", ", "SELECT COALESCE({}) FROM t"),
    "nullif": _nest("NULLIF(@, 1)", "a", "SELECT {} FROM t"),
    "upper": _nest("UPPER(@)", "k", "SELECT {} FROM t"),
    "round": _nest("ROUND(@, 2)", "d", "SELECT {} FROM t"),
    "greatest": _nest("GREATEST(@, b)", "a", "SELECT {} FROM t"),
    "columns": _list("a", ", ", "SELECT {} FROM t"),
    "names": _list("a AS c{at}", ", ", "SELECT {} FROM t"),
    "subqueries": _nest("SELECT a FROM (@)", "SELECT a FROM t"),
    "filtered subqueries": _nest("SELECT a FROM (@) WHERE a > 0", "SELECT a FROM t"),
    "a + a": _nest("SELECT a + a AS a FROM (@)", "SELECT a FROM t"),
    "a + a, filtered": _nest("SELECT a + a AS a FROM (@) WHERE a > 1", "SELECT a FROM t"),
    "a + a, then filtered": _nest("SELECT a + a AS a FROM (@)", "SELECT a FROM t", "SELECT * FROM ({}) WHERE a = 3"),
    "a + a, joined": _nest("SELECT a + a AS a FROM (@)", "SELECT a FROM t", "SELECT 1 FROM ({}) x JOIN t ON x.a = t.a"),
    "two of two": _nest("SELECT a + b AS a, a - b AS b FROM (@)", "SELECT a, b FROM t"),
    "grouped subqueries": _nest("SELECT k, SUM(a) AS a FROM (@) GROUP BY k", "SELECT k, a FROM t"),
    "nested in": _nest("SELECT k FROM t WHERE k IN (@)", "SELECT k FROM t"),
    "exists": _nest("SELECT k FROM t WHERE EXISTS (@)", "SELECT k FROM t"),
    "scalar": _nest("SELECT MAX(a) FROM t WHERE a > (@)", "SELECT MAX(a) FROM t"),
    "unions": _list("SELECT a + {at} FROM t", " UNION ALL ", "{}"),
    "distinct unions": _list("SELECT a FROM t", " UNION ", "{}"),
    "excepts": _list("SELECT a + {at} FROM t", " EXCEPT ", "{}"),
    "with": _with("SELECT k, a + 1 AS a, b FROM @"),
    "with, filtered": _with("SELECT * FROM @ WHERE a <> #"),
    "with, united": _with("SELECT * FROM @ UNION ALL SELECT * FROM @"),
    "with, united apart": _with("SELECT k, a + 1 AS a, b FROM @ WHERE a > # UNION ALL SELECT * FROM @ WHERE a < #"),
    "with, distinct": _with("SELECT * FROM @ UNION SELECT * FROM @"),
    "with, joined": _with("SELECT x.* FROM @ AS x JOIN @ AS y ON x.k = y.k WHERE x.a > # AND y.b < #"),
    "with, in": _with("SELECT * FROM @ WHERE k IN (SELECT k FROM @)"),
    "arrays": lambda size: f"SELECT {'ARRAY[' * size}a{']' * size} FROM t",
    "rows": lambda size: f"SELECT {'ROW(' * size}a{')' * size} FROM t",
    "types": lambda size: f"SELECT CAST(NULL AS {'ARRAY<' * size}INT{'>' * size}) FROM t",
    "digits": lambda size: f"SELECT {'9' * size}, 0.{'9' * size}, 1E{'9' * min(size, 30)} FROM t",
    "name": lambda size: f"SELECT a AS {'x' * size} FROM t",
    "dots": lambda size: f"SELECT a{'.b' * size} FROM t",
}  # fmt: skip
_LARGEST = 3.2
"""Power of ten."""


def draw(random: Random) -> str:
    """Most are small, some have more than a thousand parts."""
    return f"{random.choice(sorted(SHAPES))}: {int(10 ** random.uniform(0, _LARGEST))}"


def run(text: str) -> None:
    """Compile, write and read. A SqlError has its place."""
    name, _, size = text.rpartition(": ")
    catalog, configuration = Catalog(), Configuration()
    for statement in parse(TABLE):
        ddl.execute(statement, catalog, configuration)
    try:
        (query,) = parse(SHAPES[name](int(size)))
        assert isinstance(query, s.QueryStatement)
        graph = compile_graph(query, catalog, configuration)
    except SqlError as error:
        if error.position is None:
            raise Defect(f"a refusal without its place: {error}") from error
        raise
    assert load(encode(graph)).nodes == graph.nodes


def smaller(text: str) -> Iterator[str]:
    """The same shape in half the size, or one less."""
    name, _, size = text.rpartition(": ")
    return (f"{name}: {each}" for each in (int(size) // 2, int(size) - 1) if each > 0)


FUZZER = Fuzzer(draw, run, smaller, quick=25)
