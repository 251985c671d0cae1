"""What is refused: the message says what, where in the script, and what to write instead."""

from __future__ import annotations

import re

import pytest

from execnodes.core.errors import CatalogError, Position, SqlError
from execnodes.core.options import Configuration
from planner import bind as build
from planner import ddl
from planner import statements as s
from planner.catalog.catalogs import Catalog
from planner.parse import parse

TABLES = """
CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), r ROW<x INT>, WATERMARK FOR ts AS ts)
WITH ('connector' = 'x');
CREATE TABLE u (id INT, k STRING, w BIGINT NOT NULL, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'x');
"""


def run(text: str) -> None:
    """Parse, apply DDL and build; raises what they raise."""
    catalog, configuration = Catalog(), Configuration()
    for statement in parse(TABLES):
        ddl.execute(statement, catalog, configuration)
    for statement in parse(text):
        if isinstance(statement, s.Insert):
            build.build_insert(statement, catalog, configuration)
        elif isinstance(statement, s.QueryStatement):
            build.build_query(statement.query, catalog, configuration)
        else:
            ddl.execute(statement, catalog, configuration)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("SELECT\n  nope FROM t", 2, 3, "Column 'nope' not found in any table"),
        ("SELECT t.nope FROM t", 1, 8, "Column 'nope' not found in table 't'"),
        ("SELECT x.id FROM t", 1, 8, "Table 'x' not found"),
        ("SELECT r.y FROM t", 1, 8, "no field 'y'"),
        ("SELECT k.y FROM t", 1, 8, "no fields: it is STRING"),
        ("SELECT id FROM t JOIN u ON t.id = u.id", 1, 8, "Column 'id' is ambiguous"),
        ("SELECT * FROM t, t", 1, 18, "two relations are named 't'"),
        ("SELECT * FROM nowhere", 1, 15, "Object 'nowhere' not found"),
        ("SELECT FROBNICATE(k) FROM t", 1, 8, "FROBNICATE"),
        ("SELECT k, v FROM t GROUP BY k", 1, 11, "Expression 'v' is not being grouped"),
        ("SELECT k, FROBNICATE(v) FROM t GROUP BY k", 1, 11, "unknown function FROBNICATE"),
        ("SELECT v * 2 AS w, w + 1 FROM t", 1, 20, "Column 'w' not found"),
        ("SELECT UPPER(k) AS x, COUNT(*) FROM t GROUP BY x", 1, 48, "Column 'x' not found"),
        ("SELECT k FROM t WHERE COUNT(*) > 1", 1, 23, "COUNT may not stand in WHERE"),
        ("SELECT SUM(COUNT(*)) FROM t", 1, 12, "COUNT may not stand in an argument of SUM"),
        ("SELECT ROW_NUMBER() FROM t", 1, 8, "ROW_NUMBER OVER may not stand in SELECT"),
        ("SELECT k FROM t WHERE v", 1, 23, "WHERE needs a BOOLEAN, not INT"),
        ("SELECT NULL FROM t", 1, 8, "Illegal use of 'NULL'"),
        ("VALUES (1, NULL)", 1, 12, "Illegal use of 'NULL'"),
        ("VALUES (1), (2, 3)", 1, 14, "a row of 2 values beside one of 1"),
        ("VALUES (1), (DATE '2024-01-01')", 1, 9, "no common type"),
        ("SELECT * FROM t GROUP", 1, 22, "expected BY"),
        ("SELECT v FROM t HAVING v > 1", 1, 24, "HAVING needs GROUP BY"),
        ("SELECT id FROM t UNION SELECT id, w FROM u", 1, 1, "1 and 2 columns"),
        ("SELECT k FROM t UNION ALL SELECT w FROM u", 1, 1, "no common type"),
        ("SELECT id FROM t ORDER BY 2", 1, 27, "there are 1 columns"),
        ("SELECT DISTINCT id FROM t ORDER BY v", 1, 36, "ORDER BY of SELECT DISTINCT"),
        ("SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(v), INTERVAL '1' SECOND))", 1, 55, "time attribute"),
        ("SELECT 1 FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MONTH))", 1, 53, "constant interval"),
        ("SELECT 1 FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts)))", 1, 21, "TUMBLE needs SIZE"),
        ("SELECT 1 FROM TABLE(FOO(TABLE t))", 1, 21, "unknown table function FOO"),
        ("SELECT SUM(v) OVER (PARTITION BY k) FROM t", 1, 20, "needs ORDER BY"),
        ("SELECT SUM(v) OVER w FROM t", 1, 20, "window 'w' is not defined"),
        ("SELECT SUM(v) OVER (ORDER BY v ROWS 1 PRECEDING) FROM t", 1, 30, "Non-time attribute sort"),
        ("SELECT /*+ FOO('a') */ * FROM t", 1, 12, "hint FOO"),
        ("SELECT /*+ STATE_TTL('z' = '1 d') */ k FROM t", 1, 12, "STATE_TTL names 'z'"),
        ("SELECT * FROM t /*+ FOO */", 1, 21, "hint FOO"),
        ("SELECT * FROM t FOR SYSTEM_TIME AS OF ts", 1, 39, "only for the right table of a JOIN"),
        ("SELECT * FROM t MATCH_RECOGNIZE (x)", 1, 34, "expected MEASURES, found x"),
        ("SELECT * FROM t, LATERAL TABLE(f(v))", 1, 32, "unknown table function f"),
        ("SELECT id FROM t WHERE v = (SELECT w, id FROM u)", 1, 28, "a scalar subquery gives one column, not 2"),
        ("SELECT t.id FROM t JOIN u ON t.id IN (SELECT id FROM u)", 1, 30, "a subquery in ON is not supported"),
        ("INSERT INTO u SELECT id FROM t", 1, 1, "Different number of columns."),
        ("INSERT INTO u (id) SELECT id FROM t", 1, 13, "Column 'w' has no default value"),
        ("INSERT INTO u (id, z) SELECT id, 1 FROM t", 1, 13, "Unknown target column 'z'"),
        ("INSERT INTO t SELECT k, k, v, ts, r FROM t", 1, 1, "Incompatible types for sink column 'id' at position 0."),
        ("INSERT INTO nowhere SELECT 1", 1, 13, "Object 'nowhere' not found"),
        ("CREATE TABLE x (a INT PRIMARY KEY)", 1, 17, "must be NOT ENFORCED"),
        ("CREATE TABLE x (a INT, PRIMARY KEY (b) NOT ENFORCED)", 1, 24, "names 'b', which is no column"),
        ("CREATE TABLE x (a INT, a STRING)", 1, 17, "column 'a' is declared twice"),
        ("CREATE TABLE x (a TIMESTAMP(6), WATERMARK FOR a AS a)", 1, 33, "watermark column 'a' is TIMESTAMP(6)"),
        ("CREATE TABLE x (a TIMESTAMP(10))", 1, 28, "10 fractional digits"),
        ("SELECT CAST(ts AS ARRAY<TIMESTAMP(9)>) FROM t", 1, 19, "more than 6 fractional digits"),
        ("CREATE TABLE x (a FOO)", 1, 19, "unknown type FOO"),
        ("CREATE TABLE x (a INT) DISTRIBUTED BY (a)", 1, 24, "DISTRIBUTED BY is not supported"),
        ("CREATE TABLE x (a INT) WITH ('k' = 'v', 'k' = 'w')", 1, 41, "option 'k' is given twice"),
        ("CREATE TABLE t (a INT)", 1, 1, "exists already"),
        ("CREATE VIEW w (a) AS SELECT id, k FROM t", 1, 1, "names 1 column, its query gives 2"),
        ("CREATE OR REPLACE TABLE x (a INT)", 1, 8, "CREATE OR REPLACE TABLE without AS query"),
        ("CREATE OR REPLACE FUNCTION f AS 'm.f'", 1, 8, "CREATE OR REPLACE FUNCTION"),
        ("CREATE OR REPLACE VIEW IF NOT EXISTS w AS SELECT 1", 1, 8, "does not go with IF NOT EXISTS"),
        ("CREATE FUNCTION f AS 'com.x.F'", 1, 1, "LANGUAGE JAVA"),
        ("DROP TABLE nowhere", 1, 1, "does not exist"),
        ("DROP VIEW t", 1, 1, "it is a table"),
        ("USE CATALOG c", 1, 1, "catalog 'c' does not exist"),
        ("FROBNICATE t", 1, 1, "does not begin a statement"),
        ("SELECT 'abc", 1, 8, "not closed"),
        ('SELECT "a" FROM t', 1, 8, "double quotes"),
        ("SELECT 1 /* x", 1, 10, "comment that is not closed"),
        ("SELECT 5x FROM t", 1, 8, "runs into a name"),
        ("SELECT 1 FROM t SELECT 2", 1, 17, "expected the end of the statement"),
        ("SELECT a.b.c.", 1, 14, "expected a column"),
        ("SELECT INTERVAL '1' SECOND FROM t WHERE ts > INTERVAL 5.5 DAY", 1, 55, "in single quotes"),
        ("SET a b", 1, 5, "expected an option's key and a value"),
        ("STOP JOB 'j' WITH DRAIN", 1, 19, "only with a savepoint"),
        ("DESCRIBE JOB j", 1, 14, "expected"),
        ("EXECUTE STATEMENT SET BEGIN END", 1, 32, "no INSERT"),
    ],
)
def test_refusal(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises((SqlError, CatalogError)) as raised:
        run(text)
    assert message in raised.value.message
    assert raised.value.position == Position(line, column)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT idd FROM t", "Did you mean id?"),
        ("SELECT id FROM tt", "Did you mean t?"),
        ("SELECT value FROM t WHERE order = 1", "backticks"),
        ("SELECT NULL FROM t", "CAST(NULL AS type)"),
        ("CREATE TABLE x (a INT PRIMARY KEY)", "NOT ENFORCED"),
        ("DROP TABLE nowhere", None),
    ],
)
def test_hint(text: str, hint: str | None) -> None:
    with pytest.raises((SqlError, CatalogError)) as raised:
        run(text)
    assert hint is None or hint in str(raised.value.hint)


