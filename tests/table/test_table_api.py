"""The Table API gives the plans of the SQL that says the same."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pytest

import rekindle as r
from rekindle import Over, Session, Slide, Table, TableEnvironment, Tumble, col, lit
from tests.table.compared import compiles, same

if TYPE_CHECKING:
    pass

FIVE = "INTERVAL '5' MINUTE"
TEN = "INTERVAL '10' MINUTE"

EXPRESSIONS: list[tuple[r.Expression, str]] = [
    (col("k") + 1 - col("v") * 2, "k + 1 - v * 2"),
    (2 * (10 - col("k")), "2 * (10 - k)"),
    (-col("k") % 3, "MOD(-k, 3)"),
    (1 / col("k"), "1 / k"),
    ((col("k") > 1) & (col("v") <= 2) | ~(col("s") == "x"), "k > 1 AND v <= 2 OR NOT s = 'x'"),
    (r.and_(col("k") > 1, col("v") > 1, col("k") != 5), "(k > 1 AND v > 1) AND k <> 5"),
    (r.or_(col("k") > 1, col("v") > 1), "k > 1 OR v > 1"),
    (r.not_(col("k") > 1), "NOT (k > 1)"),
    (col("k").in_(1, 2, 3), "k IN (1, 2, 3)"),
    (col("k").between(1, 3), "k BETWEEN 1 AND 3"),
    (col("k").not_between(1, 3), "k NOT BETWEEN 1 AND 3"),
    (col("s").like("a%"), "s LIKE 'a%'"),
    (col("s").similar("a|b"), "s SIMILAR TO 'a|b'"),
    (col("s").is_null, "s IS NULL"),
    (col("s").is_not_null, "s IS NOT NULL"),
    ((col("k") > 1).is_true, "(k > 1) IS TRUE"),
    ((col("k") > 1).is_not_false, "(k > 1) IS NOT FALSE"),
    (col("k").cast(r.DataTypes.DECIMAL(10, 2)), "CAST(k AS DECIMAL(10, 2))"),
    (col("s").try_cast("INT"), "TRY_CAST(s AS INT)"),
    (col("s").cast(r.DataTypes.VARCHAR()), "CAST(s AS STRING)"),
    (col("s").cast("VARCHAR"), "CAST(s AS STRING)"),
    (col("s").cast(r.DataTypes.VARBINARY()), "CAST(s AS BYTES)"),
    (col("s").cast(r.DataTypes.CHAR()), "CAST(s AS CHAR(1))"),
    (col("s").cast(r.DataTypes.BINARY()), "CAST(s AS BINARY(1))"),
    (r.if_then_else(col("k") > 1, "a", "b"), "CASE WHEN k > 1 THEN 'a' ELSE 'b' END"),
    (col("k").if_null(0), "IFNULL(k, 0)"),
    (r.coalesce(col("k"), col("v"), 0), "COALESCE(k, v, 0)"),
    (r.concat(col("s"), "x", col("s")), "CONCAT(s, 'x', s)"),
    (r.concat_ws("-", col("s"), "x"), "CONCAT_WS('-', s, 'x')"),
    (r.row(col("k"), 1), "ROW(k, 1)"),
    (r.array(col("k"), 1), "ARRAY[k, 1]"),
    (r.map_("a", col("k"), "b", 2), "MAP['a', k, 'b', 2]"),
    (col("a").at(1), "a[1]"),
    (col("f").get("x"), "t.f.x"),
    (col("a").cardinality, "CARDINALITY(a)"),
    (col("s").upper_case, "UPPER(s)"),
    (col("s").substring(2, 3), "SUBSTRING(s, 2, 3)"),
    (col("s").substring(2), "SUBSTRING(s, 2)"),
    (col("s").trim(), "TRIM(BOTH ' ' FROM s)"),
    (col("s").trim_leading("x"), "TRIM(LEADING 'x' FROM s)"),
    (lit("a").position(col("s")), "POSITION('a' IN s)"),
    (col("s").overlay("x", 1, 2), "OVERLAY(s PLACING 'x' FROM 1 FOR 2)"),
    (col("s").regexp_replace("a", "b"), "REGEXP_REPLACE(s, 'a', 'b')"),
    (col("v").abs.round(1), "ROUND(ABS(v), 1)"),
    (col("v").power(2), "POWER(v, 2)"),
    (col("ts").extract("day"), "EXTRACT(DAY FROM ts)"),
    (col("ts").floor("HOUR"), "FLOOR(ts TO HOUR)"),
    (col("ts").ceil("MONTH"), "CEIL(ts TO MONTH)"),
    (lit(1.5).floor(), "FLOOR(CAST('1.5' AS DOUBLE))"),
    (col("ts") + lit(2).days, "ts + INTERVAL '2' DAY"),
    (col("ts") - lit(3).months, "ts - INTERVAL '3' MONTH"),
    (col("ts") + dt.timedelta(seconds=1.5), "ts + INTERVAL '1.500' SECOND"),
    (col("s").to_timestamp, "CAST(s AS TIMESTAMP(3))"),
    (r.timestamp_diff("DAY", col("ts"), col("ts")), "TIMESTAMPDIFF(DAY, ts, ts)"),
    (r.date_format(col("ts"), "yyyy"), "DATE_FORMAT(ts, 'yyyy')"),
    (r.to_timestamp_ltz(col("v"), 3), "TO_TIMESTAMP_LTZ(v, 3)"),
    (r.current_timestamp(), "CURRENT_TIMESTAMP"),
    (r.call("GREATEST", col("k"), 2), "GREATEST(k, 2)"),
    (r.call_sql("k + 1 -- no end"), "k + 1"),
    (r.null_of(r.DataTypes.INT()), "CAST(NULL AS INT)"),
    (lit(Decimal("1.50")), "1.50"),
    (lit(Decimal(5)), "CAST(5 AS DECIMAL(1, 0))"),
    (lit(-3), "-3"),
    (lit(dt.date(2020, 1, 2)), "DATE '2020-01-02'"),
    (lit(dt.datetime(2020, 1, 2, 3, 4, 5, 6000)), "TIMESTAMP '2020-01-02 03:04:05.006000'"),
    (lit(dt.time(1, 2, 3)), "TIME '01:02:03'"),
    (lit(b"\x00\xff"), "X'00ff'"),
    (lit([1, 2]), "ARRAY[1, 2]"),
    (lit({"a": 1}), "MAP['a', 1]"),
    (lit(np.int64(7)), "7"),
    (lit(True), "TRUE"),
    (lit(1, r.DataTypes.BIGINT()), "CAST(1 AS BIGINT)"),
]


def test_expressions_are_those_of_sql(env: TableEnvironment) -> None:
    for expression, sql in EXPRESSIONS:
        same(env, env.from_path("t").select(expression.alias("c")), f"SELECT {sql} AS c FROM t")


def test_all_of_these_expressions_compile(env: TableEnvironment) -> None:
    columns = [expression.alias(f"c{index}") for index, (expression, _) in enumerate(EXPRESSIONS)]
    assert len(env.from_path("t").select(*columns).get_schema().get_column_names()) == len(EXPRESSIONS)


GROUPED = "SELECT k, {} AS n FROM t GROUP BY k"
AGGREGATES: list[tuple[r.Expression, str]] = [
    (col("v").sum, "SUM(v)"),
    (col("v").count.distinct, "COUNT(DISTINCT v)"),
    (col("v").sum.filter(col("k") > 1), "SUM(v) FILTER (WHERE k > 1)"),
    (col("v").sum.distinct.filter(col("k") > 1), "SUM(DISTINCT v) FILTER (WHERE k > 1)"),
    (col("s").list_agg("-"), "LISTAGG(s, '-')"),
    (col("v").avg + col("v").min, "AVG(v) + MIN(v)"),
    (r.call("MAX", col("v")), "MAX(v)"),
    (col("v").collect, "COLLECT(v)"),
    (col("v").stddev_pop, "STDDEV_POP(v)"),
    (col("v").last_value, "LAST_VALUE(v)"),
]


@pytest.mark.parametrize(("expression", "sql"), AGGREGATES, ids=[sql for _, sql in AGGREGATES])
def test_aggregates_are_those_of_sql(env: TableEnvironment, expression: r.Expression, sql: str) -> None:
    same(env, env.from_path("t").group_by(col("k")).select(col("k"), expression.alias("n")), GROUPED.format(sql))


Query = Callable[[TableEnvironment], Table]
TUMBLE = Tumble.over(lit(10).minutes).on(col("ts")).alias("w")
SLIDE = Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("ts")).alias("w")
QUERIES: list[tuple[Query, str]] = [
    (lambda e: e.from_path("t").where(col("k") > 1).select(col("k"), col("v")), "SELECT k, v FROM t WHERE k > 1"),
    (lambda e: e.from_path("u").add_columns((col("w") + 1).alias("x")), "SELECT *, w + 1 AS x FROM u"),
    (
        lambda e: e.from_path("u").add_or_replace_columns((col("w") + 1).alias("w"), lit(1).alias("x")),
        "SELECT k2, w + 1 AS w, 1 AS x FROM u",
    ),
    (lambda e: e.from_path("u").drop_columns(col("k2")), "SELECT w FROM u"),
    (lambda e: e.from_path("u").rename_columns(col("k2").alias("k")), "SELECT k2 AS k, w FROM u"),
    (lambda e: e.from_path("u").alias("a"), "SELECT k2 AS a, w FROM u"),
    (lambda e: e.from_path("u").alias("a", "b"), "SELECT k2 AS a, w AS b FROM u"),
    (lambda e: e.from_path("u").distinct(), "SELECT DISTINCT * FROM u"),
    (
        lambda e: e.from_path("t").join(e.from_path("u"), col("k") == col("k2")).select(col("v"), col("w")),
        "SELECT v, w FROM t JOIN u ON k = k2",
    ),
    (
        lambda e: e.from_path("t").where(col("k").in_(e.from_path("u").select(col("w")))).select(col("v")),
        "SELECT v FROM t WHERE k IN (SELECT w FROM u)",
    ),
    (lambda e: two(e).minus(e.from_path("u")), "SELECT k, v FROM t EXCEPT SELECT * FROM u"),
    (lambda e: two(e).minus_all(e.from_path("u")), "SELECT k, v FROM t EXCEPT ALL SELECT * FROM u"),
    (lambda e: two(e).intersect(e.from_path("u")), "SELECT k, v FROM t INTERSECT SELECT * FROM u"),
    (lambda e: two(e).intersect_all(e.from_path("u")), "SELECT k, v FROM t INTERSECT ALL SELECT * FROM u"),
    (lambda e: two(e).union_all(e.from_path("u")), "SELECT k, v FROM t UNION ALL SELECT * FROM u"),
    (lambda e: two(e).order_by(col("v").desc, "k"), "SELECT k, v FROM t ORDER BY v DESC, k"),
    (lambda e: two(e).order_by(col("v").desc).fetch(3), "SELECT k, v FROM t ORDER BY v DESC LIMIT 3"),
    (
        lambda e: two(e).order_by(col("v").asc).limit(3, 2),
        "SELECT k, v FROM t ORDER BY v OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY",
    ),
    (lambda e: two(e).order_by(col("v")).offset(2), "SELECT k, v FROM t ORDER BY v OFFSET 2 ROWS"),
    (lambda e: two(e).limit(3), "SELECT k, v FROM t LIMIT 3"),
    (
        lambda e: two(e).order_by(col("v")).fetch(3).where(col("k") > 1),
        "SELECT * FROM (SELECT k, v FROM t ORDER BY v LIMIT 3) WHERE k > 1",
    ),
    (
        lambda e: two(e).order_by(col("v")).fetch(3).fetch(2),
        "SELECT * FROM (SELECT k, v FROM t ORDER BY v LIMIT 3) LIMIT 2",
    ),
    (
        lambda e: (
            e.from_path("t")
            .window(TUMBLE)
            .group_by(col("k"), col("w"))
            .select(
                col("k"),
                col("w").start.alias("b"),
                col("w").end.alias("e"),
                col("w").rowtime.alias("r"),
                col("v").sum.alias("n"),
            )
        ),
        f"SELECT k, TUMBLE_START(ts, {TEN}) AS b, TUMBLE_END(ts, {TEN}) AS e, TUMBLE_ROWTIME(ts, {TEN}) AS r, "
        f"SUM(v) AS n FROM t GROUP BY k, TUMBLE(ts, {TEN})",
    ),
    (
        lambda e: (
            e.from_path("t").window(SLIDE).group_by("w").select(col("w").start.alias("b"), col("v").max.alias("n"))
        ),
        f"SELECT HOP_START(ts, {FIVE}, {TEN}) AS b, MAX(v) AS n FROM t GROUP BY HOP(ts, {FIVE}, {TEN})",
    ),
    (
        lambda e: (
            e.from_path("t")
            .window(Session.with_gap(lit(10).minutes).on(col("ts")).alias("w"))
            .group_by(col("w"))
            .select(col("w").start.alias("b"))
        ),
        f"SELECT SESSION_START(ts, {TEN}) AS b FROM t GROUP BY SESSION(ts, {TEN})",
    ),
    (
        lambda e: (
            e.from_path("t")
            .over_window(
                Over.partition_by(col("k"))
                .order_by(col("ts"))
                .preceding(r.row_interval(2))
                .following(r.CURRENT_ROW)
                .alias("w")
            )
            .select(col("k"), col("v").sum.over(col("w")).alias("n"))
        ),
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS n FROM t",
    ),
    (
        lambda e: (
            e.from_path("t")
            .over_window(Over.order_by(col("ts")).preceding(lit(10).minutes).alias("w"))
            .select(col("k"), col("v").sum.over(col("w")).alias("n"))
        ),
        f"SELECT k, SUM(v) OVER (ORDER BY ts RANGE BETWEEN {TEN} PRECEDING AND CURRENT ROW) AS n FROM t",
    ),
    (
        lambda e: (
            e.from_path("t")
            .over_window(Over.partition_by(col("k")).order_by(col("ts")).alias("w"))
            .select(col("k"), col("v").sum.over(col("w")).alias("n"))
        ),
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n "
        "FROM t",
    ),
    (
        lambda e: e.from_path("t").join_lateral(r.call("UNNEST", col("a")).alias("x")).select(col("k"), col("x")),
        "SELECT k, x FROM t CROSS JOIN UNNEST(a) AS m(x)",
    ),
    (
        lambda e: (
            e.from_path("t").left_outer_join_lateral(r.call("UNNEST", col("a")).alias("x")).select(col("k"), col("x"))
        ),
        "SELECT k, x FROM t LEFT JOIN UNNEST(a) AS m(x) ON TRUE",
    ),
    (
        lambda e: e.from_path("t").join_lateral(r.call("f", col("s")).alias("x", "y"), col("k") > 1).select(col("x")),
        "SELECT x FROM t JOIN LATERAL TABLE(f(s)) AS m(x, y) ON k > 1",
    ),
    (
        lambda e: e.from_elements([(1, "a"), (2, None)], ["n", "s"]),
        "SELECT * FROM (VALUES (TRY_CAST(1 AS BIGINT), TRY_CAST('a' AS STRING)), "
        "(TRY_CAST(2 AS BIGINT), CAST(NULL AS STRING))) AS q(n, s)",
    ),
]


def two(env: TableEnvironment) -> Table:
    return env.from_path("t").select(col("k"), col("v"))


@pytest.mark.parametrize(("query", "sql"), QUERIES, ids=[str(index) for index in range(len(QUERIES))])
def test_queries_are_those_of_sql(env: TableEnvironment, batch: TableEnvironment, query: Query, sql: str) -> None:
    """In both modes, and compiled in one of them if the engine has it at all."""
    for each in (env, batch):
        same(each, query(each), sql, refused=True)


def test_most_of_them_compile(env: TableEnvironment, batch: TableEnvironment) -> None:
    refused = [sql for query, sql in QUERIES if not any(compiles(query(each)) for each in (env, batch))]
    assert len(refused) <= 8, refused
