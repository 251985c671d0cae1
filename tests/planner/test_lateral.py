"""LATERAL (SELECT …): queries that joins stand for."""

from __future__ import annotations

import pytest

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
        "SELECT * FROM (SELECT DISTINCT k FROM t) s, LATERAL (SELECT v FROM t WHERE k = s.k ORDER BY v LIMIT 2) l",
    ],
)
def test_what_can_be_a_join_is_taken(text: str) -> None:
    run(text)
