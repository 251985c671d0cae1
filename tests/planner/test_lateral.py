"""LATERAL (SELECT …): queries that joins stand for."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from tests.planner.test_errors import run


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM LATERAL (SELECT w FROM u) AS l",
        "SELECT l.w FROM t RIGHT JOIN LATERAL (SELECT w FROM u) AS l ON l.w = t.v",
        "SELECT t.id, l.* FROM t JOIN LATERAL (SELECT w, id AS i FROM u WHERE u.k = t.k ORDER BY w) AS l ON l.w > 3",
        "SELECT t.id, l.a FROM t LEFT JOIN LATERAL (SELECT w FROM u WHERE u.k = t.k) AS l (a) ON l.a > t.v",
        "SELECT t.id, w FROM t, LATERAL (SELECT DISTINCT w FROM u WHERE u.k = t.k)",
        "SELECT b.w FROM t, LATERAL (SELECT * FROM u WHERE u.k = t.k) a, LATERAL (SELECT w FROM u WHERE w > a.w) b",
        "SELECT t.id, l.w FROM t, LATERAL (SELECT w FROM u WHERE u.k = t.k AND u.id IN (SELECT id FROM t)) AS l",
        "SELECT t.id, l.w FROM t, LATERAL (SELECT MAX(w) AS w FROM (SELECT MAX(w) AS w FROM u WHERE u.k = t.k)) AS l",
        "SELECT * FROM (SELECT DISTINCT k FROM t) s, LATERAL (SELECT v FROM t WHERE k = s.k ORDER BY v LIMIT 2) l",
    ],
)
def test_what_can_be_a_join_is_taken(text: str) -> None:
    run(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT t.id, l.w FROM t, LATERAL (SELECT w FROM u WHERE u.k = t.k UNION ALL SELECT v FROM t) AS l",
        "SELECT t.id FROM t WHERE id IN (SELECT id FROM u WHERE u.k = t.k LIMIT 1)",
        "SELECT k FROM t GROUP BY k HAVING MAX(v) > (SELECT MAX(w) FROM u WHERE u.id = t.id)",
    ],
)
def test_what_reads_the_query_around_where_it_cannot_is_refused_as_that(text: str) -> None:
    with pytest.raises(SqlError, match=r"column 't\.\w+' of the query around the subquery is not supported here"):
        run(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT t.id, l.w FROM t, LATERAL (WITH q AS (SELECT * FROM u WHERE u.k = t.k) SELECT w FROM q) AS l",
        "SELECT t.id, l.* FROM t, LATERAL (SELECT * FROM (SELECT * FROM u WHERE u.k = t.k) AS q) AS l",
        "SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k ORDER BY w LIMIT 1)",
        "SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE EXISTS (SELECT 1 FROM u x WHERE x.k < t.k))",
        "SELECT v FROM t WHERE v = (SELECT w FROM u WHERE u.k = t.k AND w < (SELECT MAX(w) FROM u x WHERE x.k = t.k))",
        "SELECT k FROM t GROUP BY k HAVING MAX(v) > (SELECT MAX(w) FROM u WHERE u.k = t.k)",
    ],
)
def test_conditions_of_queries_further_in_are_those_of_the_join(text: str) -> None:
    run(text)


def test_windows_over_rows_of_the_query_around_are_refused_as_that() -> None:
    text = (
        "SELECT t.id FROM t, LATERAL (SELECT r FROM (SELECT ROW_NUMBER() OVER (ORDER BY w) r FROM u WHERE u.k = t.k))"
    )
    with pytest.raises(SqlError, match="functions OVER windows in a LATERAL query that reads the rows in front"):
        run(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT t.id, l.w FROM t, LATERAL (SELECT MAX(w) AS w FROM (SELECT MAX(w) AS w FROM u WHERE u.k = t.k)) AS l",
        "SELECT t.id, l.c FROM t, LATERAL (SELECT COUNT(*) AS c FROM u WHERE u.w < t.v) AS l",
        "SELECT t.id, l.* FROM t LEFT JOIN LATERAL (SELECT *, t.v AS o FROM u WHERE u.k = t.k) AS l ON TRUE",
        "SELECT t.id FROM t WHERE v > (SELECT AVG(w + t.v) FROM u WHERE u.k <> t.k)",
        "SELECT l.w FROM t, LATERAL (SELECT x.w FROM u a, LATERAL (SELECT w FROM u WHERE k = t.k AND w > a.w) x) l",
    ],
)
def test_distinct_values_of_the_query_around_are_joined_where_a_join_cannot_read_it(text: str) -> None:
    run(text)


def test_windows_of_a_lateral_query_are_those_of_its_keys() -> None:
    windows = "SELECT t.id, l.r FROM t, LATERAL (SELECT {} AS r FROM u WHERE u.k = t.k) AS l"
    run(windows.format("ROW_NUMBER() OVER (PARTITION BY k ORDER BY w)"))
    with pytest.raises(SqlError, match="functions OVER windows in a LATERAL query that reads the rows in front"):
        run(windows.format("ROW_NUMBER() OVER (ORDER BY w)"))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT t.id, l.s FROM t, LATERAL (SELECT SUM(w) + t.v AS s FROM u WHERE u.k = t.k GROUP BY w) AS l",
        "SELECT v FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND NOT EXISTS (SELECT 1 FROM u WHERE w > t.v))",
        "SELECT t.id, l.w FROM t, LATERAL (SELECT u.w FROM u JOIN u x ON u.k = x.k AND x.id = t.id) AS l",
    ],
)
def test_what_flink_refuses_or_has_other_rows_for_is_refused(text: str) -> None:
    with pytest.raises(SqlError):
        run(text)