def test_error_in_a_view_names_the_view() -> None:
    with pytest.raises(CatalogError, match=r"view `default_catalog`.`default_database`.`x`"):
        run("CREATE VIEW x AS SELECT id FROM u; DROP TABLE u; SELECT * FROM x")


@pytest.mark.parametrize(
    "marked",
    [
        "CREATE VIEW w (x, y) AS SELECT id ^k FROM t",
        "INSERT INTO u SELECT id ^k, v FROM t",
        "INSERT INTO t (id, k) SELECT SUM(id) ^k FROM t",
        "INSERT INTO u SELECT id AS k, v FROM t",
        "INSERT INTO u SELECT id other, v FROM t",
        "INSERT INTO u SELECT id ^`k` FROM t UNION ALL SELECT id, k FROM t",
        "INSERT INTO u (id, k, w) WITH q AS (SELECT id x, v y FROM t) SELECT x ^y, x FROM q",
        "INSERT INTO t (id, k) SELECT id + 1 ^k FROM (SELECT id, v k FROM t) AS q",
        "INSERT INTO u SELECT 1 ^id, v ^k FROM t",
        "WITH q (x, y) AS (SELECT id ^k FROM t) SELECT * FROM q",
        "SELECT * FROM (SELECT id ^k FROM t) AS q (x, y)",
        "SELECT id FROM t WHERE (id, k) IN (SELECT id ^k FROM u)",
        "SELECT id, (id, k) IN (SELECT id ^k FROM u) FROM t",
        "SELECT id ^k, v FROM t EXCEPT SELECT id, k, v FROM t",
    ],
)
def test_a_comma_may_be_missing_before_an_alias_that_is_a_column(marked: str) -> None:
    """Before each that is marked, and in no text without a mark."""
    text, columns = marked.replace("^", ""), []
    while "^" in marked:
        columns.append(marked.index("^") + 1)
        marked = marked.replace("^", "", 1)
    with pytest.raises(SqlError) as caught:
        run(text)
    hint = caught.value.hint or ""
    assert [int(each) for each in re.findall(r"column (\d+)\)", hint)] == columns
    assert ("comma" in hint) == bool(columns)
