"""What Flink's parser does not take is refused at its place; in stored texts, of views and columns, it is read."""

from __future__ import annotations

import pytest

from execnodes.core.errors import Position, SqlError
from planner.parse import parse, parse_query


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("SELECT a FROM t WHERE a ^!= 1", "!=", "Write <>."),
        ("SELECT a FROM t WHERE a ^!= ALL (SELECT b FROM u)", "!=", "Write <>."),
        ("SELECT a FROM t ^MINUS SELECT a FROM u", "MINUS", "Write EXCEPT."),
        ("SELECT 1 AS x ^WHERE 1 > 2", "WHERE without FROM", "VALUES (1)"),
        ("SELECT 1 AS x ^GROUP BY 1", "GROUP without FROM", "VALUES (1)"),
        ("SELECT 1 AS x ^HAVING 1 > 2", "HAVING without FROM", "VALUES (1)"),
        ("SELECT * FROM ^(t)", "neither a query nor a JOIN in parentheses", "Leave the parentheses out"),
        ("SELECT * FROM ^(t AS x)", "neither a query nor a JOIN", "Leave the parentheses out"),
        ("SELECT * FROM ^(t, u)", "neither a query nor a JOIN", "Leave the parentheses out"),
        ("SELECT * FROM t, ^(UNNEST(t.a))", "neither a query nor a JOIN", "Leave the parentheses out"),
        ("SELECT * FROM LATERAL ^(TABLE(f(1)))", "neither a query nor a JOIN", "Leave the parentheses out"),
        ("SELECT * FROM ^((SELECT 1 AS x) AS q)", "neither a query nor a JOIN", "Leave the parentheses out"),
        ("SELECT a + ^DEFAULT FROM t", "DEFAULT as a column", "backticks"),
        ("SELECT f(^DEFAULT + a) FROM t", "DEFAULT as a column", "backticks"),
        ("SELECT a FROM t ORDER BY ^DEFAULT", "DEFAULT as a column", "backticks"),
        ("SELECT 1 + ^NULLIF + 3", "NULLIF as a column", "backticks"),
        ("SELECT ^some FROM t", "SOME as a column", "backticks"),
        ("SELECT INTERVAL '1' YEAR TO ^YEAR", "INTERVAL YEAR TO YEAR", "Write INTERVAL '…' YEAR."),
        ("SELECT INTERVAL '1' DAY(3) TO ^DAY", "INTERVAL DAY TO DAY", "Write INTERVAL '…' DAY."),
        ("SELECT INTERVAL '1-2' YEAR TO ^MONTH(2)", "MONTH(2) behind TO", "Only SECOND"),
        ("SELECT INTERVAL '1:2' MINUTE TO ^SECOND(2, 2)", "SECOND(2, 2) behind TO", "Only SECOND"),
        ("SELECT (a + b) ^SECOND FROM t", "SECOND behind what is no difference of times", "AS in front of the alias"),
        ("SELECT (a, b) ^day FROM t", "day behind what is no difference", "backticks"),
        ("SELECT a FROM t GROUP BY ROLLUP (a, ^ROLLUP (b, c))", "ROLLUP inside ROLLUP", "GROUPING SETS"),
        ("SELECT a FROM t GROUP BY CUBE (a, ^ROLLUP (b, c))", "ROLLUP inside ROLLUP or CUBE", "GROUPING SETS"),
        ("SELECT /*+ ^h(a, b = 'c') */ a FROM t", "a hint H of pairs and single words", "'key' = 'value'"),
        ("SELECT SUM(a) OVER (PARTITION BY ^(SELECT 1)) FROM t", "a query in PARTITION BY", "column"),
    ],
)
def test_what_flink_refuses(text: str, what: str, hint: str) -> None:
    at, sql = text.index("^") + 1, text.replace("^", "")
    with pytest.raises(SqlError) as refused:
        parse(sql)
    assert refused.value.position == Position(1, at)
    assert what in str(refused.value)
    assert hint in (refused.value.hint or "")
    parse_query(sql)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t WHERE a <> 1",
        "SELECT 1 AS x ORDER BY x LIMIT 1",
        "SELECT * FROM (t AS x JOIN u ON x.a = u.a)",
        "SELECT * FROM (((t JOIN u ON t.a = u.a)))",
        "SELECT * FROM ((SELECT 1 AS x))",
        "SELECT * FROM (TABLE t)",
        "SELECT * FROM t, LATERAL TABLE(f(1))",
        "SELECT f(DEFAULT, 1), COUNT(DISTINCT DEFAULT), t.`default` FROM t",
        "INSERT INTO t VALUES (1, DEFAULT), (DEFAULT, 2)",
        "SELECT NULLIF(a, 1), a = SOME (SELECT b FROM u) FROM t",
        "SELECT INTERVAL '1:2' MINUTE(3) TO SECOND(2), INTERVAL '1' SECOND(2, 3), INTERVAL '1-2' YEAR(3) TO MONTH",
        "SELECT (a - b) SECOND, (a + b) AS `second`, (a + b) millisecond FROM t",
        "SELECT a FROM t GROUP BY GROUPING SETS (ROLLUP (a, b), CUBE (a, b)), ROLLUP (a, (a, b))",
        "SELECT /*+ h(a, b), i('k' = 'v', k = 'v'), j('x', 3), l */ a FROM t",
        "SELECT SUM(a) OVER (PARTITION BY a ORDER BY b) FROM t",
    ],
)
def test_what_flink_takes_beside_it(text: str) -> None:
    parse(text)
