"""Which joins are interval joins is as Flink 2.3 has it (asked by EXPLAIN); they are refused until a node runs them."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from rekindle import TableEnvironment

DDL = """
CREATE TABLE t1 (a INT, b STRING, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
CREATE TABLE t2 LIKE t1;
CREATE VIEW v2 AS SELECT a, pt AS p, ts AS t FROM t2;
"""
SHAPES = {
    "inner": "t1 JOIN t2 ON t1.a = t2.a AND t1.{t} BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
    "sides swapped": "t1 JOIN t2 ON t1.a = t2.a AND t2.{t} BETWEEN t1.{t} - INTERVAL '5' SECOND AND t1.{t}",
    "left": "t1 LEFT JOIN t2 ON t1.a = t2.a AND t1.{t} BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
    "right": "t1 RIGHT JOIN t2 ON t1.a = t2.a AND t1.{t} BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
    "full": "t1 FULL JOIN t2 ON t1.a = t2.a AND t1.{t} BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
    "WHERE": "t1, t2 WHERE t1.a = t2.a AND t1.{t} > t2.{t} - INTERVAL '5' SECOND AND t1.{t} < t2.{t}",
    "no key": "t1, t2 WHERE t1.{t} > t2.{t} - INTERVAL '5' SECOND AND t2.{t} > t1.{t}",
    "equal times": "t1 JOIN t2 ON t1.a = t2.a AND t1.{t} = t2.{t}",
    "arithmetic": "t1 JOIN t2 ON t1.{t} + INTERVAL '5' SECOND BETWEEN t2.{t} AND t2.{t} + INTERVAL '5' SECOND",
    "view": "t1 JOIN v2 ON t1.a = v2.a AND t1.{t} BETWEEN v2.{v} - INTERVAL '5' SECOND AND v2.{v}",
    "subquery": "t1 JOIN (SELECT a, {t} AS x FROM t2 WHERE a > 1) AS y "
    "ON y.x BETWEEN t1.{t} AND t1.{t} + INTERVAL '1' DAY",
    "union": "(SELECT a, {t} FROM t1 UNION ALL SELECT a + 1, {t} FROM t1) AS x "
    "JOIN t2 ON x.a = t2.a AND x.{t} BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
    "cast where it is compared": "t1 JOIN t2 ON CAST(t1.{t} AS TIMESTAMP(3)) > CAST(t2.{t} AS TIMESTAMP(3)) "
    "AND CAST(t1.{t} AS TIMESTAMP(3)) < CAST(t2.{t} AS TIMESTAMP(3)) + INTERVAL '1' SECOND",
}
REGULAR = {
    "one side": "t1 JOIN t2 ON t1.a = t2.a AND t1.{t} >= t2.{t} - INTERVAL '5' SECOND",
    "two lower bounds": "t1 JOIN t2 ON t1.a = t2.a AND t1.{t} > t2.{t} - INTERVAL '5' SECOND "
    "AND t2.{t} < t1.{t} + INTERVAL '3' SECOND",
    "three bounds": "t1 JOIN t2 ON t1.a = t2.a AND t1.{t} BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t} "
    "AND t1.{t} > t2.{t} - INTERVAL '1' SECOND",
    "OR": "t1 JOIN t2 ON t1.a = t2.a AND (t1.{t} < t2.{t} OR t1.{t} > t2.{t} + INTERVAL '1' SECOND)",
    "NOT BETWEEN": "t1 JOIN t2 ON t1.a = t2.a AND t1.{t} NOT BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
    "unequal": "t1 JOIN t2 ON t1.a = t2.a AND t1.{t} <> t2.{t}",
    "aggregated": "(SELECT a, MAX({t}) AS m FROM t1 GROUP BY a) AS x "
    "JOIN t2 ON x.a = t2.a AND x.m BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
    "EXISTS": "t1 WHERE EXISTS (SELECT 1 FROM t2 WHERE t1.a = t2.a "
    "AND t1.{t} BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t})",
    "a constant": "t1 JOIN t2 ON t1.a = t2.a AND t1.{t} > TIMESTAMP '2020-01-01 00:00:00' AND t2.{t} > t1.{t}",
    "PROCTIME()": "t1 JOIN t2 ON t1.a = t2.a AND PROCTIME() BETWEEN t2.pt - INTERVAL '5' SECOND AND t2.pt",
    "as the hint says": "(SELECT *, CAST({t} AS TIMESTAMP(3)) AS t FROM t1) AS x "
    "JOIN t2 ON x.a = t2.a AND x.t BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
}
TIMES = ({"t": "ts", "v": "t"}, {"t": "pt", "v": "p"})


def compile_join(join: str, mode: str = "streaming") -> None:
    made = TableEnvironment.create({"execution.runtime-mode": mode})
    made.execute_script(DDL)
    made.compile_plan_sql(f"SELECT 1 FROM {join}")


@pytest.mark.parametrize("time", TIMES, ids=lambda each: each["t"])
@pytest.mark.parametrize("shape", SHAPES)
def test_interval_joins_are_refused_with_their_place(shape: str, time: dict[str, str]) -> None:
    join = SHAPES[shape].format(**time)
    with pytest.raises(SqlError, match="an interval join") as caught:
        compile_join(join)
    assert caught.value.position is not None
    assert "TIMESTAMP(3)" in (caught.value.hint or "")
    compile_join(join, "batch")


@pytest.mark.parametrize("time", TIMES, ids=lambda each: each["t"])
@pytest.mark.parametrize("shape", REGULAR)
def test_other_joins_are_regular(shape: str, time: dict[str, str]) -> None:
    compile_join(REGULAR[shape].format(**time))


@pytest.mark.parametrize(
    "condition",
    [
        "t1.pt BETWEEN t2.ts - INTERVAL '5' SECOND AND t2.ts",
        "t1.pt BETWEEN t2.pt - INTERVAL '5' SECOND AND t2.pt AND t1.ts BETWEEN t2.ts - INTERVAL '5' SECOND AND t2.ts",
    ],
)
def test_bounds_of_two_kinds_are_no_interval(condition: str) -> None:
    compile_join(f"t1 JOIN t2 ON t1.a = t2.a AND {condition}")


def test_one_bound_of_each_kind_is_refused() -> None:
    with pytest.raises(SqlError, match="cannot have one bound in processing time") as caught:
        compile_join("t1 JOIN t2 ON t1.a = t2.a AND t1.pt >= t2.pt - INTERVAL '5' SECOND AND t1.ts <= t2.ts")
    assert caught.value.position is not None
