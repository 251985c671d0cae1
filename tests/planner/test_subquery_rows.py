"""Subqueries inside expressions, bound and interpreted: the rows that Flink gives, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.options import Configuration
from planner import bind, ddl
from planner import statements as s
from planner.catalog.catalogs import Catalog
from planner.parse import parse
from tests.planner.interpreter import run

TABLES = """
CREATE TABLE t (id INT NOT NULL, k STRING NOT NULL, v INT, n INT NOT NULL) WITH ('connector' = 'x');
CREATE TABLE u (id INT NOT NULL, w INT, m INT NOT NULL) WITH ('connector' = 'x');
"""
ROWS: dict[str, list[dict[str, object]]] = {
    "t": [
        dict(zip(("id", "k", "v", "n"), row, strict=True))
        for row in (
            (1, "a", 10, 1),
            (2, "a", None, 2),
            (3, "b", 30, 3),
            (4, "b", 30, 4),
            (5, "c", None, 5),
            (6, "c", 5, 6),
        )
    ],
    "u": [dict(zip(("id", "w", "m"), row, strict=True)) for row in ((1, 10, 1), (2, 20, 2), (3, None, 3), (7, 30, 7))],
}
LINES = (Path(__file__).parents[1] / "batch" / "subqueries.jsonl").read_text(encoding="utf-8").splitlines()
QUERIES: list[tuple[str, list[list[Any]]]] = [(each["query"], each["rows"]) for each in map(json.loads, LINES)]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    made = Catalog()
    for statement in parse(TABLES):
        ddl.execute(statement, made, Configuration())
    return made


def interpret(catalog: Catalog, query: str) -> list[tuple[object, ...]]:
    """The rows of a query; TypeError for what is not interpreted."""
    (statement,) = parse(query)
    assert isinstance(statement, s.QueryStatement)
    options = Configuration({"execution.runtime-mode": "batch"})
    plan = bind.build_query(statement.query, catalog, options)
    return list(run(plan, ROWS, batch=True).elements())


def test_rows_are_those_of_flink(catalog: Catalog) -> None:
    interpreted = 0
    for query, rows in QUERIES:
        try:
            found = interpret(catalog, query)
        except TypeError:
            continue
        interpreted += 1
        assert sorted(found, key=repr) == sorted(map(tuple, rows), key=repr), query
    assert interpreted > 0.8 * len(QUERIES)


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("EXISTS {}", False),
        ("NOT EXISTS {}", True),
        ("v IN {}", False),
        ("v NOT IN {}", True),
        ("v > ALL {}", True),
        ("v <> ALL {}", True),
        ("v > SOME {}", False),
        ("v = SOME {}", False),
    ],
)
def test_no_rows_are_known_to_be_none(catalog: Catalog, condition: str, answer: bool) -> None:
    """Also where the value that is looked for is NULL."""
    nothing = condition.format("(SELECT w FROM u WHERE w > 100)")
    assert interpret(catalog, f"SELECT {nothing} FROM t") == [(answer,)] * len(ROWS["t"])


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("n IN {}", None),
        ("n NOT IN {}", None),
        ("n > SOME {}", None),
        ("n < SOME {}", True),
        ("n > ALL {}", False),
        ("n < ALL {}", None),
    ],
)
def test_null_among_the_rows_is_unknown_unless_others_decide(
    catalog: Catalog, condition: str, answer: bool | None
) -> None:
    """Also where the value that is looked for cannot be NULL."""
    nullable = condition.format("(SELECT w FROM u)")
    assert interpret(catalog, f"SELECT {nullable} FROM t") == [(answer,)] * len(ROWS["t"])
