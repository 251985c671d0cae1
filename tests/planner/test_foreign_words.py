"""What other systems write, and what is misspelt, is refused at its own place with what to write instead."""

from __future__ import annotations

import pytest

from execnodes.core.errors import Position, SqlError
from planner.parse import parse


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("^SELCT a FROM t", "SELCT does not begin a statement", "Did you mean SELECT?"),
        ("^UPDATE t SET a = 1", "UPDATE does not begin", "INSERT INTO"),
        ("^ANALYZE TABLE t COMPUTE STATISTICS", "ANALYZE does not begin", "Plans do not go by statistics"),
        ("^CALL p()", "CALL does not begin", "no procedures"),
        ("^REMOVE JAR 'x.jar'", "REMOVE does not begin", "No jar was added"),
        ("SHOW ^PARTITIONS t", "SHOW PARTITIONS is not supported", "SELECT DISTINCT"),
        ("SHOW ^MATERIALIZED TABLES", "SHOW MATERIALIZED is not supported", "INSERT INTO"),
        ("DESCRIBE ^DATABASE d", "DESCRIBE DATABASE is not supported", "SHOW TABLES FROM"),
        ("^REPLACE TABLE t AS SELECT 1", "REPLACE does not begin", "CREATE OR REPLACE TABLE"),
        ("ALTER TABLE t ADD ^IF NOT EXISTS PARTITION (a = 1)", "IF NOT EXISTS PARTITION", "there when its files are"),
        ("ALTER TABLE t DROP ^IF EXISTS PARTITION (a = 1)", "DROP IF EXISTS PARTITION", "remove the partition's files"),
        ("ALTER TABLE t ADD ^PARTITION (a = 1)", "PARTITION here", "a partition is there when its files are"),
        ("ALTER TABLE t ADD ^DISTRIBUTION BY HASH(a)", "DISTRIBUTION here", "No connector has buckets"),
        ("ALTER TABLE t DROP ^DISTRIBUTION", "DROP DISTRIBUTION", "No connector has buckets"),
        ("CREATE TABLE t (a INT) ^DISTRIBUTED INTO 4 BUCKETS", "DISTRIBUTED BY", "No connector has buckets"),
        ("CREATE TEMPORARY TABLE ^t AS SELECT 1", "makes no temporary table", "Leave TEMPORARY out"),
        ("CREATE TABLE t LIKE u (OVERWRITING ^CONSTRAINTS)", "OVERWRITING CONSTRAINTS", "EXCLUDING CONSTRAINTS"),
        ("CREATE TABLE t LIKE u (OVERWRITING ^ALL)", "OVERWRITING ALL", "EXCLUDING ALL"),
        ("CREATE TABLE t LIKE u (^)", "expected INCLUDING", None),
        ("EXPLAIN ^CREATE TABLE t (a INT)", "requires AS SELECT", None),
        ("^DELETE FROM t", "DELETE does not begin", "a row goes when a query no longer gives it"),
        ("SELECT a FROM t WHERE b ^ILIKE 'x'", "ILIKE is not Flink's SQL", "LOWER(text) LIKE LOWER(pattern)"),
        ("SELECT a FROM t WHERE b NOT ^ILIKE 'x'", "ILIKE", "LOWER"),
        ("SELECT a ^ILIKE 'x' FROM t", "ILIKE", "LOWER"),
        ("SELECT a ^RLIKE 'x' FROM t", "RLIKE", "REGEXP(text, pattern)"),
        ("SELECT * ^EXCEPT (a) FROM t", "* EXCEPT (…)", "Name the columns"),
        ("SELECT * ^EXCLUDE (a) FROM t", "* EXCLUDE (…)", "Name the columns"),
        ("CREATE TABLE t (a INT) ^USING parquet", "USING", "'format' = 'parquet'"),
        ("CREATE TABLE t (a INT) ^STORED AS ORC", "STORED", "WITH ('connector'"),
        ("CREATE TABLE t ^SELECT 1", "SELECT at this place", "AS SELECT"),
        ("CREATE TABLE t AS SELECT 1 ^WITH ('a' = 'b')", "WITH at this place", "in front of AS"),
        ("SELECT a FROM t ^LIMIT 5, 10", "LIMIT 5, …", "LIMIT … OFFSET 5"),
        ("SELECT a FROM t WHERE a ^== 1", "== is not", "Write =."),
        ("SELECT a FROM t WHERE a ^<=> 1", "<=> is not", "IS NOT DISTINCT FROM"),
        ("SELECT a^::INT FROM t", ":: is not", "CAST(value AS type)"),
        ("SELECT a ^-> 'b' FROM t", "-> is not", "JSON_VALUE"),
        ("SELECT 'it\\'s^' FROM t", "not closed", "A backslash escapes nothing"),
        ("SELECT ^'it\\'s' || 'b''", "a quote behind a backslash ends the text", "doubled"),
        ('SELECT ^"a" FROM t', "double quotes", "backticks"),
        ("SELECT ^9223372036854775808", "number 9223372036854775808 is out of range", "CAST('9223372036854775808' AS"),
        ("SELECT 1 - ^1.23456789012345678901", "is out of range", "AS DECIMAL(p, s)"),
        ("SELECT -(^9223372036854775809)", "is out of range", "AS DECIMAL(p, s)"),
        ("SELECT DECIMAL ^'9223372036854775808'", "is out of range", "AS DECIMAL(p, s)"),
        ("SELECT ^DATE '1582-10-14'", "'1582-10-14' is no DATE", "2024-02-29"),
        ("SELECT ^TIMESTAMP '1582-10-05 00:00:00'", "is no TIMESTAMP", "2024-02-29"),
        ("SELECT ^INTERVAL '100' SECOND", "100 has more than 2 digits", "INTERVAL '100' SECOND(3)"),
        ("SELECT ^INTERVAL '1000-1' YEAR(3) TO MONTH", "more than 3 digits", "YEAR(4) TO MONTH"),
        (
            "SELECT ^INTERVAL '10.12' SECOND(2, 1)",
            ".12 has more than 1 digits",
            "Write 2 as the digits",
        ),
        ("SELECT ^INTERVAL '1:02.1234' MINUTE TO SECOND(3)", ".1234 has more than 3 digits", "Write 4"),
        ("SELECT ^INTERVAL '1' DAY(0)", "an interval has 1 to 10 digits", "SECOND(2, 3)"),
        ("SELECT ^INTERVAL '1' SECOND(1, 10)", "1 to 9 of them behind its point", "SECOND(2, 3)"),
        ("SELECT ^INTERVAL '1 24:00:00' DAY TO SECOND", "is no INTERVAL DAY TO SECOND", None),
        ("SELECT INTERVAL ^1.5 SECOND", "a whole number", None),
        ("SELECT INTERVAL n ^+ 1 DAY FROM t", "found +", None),
        ("SELECT ^TIMESTAMP '2024-01-01 00:00:00.123456789'", "has 9 fractional digits", "6 digits at most"),
        ("SELECT ^TOP 5 a FROM t", "TOP 5", "LIMIT 5"),
        ("SELECT ^DISTINCT ON (a) b FROM t", "DISTINCT ON", "ROW_NUMBER"),
        ("SELECT a FROM t GROUP BY a ^WITH ROLLUP", "WITH ROLLUP", "GROUP BY ROLLUP"),
        ("SELECT a ^FORM t", "FORM does not belong here", "FROM"),
        ("SELECT a FROM t ^WEHRE a = 1", "WEHRE does not belong here", "WHERE"),
        ("SELECT a FROM t ^GRUOP BY a", "GRUOP does not belong here", "GROUP"),
        ("SELECT COUNT(a ^FROM t", "expected ), found FROM", "line 1, column 13"),
        ("SELECT a, ^FROM t", "expected an expression", "Leave out the comma"),
        ("CREATE TABLE t (a INT,^)", "expected a column", "Leave out the comma"),
        ("SELECT a FROM t ^SELECT b FROM u", "expected the end of the statement", "semicolon"),
        ("SELECT ^a AT TIME ZONE 'UTC' FROM t", "AT TIME ZONE", "CONVERT_TZ"),
        ("SELECT a FROM ^a.b.c.d", "at most three names", None),
        ("SELECT ^1e999", "too large for a DOUBLE", None),
        ("SELECT ^U&'\\d800'", "half a character", None),
        ("SELECT CAST(a AS VARCHAR^(99999999999))", "1 to 2147483647", None),
        ("SELECT COUNT(DISTINCT ^)", "expected an expression", None),
        ("SELECT 1 AS ^`a\0`", "a name with the character NUL", "Leave it out"),
        ("CREATE TABLE t (^`\0` INT)", "a name with the character NUL", "Leave it out"),
        ("SELECT 1 AS `^\ud800`", "half a surrogate pair", None),
        ("SELECT SUM(a) OVER (ORDER BY b ^GROUPS 5 PRECEDING) FROM t", "GROUPS in a window frame", "ROWS or RANGE"),
        ("SELECT * FROM t ^LATERAL VIEW EXPLODE(xs) AS e", "LATERAL VIEW is not", "UNNEST"),
        ("SELECT a, ^UNNEST(xs) FROM t", "UNNEST stands in FROM", "CROSS JOIN UNNEST"),
        ("SELECT a FROM t ^ASOF JOIN u ON t.a = u.a", "ASOF JOIN is not supported", "ROW_NUMBER"),
        ("SELECT a FROM t ^SEMI JOIN u ON t.a = u.a", "SEMI JOIN is not supported", "EXISTS"),
        ("SELECT a FROM t AS x ^ANTI JOIN u ON t.a = u.a", "ANTI JOIN is not supported", "EXISTS"),
        ("ALTER TABLE t ADD ^COLUMN z INT", "COLUMN in front of a column", "Leave the word out"),
        ("ALTER TABLE t DROP ^COLUMN a", "COLUMN at this place", "Leave the word out"),
        ("ALTER TABLE t RENAME ^COLUMN a TO b", "COLUMN at this place", "Leave the word out"),
        ("CREATE TABLE t (a INT ^AUTO_INCREMENT)", "expected ), found AUTO_INCREMENT", None),
        ("CREATE TABLE t (a ^TEXT)", "unknown type TEXT", "Write STRING."),
        ("CREATE TABLE t (a ^BOOLEANN)", "unknown type", "Did you mean BOOLEAN?"),
        ("SHOW ^TABELS", "SHOW TABELS", "Did you mean TABLES?"),
        ("SHOW COLUMNS^", "expected FROM and a table", None),
        ("SELECT a FROM t LIMIT 1 ^LIMIT 2", "expected the end of the query, found LIMIT", "LIMIT n OFFSET m"),
    ],
)
def test_foreign_words(text: str, message: str, hint: str | None) -> None:
    plain = text.replace("^", "", 1)
    with pytest.raises(SqlError) as raised:
        parse(plain)
    assert message in raised.value.message
    assert hint is None or hint in str(raised.value.hint)
    if "VARCHAR" not in text:  # at the type
        assert raised.value.position == Position(1, text.index("^") + 1)


def test_a_surrogate_pair_is_one_character() -> None:
    assert parse("SELECT U&'\\d83d\\de00'") == parse("SELECT '😀'")


def test_a_semicolon_is_advised_between_statements_only() -> None:
    with pytest.raises(SqlError) as raised:
        parse("SELECT a b c FROM t")
    assert raised.value.hint == "Is a comma missing before c?"


def test_what_ends_a_word_of_a_table_is_no_column() -> None:
    """COLUMN is a name as others are."""
    for text in ("ADD (COLUMN INT)", "ADD column AS 1", "DROP `column`", "RENAME a TO column"):
        assert parse(f"ALTER TABLE t {text}")
