"""Queries to logical plans: shapes, names and types."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from execnodes.core.expressions import digest
from execnodes.core.options import Configuration
from planner import bind as build
from planner import ddl
from planner import statements as s
from planner.algebra import (
    Aggregate,
    Filter,
    Join,
    Logical,
    Over,
    Project,
    Scan,
    SetOperation,
    Sort,
    Unnest,
    Values,
    WindowTableFunction,
)
from planner.catalog.catalogs import Catalog
from planner.parse import parse

TABLES = """
CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), r ROW<x INT NOT NULL, y ROW<z STRING>>, xs ARRAY<INT>,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'x');
CREATE TABLE u (id INT, k STRING, w BIGINT NOT NULL, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'x');
CREATE VIEW big AS SELECT id, v AS amount, ts FROM t WHERE v > 9;
"""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    made = Catalog()
    for statement in parse(TABLES):
        ddl.execute(statement, made, Configuration())
    return made


def query(catalog: Catalog, text: str) -> Logical:
    """The plan of a query."""
    (statement,) = parse(text)
    assert isinstance(statement, s.QueryStatement)
    return build.build_query(statement.query, catalog, Configuration())


def names(plan: Logical) -> tuple[str, ...]:
    """Names of the input columns of a node."""
    return tuple(field.name for child in plan.inputs for field in child.type.fields)


def show(plan: Logical) -> str:
    """One line for a plan, without what reads the tables."""
    inner = ", ".join(show(child) for child in plan.inputs)
    match plan:
        case Scan():
            return plan.table.table_schema.columns[2].name
        case Project():
            return f"Project[{', '.join(digest(e, names(plan)) for e in plan.expressions)}]({inner})"
        case Filter():
            return f"Filter[{digest(plan.condition, names(plan))}]({inner})"
        case Join():
            return f"{plan.kind}[{digest(plan.condition, names(plan))}]({inner})"
        case Aggregate():
            calls = ", ".join(f"{c.internal_name}{list(c.arg_list)}" for c in plan.calls)
            return f"Aggregate[{plan.grouping}; {calls}]({inner})"
        case Sort():
            return f"Sort[{[k.index for k in plan.order]}, {plan.offset}, {plan.fetch}]({inner})"
        case SetOperation():
            return f"{plan.kind}{' ALL' if plan.all else ''}({inner})"
        case _:
            return f"{type(plan).__name__}({inner})" if inner else type(plan).__name__


READ = "WatermarkAssigner(v)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT v FROM t WHERE id = 1", f"Project[v](Filter[(id = 1)]({READ}))"),
        ("SELECT r.y.z, t.r.x FROM t", f"Project[r.y.z, r.x]({READ})"),
        ("SELECT amount FROM big", f"Project[amount](Project[id, v, ts](Filter[(v > 9)]({READ})))"),
        ("WITH c AS (SELECT id AS a FROM u) SELECT a FROM c", "Project[a](Project[id](w))"),
        ("SELECT 1", "Project[1](Values)"),
        ("SELECT k, SUM(v) AS s FROM t GROUP BY k HAVING COUNT(*) > 1",
         f"Project[k, s](Filter[(EXPR$1 > 1)](Aggregate[(0,); $SUM$1[1], $COUNT$1[]](Project[k, v]({READ}))))"),
        ("SELECT DISTINCT k FROM u", "Aggregate[(0,); ](Project[k](w))"),
        ("SELECT k FROM u UNION ALL SELECT k FROM t UNION ALL SELECT 'x'",
         f"UNION ALL(Project[k](w), Project[k]({READ}), "
         "Project[CAST(EXPR$0 AS STRING NOT NULL)](Project['x'](Values)))"),
        ("SELECT k FROM u ORDER BY w DESC LIMIT 3 OFFSET 2", "Project[k](Sort[[1], 2, 3](Project[k, w](w)))"),
        ("SELECT k AS a FROM u ORDER BY a, 1", "Sort[[0, 0], 0, None](Project[k](w))"),
        ("SELECT k FROM (SELECT k FROM u ORDER BY w) FETCH FIRST 1 ROW ONLY",
         "Sort[[], 0, 1](Project[k](Project[k](w)))"),
        ("SELECT t.id FROM t, u WHERE t.id = u.id",
         f"Project[id](Filter[(id = id)](INNER[True]({READ}, w)))"),
        ("SELECT id FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.id = u.id AND v > 1)",
         f"Project[id](SEMI[(id = id)](w, Project[id](Filter[(v > 1)]({READ}))))"),
        ("SELECT id FROM u WHERE NOT EXISTS (SELECT 1 FROM t)",
         f"Project[id](ANTI[True](w, Aggregate[(0,); ](Project[True](Project[1]({READ})))))"),
        ("SELECT id FROM u WHERE w IN (SELECT v FROM t WHERE t.k = u.k)",
         f"Project[id](SEMI[((w = CAST(EXPR$0 AS BIGINT)) AND (k = k))](w, Project[v, k]({READ})))"),
        ("SELECT (SELECT MAX(v) FROM t) FROM u",
         f"Project[EXPR$0](LEFT[True](w, Project[EXPR$0](Aggregate[(); $MAX$1[0]](Project[v]({READ})))))"),
        ("SELECT id FROM u WHERE w > (SELECT SUM(v) FROM t WHERE t.id = u.id)",
         "Project[id](Filter[(w > CAST(EXPR$1 AS BIGINT))](LEFT[(id = $key0)](w, Project[id, EXPR$0]("
         f"Aggregate[(0,); $SUM$1[1]](Project[id, v]({READ}))))))"),
        ("SELECT id, x FROM t CROSS JOIN UNNEST(xs) AS m (x)", f"Project[id, x](Unnest({READ}))"),
    ],
)  # fmt: skip
def test_shape(catalog: Catalog, text: str, expected: str) -> None:
    assert show(query(catalog, text)) == expected


@pytest.mark.parametrize(
    ("text", "offset", "fetch"),
    [
        ("FETCH FIRST 2 ROW ONLY", 0, 2),
        ("FETCH NEXT 2 ROWS ONLY", 0, 2),
        ("OFFSET 1 ROW FETCH NEXT 3 ROWS ONLY", 1, 3),
        ("OFFSET 1 FETCH FIRST 3 ROWS ONLY", 1, 3),
        ("LIMIT 3 OFFSET 1", 1, 3),
        ("LIMIT 3 OFFSET 1 ROWS", 1, 3),
        ("OFFSET 1 ROWS", 1, None),
        ("LIMIT ALL OFFSET 1", 1, None),
    ],
)
def test_limits_that_flink_takes(catalog: Catalog, text: str, offset: int, fetch: int | None) -> None:
    assert f"Sort[[0], {offset}, {fetch}]" in show(query(catalog, f"SELECT id FROM u ORDER BY id {text}"))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("FETCH NEXT ROW ONLY", "expected the number of rows, a whole number, found ROW"),
        ("FETCH FIRST ROWS ONLY", "expected the number of rows, a whole number, found ROWS"),
        ("FETCH FIRST 2 ROWS WITH TIES", "expected ONLY"),
        ("FETCH 2 ROWS ONLY", "expected NEXT"),
        ("OFFSET 1 LIMIT 1", "expected the end of the query, found LIMIT"),
        ("LIMIT 1 FETCH NEXT 1 ROWS ONLY", "expected the end of the query, found FETCH"),
        ("LIMIT 1 LIMIT 2", "expected the end of the query, found LIMIT"),
        ("FETCH NEXT 1 ROWS ONLY OFFSET 1", "expected the end of the query, found OFFSET"),
    ],
)
def test_limits_that_flink_refuses(catalog: Catalog, text: str, what: str) -> None:
    with pytest.raises(SqlError, match=what):
        query(catalog, f"SELECT id FROM u ORDER BY id {text}")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("ARRAY_AGG(v IGNORE NULLS)", "ARRAY_AGG(v) FILTER (WHERE v IS NOT NULL)"),
        ("ARRAY_AGG(v) IGNORE NULLS", "ARRAY_AGG(v) FILTER (WHERE v IS NOT NULL)"),
        ("ARRAY_AGG(DISTINCT v IGNORE NULLS)", "ARRAY_AGG(DISTINCT v) FILTER (WHERE v IS NOT NULL)"),
        (
            "`array_agg`(v) IGNORE NULLS FILTER (WHERE id > 1)",
            "ARRAY_AGG(v) FILTER (WHERE v IS NOT NULL AND id > 1)",
        ),
        ("ARRAY_AGG(v RESPECT NULLS)", "ARRAY_AGG(v)"),
        ("ARRAY_AGG(v) RESPECT NULLS", "ARRAY_AGG(v)"),
        ("LAG(v) RESPECT NULLS OVER (ORDER BY ts)", "LAG(v) OVER (ORDER BY ts)"),
        ("LAG(v) IGNORE NULLS OVER (ORDER BY ts)", "LAG(v) OVER (ORDER BY ts)"),
        ("ARRAY_AGG(v ORDER BY id)", "ARRAY_AGG(v)"),
    ],
)
def test_null_treatment(catalog: Catalog, text: str, same: str) -> None:
    """Plans are the same, so states go on."""
    found, wanted = (query(catalog, f"SELECT {each} AS x FROM t") for each in (text, same))
    assert show(found) == show(wanted)
    assert str(found.type) == str(wanted.type)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("FIRST_VALUE(v) RESPECT NULLS", "RESPECT NULLS is not supported"),
        ("FIRST_VALUE(v IGNORE NULLS)", "IGNORE inside the parentheses"),
        ("SUM(v) IGNORE NULLS", "IGNORE NULLS is not supported"),
    ],
)
def test_null_treatment_that_flink_refuses(catalog: Catalog, text: str, what: str) -> None:
    with pytest.raises(SqlError, match=what):
        query(catalog, f"SELECT {text} AS x FROM t")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT id, id, 1, v + 1 FROM t", "id INT, id0 INT, EXPR$2 INT NOT NULL, EXPR$3 INT"),
        ("SELECT * FROM u", "id INT NOT NULL, k STRING, w BIGINT NOT NULL"),
        ("SELECT r.*, r.y.z AS q FROM t", "x INT, y ROW<`z` STRING>, q STRING"),
        ("SELECT * FROM (SELECT id FROM t) JOIN (SELECT w, k FROM u) ON id = w", "id INT, w BIGINT NOT NULL, k STRING"),
        ("SELECT t.id, u.w FROM t LEFT JOIN u ON t.id = u.id", "id INT, w BIGINT"),
        ("SELECT * FROM (SELECT id, k FROM t) AS a JOIN u USING (id)",
         "id INT NOT NULL, k STRING, k0 STRING, w BIGINT NOT NULL"),
        ("SELECT id FROM (SELECT id FROM t) AS a FULL JOIN u USING (id)", "id INT"),
        ("SELECT id, w, kk FROM u JOIN (SELECT id, v FROM t) AS a USING (id) "
         "RIGHT JOIN (SELECT id, k AS kk FROM u) AS c USING (id)", "id INT NOT NULL, w BIGINT, kk STRING"),
        ("SELECT * FROM (SELECT id, w FROM u) AS a JOIN (SELECT id, v FROM t) AS b USING (id) "
         "LEFT JOIN (SELECT w, k FROM u) AS c USING (w)", "w BIGINT NOT NULL, id INT NOT NULL, v INT, k STRING"),
        ("SELECT id, q FROM u JOIN (SELECT id FROM t) AS b USING (id) FULL JOIN (SELECT v AS q FROM t) AS c ON id = q",
         "id INT, q INT"),
        ("SELECT k, COUNT(*), SUM(w) AS s FROM u GROUP BY k", "k STRING, EXPR$1 BIGINT NOT NULL, s BIGINT NOT NULL"),
        ("SELECT SUM(w), COUNT(k) FROM u", "EXPR$0 BIGINT, EXPR$1 BIGINT NOT NULL"),
        ("SELECT id, w, COUNT(*) AS c FROM u GROUP BY GROUPING SETS ((id, w), (id))",
         "id INT NOT NULL, w BIGINT, c BIGINT NOT NULL"),
        ("VALUES (1, 'a'), (2.5, 'bcd')", "EXPR$0 DECIMAL(11, 1) NOT NULL, EXPR$1 VARCHAR(3) NOT NULL"),
        ("SELECT ts, CAST(ts AS TIMESTAMP(3)) AS c FROM big", "ts TIMESTAMP(3) *ROWTIME*, c TIMESTAMP(3)"),
        ("SELECT ts FROM t UNION ALL SELECT ts FROM big", "ts TIMESTAMP(3) *ROWTIME*"),
        ("SELECT window_start, window_time FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, "
         "INTERVAL '1' MINUTE))", "window_start TIMESTAMP(3) NOT NULL, window_time TIMESTAMP(3) NOT NULL *ROWTIME*"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY v) AS n, LAG(v) OVER (ORDER BY ts) AS l FROM t",
         "n BIGINT NOT NULL, l INT"),
        ("SELECT x, n FROM t LEFT JOIN UNNEST(xs) WITH ORDINALITY AS m (x, n) ON TRUE", "x INT, n INT"),
        ("SELECT a FROM (VALUES (1)) AS v (a)", "a INT NOT NULL"),
        ("SELECT (SELECT COUNT(*) FROM t WHERE t.id = u.id) AS c FROM u", "c BIGINT"),
    ],
)  # fmt: skip
def test_row_type(catalog: Catalog, text: str, expected: str) -> None:
    plan = query(catalog, text)
    assert ", ".join(f"{field.name} {field.type}" for field in plan.type.fields) == expected


def find(plan: Logical, kind: type) -> Logical:
    """The first node of a kind."""
    found = [plan] if isinstance(plan, kind) else []
    for child in plan.inputs:
        found += [find(child, kind)] if _has(child, kind) else []
    return found[0]


def _has(plan: Logical, kind: type) -> bool:
    return isinstance(plan, kind) or any(_has(child, kind) for child in plan.inputs)


def test_named_arguments_and_partition(catalog: Catalog) -> None:
    plan = find(
        query(
            catalog,
            "SELECT * FROM TABLE(TUMBLE(`OFFSET` => INTERVAL '-1' SECOND, DATA => TABLE t, "
            "TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE))",
        ),
        WindowTableFunction,
    )
    assert isinstance(plan, WindowTableFunction)
    assert (plan.window.size, plan.window.offset, plan.time_index) == (60_000, -1000, 3)
    plan = find(
        query(catalog, "SELECT * FROM TABLE(SESSION(TABLE t PARTITION BY k, id, DESCRIPTOR(ts), INTERVAL '5' SECOND))"),
        WindowTableFunction,
    )
    assert isinstance(plan, WindowTableFunction)
    assert plan.window.partition == (1, 0)


def test_group_window_becomes_a_window_function(catalog: Catalog) -> None:
    plan = query(
        catalog,
        "SELECT k, TUMBLE_END(ts, INTERVAL '5' SECOND) AS e, COUNT(*) FROM t "
        "GROUP BY k, TUMBLE(ts, INTERVAL '5' SECOND)",
    )
    aggregate = find(plan, Aggregate)
    assert isinstance(aggregate, Aggregate)
    assert [f.name for f in aggregate.type.fields[:4]] == ["k", "window_start", "window_end", "window_time"]
    assert _has(plan, WindowTableFunction)


def test_cube_is_written_out(catalog: Catalog) -> None:
    plan = find(query(catalog, "SELECT id, k, COUNT(*) FROM u GROUP BY CUBE (id, k)"), Aggregate)
    assert isinstance(plan, Aggregate)
    assert plan.grouping_sets == ((0, 1), (0,), (1,), ())


def test_state_ttl_reaches_join_and_aggregate(catalog: Catalog) -> None:
    join = find(query(catalog, "SELECT /*+ STATE_TTL('a' = '1 d') */ a.id FROM t AS a JOIN u ON a.id = u.id"), Join)
    assert isinstance(join, Join)
    assert join.ttl == ("1 d", None)
    aggregate = find(query(catalog, "SELECT /*+ STATE_TTL('t' = '2 h') */ COUNT(*) FROM t"), Aggregate)
    assert isinstance(aggregate, Aggregate)
    assert aggregate.ttl == "2 h"


def test_equal_aggregates_are_computed_once(catalog: Catalog) -> None:
    plan = find(query(catalog, "SELECT SUM(v) + 1, SUM(v), SUM(DISTINCT v) FROM t"), Aggregate)
    assert isinstance(plan, Aggregate)
    assert len(plan.calls) == 2


def test_windows_of_different_order_are_stacked(catalog: Catalog) -> None:
    plan = find(query(catalog, "SELECT ROW_NUMBER() OVER (ORDER BY v), ROW_NUMBER() OVER (ORDER BY k) FROM t"), Over)
    assert isinstance(plan, Over)
    assert isinstance(plan.input, Over)


@pytest.mark.parametrize(
    ("frame", "rows", "preceding"),
    [
        ("", False, None),
        ("ROWS 2 PRECEDING", True, 2),
        ("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", True, 2),
        ("ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", True, None),
        ("ROWS BETWEEN CURRENT ROW AND CURRENT ROW", True, 0),
        ("ROWS CURRENT ROW", True, 0),
        ("RANGE BETWEEN CURRENT ROW AND CURRENT ROW", False, 0),
        ("RANGE BETWEEN INTERVAL '3' SECOND PRECEDING AND CURRENT ROW", False, 3000),
    ],
)
def test_frames_begin_where_they_are_written_to(
    catalog: Catalog, frame: str, rows: bool, preceding: int | None
) -> None:
    plan = find(query(catalog, f"SELECT SUM(v) OVER (ORDER BY ts {frame}) FROM t"), Over)
    assert isinstance(plan, Over)
    assert (plan.rows, plan.preceding, plan.following) == (rows, preceding, 0)


def insert(catalog: Catalog, text: str) -> Logical:
    """The plan of an INSERT."""
    (statement,) = parse(text)
    assert isinstance(statement, s.Insert)
    return build.build_insert(statement, catalog, Configuration())


def test_insert_casts_fills_and_orders(catalog: Catalog) -> None:
    plan = insert(catalog, "INSERT INTO u (w, id) SELECT v, 7 FROM t")
    (projection,) = plan.inputs
    assert isinstance(projection, Project)
    shown = [digest(each, names(projection)) for each in projection.expressions]
    assert shown == ["EXPR$1", "null", "CAST(v AS BIGINT)"]
    assert str(projection.type) == "ROW<`id` INT NOT NULL, `k` STRING, `w` BIGINT> NOT NULL"


def test_insert_gives_null_its_type(catalog: Catalog) -> None:
    plan = insert(catalog, "INSERT INTO u VALUES (1, NULL, 2), (2, 'x', 3)")
    assert [field.type.root for field in plan.type.fields] == ["INT", "VARCHAR", "BIGINT"]


def test_constants_become_literal_rows(catalog: Catalog) -> None:
    plan = query(catalog, "VALUES (CAST(NULL AS INT), 1), (2, CAST('3' AS INT))")
    assert isinstance(plan, Values)
    assert [[getattr(value, "value", value) for value in row] for row in plan.rows] == [[None, 1], [2, 3]]


def test_unnest_of_rows_gives_their_fields(catalog: Catalog) -> None:
    plan = find(query(catalog, "SELECT * FROM UNNEST(ARRAY[1, 2]) AS m (x)"), Unnest)
    assert plan.type.fields[-1].name == "x"
