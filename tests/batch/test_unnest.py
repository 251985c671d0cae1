"""UNNEST in all its forms: the same rows in streams and in batch, also where several queries read one table."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import SqlError
from execnodes.core.types import INT, Field, row
from execnodes.lowering.stream import Branch, Members, Rows
from rekindle import TableEnvironment
from rekindle.pipeline.arms import apart, unnested_by_all
from rekindle.pipeline.ways import Arm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BAGS = [
    {"id": 1, "xs": [3, 1, None], "rs": [{"n": "p", "q": 1}, None], "m": {"a": 1, "b": None}, "xss": [[1, 2], [3]]},
    {"id": 2, "xs": [], "rs": [], "m": {}, "xss": [[]]},
    {"id": 3, "xs": None, "rs": None, "m": None, "xss": None},
    {"id": 4, "xs": [4], "rs": [None], "m": {"z": 9}, "xss": [[4], None]},
]
DDL = """
CREATE TABLE bags (id INT, xs ARRAY<INT>, rs ARRAY<ROW<n STRING, q INT>>, m MAP<STRING, INT>, xss ARRAY<ARRAY<INT>>)
  WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')
"""
QUERIES: dict[str, list[tuple[object, ...]]] = {
    "SELECT id, x FROM bags, UNNEST(xs) AS u (x)": [(1, 1), (1, 3), (1, None), (4, 4)],
    "SELECT id, x, i FROM bags LEFT JOIN UNNEST(xs) WITH ORDINALITY AS u (x, i) ON TRUE": [
        (1, 1, 2), (1, 3, 1), (1, None, 3), (2, None, None), (3, None, None), (4, 4, 1),
    ],
    "SELECT id, u.n, u.q FROM bags CROSS JOIN UNNEST(rs) AS u": [(1, "p", 1)],
    "SELECT id, n, q FROM bags LEFT JOIN UNNEST(rs) AS u (n, q) ON TRUE": [
        (1, "p", 1), (2, None, None), (3, None, None), (4, None, None),
    ],
    "SELECT id, k, v FROM bags CROSS JOIN UNNEST(m) AS u (k, v)": [(1, "a", 1), (1, "b", None), (4, "z", 9)],
    "SELECT id, x FROM bags CROSS JOIN UNNEST(xss) AS u (ys) CROSS JOIN UNNEST(ys) AS w (x)": [
        (1, 1), (1, 2), (1, 3), (4, 4),
    ],
    "SELECT a.x, b.x FROM bags CROSS JOIN UNNEST(xs) AS a (x) CROSS JOIN UNNEST(xs) AS b (x) "
    "WHERE id = 4 OR a.x > b.x": [
        (3, 1), (4, 4),
    ],
    "SELECT id, 6 / x FROM (SELECT * FROM bags WHERE id > 3) LEFT JOIN UNNEST(xs) AS u (x) ON TRUE": [(4, 1)],
    "SELECT id, x FROM bags LEFT JOIN UNNEST(xs) AS u (x) ON x >= id AND 12 / (x - 2) > 0": [
        (1, 3), (2, None), (3, None), (4, 4),
    ],
    "SELECT id, y, x FROM bags LEFT JOIN UNNEST(xss) AS u (ys) ON CARDINALITY(ys) > 0 "
    "LEFT JOIN UNNEST(ys) AS w (x) ON x <> id LEFT JOIN UNNEST(xs) AS z (y) ON y = x": [
        (1, 3, 3), (1, None, 2), (2, None, None), (3, None, None), (4, None, None),
    ],
    "SELECT t.id, t.x FROM bags, LATERAL (SELECT bags.id + 1 AS id, x FROM UNNEST(xs) AS bags_ (x) WHERE x > 1) AS t": [
        (2, 3), (5, 4),
    ],
    "SELECT id, t.y FROM bags LEFT JOIN LATERAL (SELECT * FROM UNNEST(xs) AS u (x) WHERE x < 4) AS t (y) ON y > id": [
        (1, 3), (2, None), (3, None), (4, None),
    ],
}  # fmt: skip


def whole() -> str:
    """All queries as one, so that in a stream a table is read once and each row goes all the ways."""
    parts = []
    for at, (query, rows) in enumerate(QUERIES.items()):
        names = [f"c{each}" for each in range(len(rows[0]))]
        cells = [f"CAST({each} AS STRING)" for each in names] + ["CAST(NULL AS STRING)"] * (3 - len(names))
        parts.append(f"SELECT {at} AS q, {', '.join(cells)} FROM ({query}) AS d ({', '.join(names)})")
    return " UNION ALL ".join(parts)


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_rows(mode: str, tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "bags.json").write_text("".join(json.dumps(each) + "\n" for each in BAGS))
    made = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
    made.execute_script(DDL.replace("{path}", str(tmp_path / "bags.json")) + ";")
    found = [values for _, values in made.execute_sql(whole()).collect_changes()]
    for at, (query, rows) in enumerate(QUERIES.items()):
        padded = [tuple(None if cell is None else str(cell) for cell in (*each, None, None)[:3]) for each in rows]
        assert sorted((each[1:] for each in found if each[0] == at), key=repr) == sorted(padded, key=repr), query


def arm(consumer: int, *arrays: str) -> Arm:
    rows = Rows(row(Field("x", INT)), (Branch(1, ("c0",)),))
    for array in arrays:
        rows = rows.unnested(rows.type, partial(_text, array), str, lambda name: (f"{name}.x",))
    return Arm(consumer, 0, rows.branches[0], (), None)


def _text(array: str, columns: tuple[str, ...]) -> str:
    return array


def test_arms_take_rows_of_their_own_members_alone() -> None:
    """One array joined twice is two columns; what all arms have needs no row beside its members."""
    plain, once, twice, other = arm(2), arm(3, "xs"), arm(4, "xs", "xs"), arm(5, "ys")
    made = [[each for layer in one.branch.made for each in layer] for one in (once, twice)]
    (xs,), (first, second) = ([each.name for each in one if isinstance(each, Members)] for one in made)
    assert first == xs != second
    conditions = [each.branch.condition for each in apart((plain, once, twice))]
    assert conditions == [
        f"{xs} IS NULL AND {second} IS NULL",
        f"({xs} IS NOT NULL) AND {second} IS NULL",
        f"{second} IS NOT NULL",
    ]
    assert [each.name for each in unnested_by_all((once, twice))] == [xs]
    assert not unnested_by_all((once, other))


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("bags, UNNEST(id) AS u (x)", "UNNEST takes an ARRAY, MULTISET or MAP, not INT"),
        ("bags RIGHT JOIN UNNEST(xs) AS u (x) ON TRUE", "RIGHT JOIN of UNNEST is not supported"),
        ("bags LEFT JOIN UNNEST(xs) AS u (x) ON x > RAND()", "calls a function that gives another value each time"),
        ("bags, LATERAL (SELECT MAX(x) AS x FROM UNNEST(xs) AS u (x)) AS t", "takes SELECT and WHERE alone"),
        ("bags LEFT JOIN LATERAL (SELECT x + 1 AS x FROM UNNEST(xs) AS u (x)) AS t ON TRUE", "those of UNNEST"),
        ("bags RIGHT JOIN LATERAL (SELECT x FROM UNNEST(xs) AS u (x)) AS t ON TRUE", "RIGHT JOIN of a LATERAL query"),
        ("bags, UNNEST(m) AS u (x)", "1 column name for 2 columns"),
    ],
)
def test_what_is_refused(relation: str, message: str) -> None:
    made = TableEnvironment.create()
    made.execute_script(DDL.replace("{path}", "/nowhere") + ";")
    with pytest.raises(SqlError, match=message) as caught:
        made.compile_plan_sql(f"SELECT x FROM {relation}")
    assert caught.value.position is not None
