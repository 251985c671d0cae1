"""Text to statements: splitting, literals, precedence, types, positions, and every kind of statement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.errors import Position, SqlError
from execnodes.core.types import parse_type
from planner import statements as s
from planner import syntax
from planner import table_statements as t
from planner.parse import parse, parse_query
from tests.planner.syntax_text import parse_expression


def show(node: object) -> str:
    """A short form of an expression for comparisons."""
    match node:
        case syntax.Constant():
            return f"{node.literal.value}:{node.literal.type.not_null().with_nullable(True)}"
        case syntax.Name():
            return ".".join(node.parts)
        case syntax.Call():
            target = f" {node.result}" if node.result else ""
            return f"{node.name}({', '.join(map(show, node.args))}{'*' if node.star else ''}{target})"
        case syntax.Access():
            return f"{show(node.expr)}.{node.name}"
        case _:
            return type(node).__name__


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c - d", "-(+(a, *(b, c)), d)"),
        ("-a / 2", "/(MINUS_PREFIX(a), 2:INT)"),
        ("- 2147483648", "-2147483648:INT"),
        ("-(2147483648)", "-2147483648:INT"),
        ("- -2147483648", "2147483648:BIGINT"),
        ("-9223372036854775808", "-9223372036854775808:BIGINT"),
        ("-1.5E0", "-1.5:DOUBLE"),
        ("- -1E3", "1000.0:DOUBLE"),
        ("-0.0", "0.0:DECIMAL(2, 1)"),
        ("NOT a = b AND c OR d", "OR(AND(NOT(=(a, b)), c), d)"),
        ("a = b IS TRUE", "IS TRUE(=(a, b))"),
        ("NOT a IS NULL", "NOT(IS NULL(a))"),
        ("a IS NOT DISTINCT FROM b + 1", "IS NOT DISTINCT FROM(a, +(b, 1:INT))"),
        ("a BETWEEN 1 AND 2 AND b", "AND(BETWEEN(a, 1:INT, 2:INT), b)"),
        ("a NOT BETWEEN SYMMETRIC 1 AND 2", "NOT(BETWEEN SYMMETRIC(a, 1:INT, 2:INT))"),
        ("a NOT IN (1, 2)", "NOT IN(a, 1:INT, 2:INT)"),
        ("a LIKE b ESCAPE '!'", "LIKE(a, b, !:CHAR(1))"),
        ("a NOT SIMILAR TO 'x'", "NOT(SIMILAR TO(a, x:CHAR(1)))"),
        ("a || 'b' || c", "||(||(a, b:CHAR(1)), c)"),
        ("a != b", "<>(a, b)"),
        ("CASE a WHEN 1, 2 THEN 'x' END", "CASE(OR(=(a, 1:INT), =(a, 2:INT)), x:CHAR(1), None:NULL)"),
        ("CAST(a AS DECIMAL(6, 2))", "CAST(a DECIMAL(6, 2))"),
        ("TRIM(LEADING 'h' FROM s)", "TRIM(LEADING:CHAR(7), h:CHAR(1), s)"),
        ("TRIM(s)", "TRIM(BOTH:CHAR(4),  :CHAR(1), s)"),
        ("SUBSTRING(s FROM 2 FOR 3)", "SUBSTRING(s, 2:INT, 3:INT)"),
        ("OVERLAY(s PLACING '#' FROM 2)", "OVERLAY(s, #:CHAR(1), 2:INT)"),
        ("POSITION('a' IN s)", "POSITION(a:CHAR(1), s)"),
        ("EXTRACT(YEAR FROM d)", "EXTRACT(YEAR:CHAR(4), d)"),
        ("CEIL(ts TO DAY)", "CEIL(ts, DAY:CHAR(3))"),
        ("TIMESTAMPADD(DAY, 1, ts)", "TIMESTAMPADD(DAY:CHAR(3), 1:INT, ts)"),
        ("xs[1].f", "ITEM(xs, 1:INT).f"),
        ("(a, 1)", "ROW(a, 1:INT)"),
        ("MAP['k', 1]", "MAP(k:CHAR(1), 1:INT)"),
        ("CURRENT_DATE", "CURRENT_DATE()"),
        ("LEFT(s, 2)", "LEFT(s, 2:INT)"),
        ("a IS NOT JSON OBJECT", "NOT(IS JSON(a, OBJECT:CHAR(6)))"),
        ("`a b`.`c``d`", "a b.c`d"),
        ("COUNT(*)", "COUNT(*)"),
        ("'it''s'", "it's:CHAR(4)"),
        ("U&'\\00e9'", "é:CHAR(1)"),
        ("'é😀'", "é😀:CHAR(3)"),
        ("x'0aFF'", "0aff:BINARY(2)"),
        ("0.908", "0.908:DECIMAL(4, 3)"),
        ("3000000000", "3000000000:BIGINT"),
        ("99999999999999999999", "99999999999999999999:DECIMAL(20, 0)"),
        ("1e3", "1000.0:DOUBLE"),
        ("DATE '2024-02-29'", "2024-02-29:DATE"),
        ("TIME '1:02:03.5'", "01:02:03.5:TIME(1)"),
        ("TIMESTAMP '2024-02-29 12:00:00.125'", "2024-02-29 12:00:00.125:TIMESTAMP(3)"),
        ("INTERVAL '5' SECOND", "5000:INTERVAL SECOND"),
        ("INTERVAL '-1.5' SECOND", "-1500:INTERVAL SECOND"),
        ("INTERVAL - '2' DAYS", "-172800000:INTERVAL SECOND"),
        ("INTERVAL '1 02:03:04.005' DAY TO SECOND", "93784005:INTERVAL SECOND"),
        ("INTERVAL '100' SECOND(3)", "100000:INTERVAL SECOND"),
        ("INTERVAL + '1' DAY", "86400000:INTERVAL SECOND"),
        ("INTERVAL 100 DAY", "8640000000:INTERVAL SECOND"),
        ("INTERVAL -2 WEEKS", "-1209600000:INTERVAL SECOND"),
        ("INTERVAL n DAY", "*(n, 86400000:INTERVAL SECOND)"),
        ("INTERVAL - t.n YEAR", "*(t.n, -12:INTERVAL MONTH)"),
        ("INTERVAL (n + 1) HOUR", "*(+(n, 1:INT), 3600000:INTERVAL SECOND)"),
        ("(a - b) DAY TO SECOND", "- INTERVAL(DAY:CHAR(3), a, b)"),
        ("(a - b) months > c", ">(- INTERVAL(MONTH:CHAR(5), a, b), c)"),
        ("INTERVAL '1-2' YEAR TO MONTH", "14:INTERVAL MONTH"),
        ("JSON_VALUE(d, '$.a' RETURNING INT NULL ON EMPTY DEFAULT -1 ON ERROR)",
         "JSON_VALUE(d, $.a:CHAR(3), NULL:CHAR(4), None:NULL, DEFAULT:CHAR(7), -1:INT INT)"),
        ("JSON_QUERY(d, '$' WITH CONDITIONAL ARRAY WRAPPER EMPTY ARRAY ON EMPTY)",
         "JSON_QUERY(d, $:CHAR(1), CONDITIONAL:CHAR(11), EMPTY ARRAY:CHAR(11), NULL:CHAR(4))"),
        ("JSON_OBJECT(KEY 'a' VALUE b, 'c' : d ABSENT ON NULL)",
         "JSON_OBJECT(ABSENT:CHAR(6), a:CHAR(1), b, c:CHAR(1), d)"),
        ("JSON_ARRAY()", "JSON_ARRAY(ABSENT:CHAR(6))"),
        ("a = ANY (1, b)", "IN(a, 1:INT, b)"),
        ("a <> ALL (1, b)", "NOT IN(a, 1:INT, b)"),
        ("a > SOME (1, b) IS TRUE", "IS TRUE(OR(>(a, 1:INT), >(a, b)))"),
        ("a <= ALL (1, b)", "AND(<=(a, 1:INT), <=(a, b))"),
        (r"E'a\n\x41\u0042\103\'''\q\\'", "a\nABC''\\q\\:CHAR(10)"),
        ("U&'d!0061!!' UESCAPE '!'", "da!:CHAR(3)"),
        ("N'a' || _UTF8'b'", "||(a:CHAR(1), b:CHAR(1))"),
        ("DECIMAL '1.5'", "1.5:DECIMAL(2, 1)"),
        ("DECIMAL '1e3'", "1000:INT"),
        ("desc + asc", "+(desc, asc)"),
        ("$a.b$c", "$a.b$c"),
        ("CAST(a AS TIME(0) WITHOUT TIME ZONE)", "CAST(a TIME(0))"),
        ("ARRAY_AGG(a ORDER BY b DESC)", "ARRAY_AGG(a)"),
        ("((SELECT 1) + 1)", "+(ScalarQuery, 1:INT)"),
    ],
)  # fmt: skip
def test_expression(text: str, expected: str) -> None:
    assert show(parse_expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ROW<x INT, `y z` ROW<a STRING NOT NULL>> NOT NULL", "ROW<`x` INT, `y z` ROW<`a` STRING NOT NULL>> NOT NULL"),
        ("ROW(a INT 'comment', b BYTES)", "ROW<`a` INT, `b` BYTES>"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP(6)"),
        ("INT ARRAY NOT NULL", "ARRAY<INT> NOT NULL"),
        ("MULTISET<STRING>", "MULTISET<STRING>"),
        ("MAP<STRING, ARRAY<DOUBLE PRECISION>>", "MAP<STRING, ARRAY<DOUBLE>>"),
        ("NUMERIC(5)", "DECIMAL(5, 0)"),
        ("DEC", "DECIMAL(10, 0)"),
        ("CHARACTER VARYING(7)", "VARCHAR(7)"),
        ("CHAR VARYING(7)", "VARCHAR(7)"),
        ("BINARY VARYING(7)", "VARBINARY(7)"),
        ("CHAR", "CHAR(1)"),
        ("CHARACTER", "CHAR(1)"),
        ("BINARY", "BINARY(1)"),
        ("VARCHAR", "STRING"),
        ("CHAR VARYING", "STRING"),
        ("CHARACTER VARYING NOT NULL", "STRING NOT NULL"),
        ("VARBINARY", "BYTES"),
        ("BINARY VARYING", "BYTES"),
        ("MAP<VARCHAR, ROW<a VARBINARY>>", "MAP<STRING, ROW<`a` BYTES>>"),
        ("INTERVAL DAY(2) TO SECOND(3)", "INTERVAL SECOND"),
        ("INTERVAL YEAR TO MONTH", "INTERVAL MONTH"),
        ("INT NULL", "INT"),
    ],
)
def test_type(text: str, expected: str) -> None:
    found = parse_expression(f"CAST(a AS {text})")
    assert isinstance(found, syntax.Call)
    assert found.result == parse_type(expected)


INSERT = s.Insert(("t",), parse_query("SELECT 1"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SET 'a.b' = 'c'", s.SetOption("a.b", "c")),
        ("SET a.b-c = file:///x@y.jar", s.SetOption("a.b-c", "file:///x@y.jar")),
        ("set a=3min;", s.SetOption("a", "3min")),
        ("SET a = 'b c'", s.SetOption("a", "b c")),
        ("RESET a.b;", s.ResetOption("a.b")),
        ("SET", s.SetOption()),
        ("RESET 'a'", s.ResetOption("a")),
        ("RESET", s.ResetOption()),
        ("USE CATALOG c", s.Use("CATALOG", ("c",))),
        ("USE c.d", s.Use("DATABASE", ("c", "d"))),
        ("SHOW TABLES FROM d LIKE 'a%'", s.Show("TABLES", ("d",), "a%")),
        ("SHOW USER FUNCTIONS", s.Show("USER FUNCTIONS")),
        ("SHOW CREATE TABLE a.b", s.Show("CREATE TABLE", ("a", "b"))),
        ("SHOW CURRENT DATABASE", s.Show("CURRENT DATABASE")),
        ("SHOW JOBS", s.Show("JOBS")),
        ("DESC t", s.Describe(("t",))),
        ("DROP TEMPORARY VIEW IF EXISTS v", s.Drop("VIEW", ("v",), temporary=True, if_exists=True)),
        ("DROP DATABASE d CASCADE", s.Drop("DATABASE", ("d",), cascade=True)),
        ("ALTER TABLE t RENAME TO u", t.AlterTable(("t",), rename_to=("u",))),
        ("ALTER TABLE t SET ('a' = 'b')", t.AlterTable(("t",), set_options=(("a", "b"),))),
        ("ALTER TABLE t RESET ('a', 'b')", t.AlterTable(("t",), reset_options=("a", "b"))),
        ("INSERT INTO t SELECT 1", INSERT),
        ("INSERT OVERWRITE t (a) SELECT 1", s.Insert(("t",), INSERT.query, ("a",), overwrite=True)),
        ("INSERT INTO t SELECT 1 ON CONFLICT DO NOTHING", s.Insert(("t",), INSERT.query, on_conflict="NOTHING")),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO t SELECT 1; END",
         s.StatementSet((INSERT, INSERT))),
        ("BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END", s.StatementSet((INSERT,))),
        ("EXPLAIN CHANGELOG_MODE, PLAN_ADVICE INSERT INTO t SELECT 1",
         s.Explain(INSERT, ("CHANGELOG_MODE", "PLAN_ADVICE"))),
        ("EXPLAIN PLAN FOR SELECT 1", s.Explain(s.QueryStatement(INSERT.query))),
        ("EXPLAIN PLAN 'p.json'", s.ExplainPlan("p.json")),
        ("EXPLAIN STATEMENT SET BEGIN INSERT INTO t SELECT 1; END", s.Explain(s.StatementSet((INSERT,)))),
        ("COMPILE PLAN 'p' IF NOT EXISTS FOR INSERT INTO t SELECT 1", s.CompilePlan("p", INSERT, if_not_exists=True)),
        ("COMPILE PLAN 'n' FROM 'o'", s.CompilePlan("n", None, "o")),
        ("COMPILE PLAN 'n' FROM 'o' FOR INSERT INTO t SELECT 1", s.CompilePlan("n", INSERT, "o")),
        ("COMPILE AND EXECUTE PLAN 'p' FOR STATEMENT SET BEGIN INSERT INTO t SELECT 1; END",
         s.CompileAndExecutePlan("p", s.StatementSet((INSERT,)))),
        ("EXECUTE PLAN 'p'", s.ExecutePlan("p")),
        ("DROP PLAN IF EXISTS 'p'", s.DropPlan("p", True)),
        ("DESCRIBE JOB 'j'", s.DescribeJob("j")),
        ("DESC job", s.Describe(("job",))),
        ("DESCRIBE FUNCTION f", s.DescribeFunction(("f",))),
        ("DESC FUNCTION EXTENDED c.d.f", s.DescribeFunction(("c", "d", "f"), True)),
        ("STOP JOB 'j'", s.StopJob("j")),
        ("STOP JOB 'j' WITH SAVEPOINT", s.StopJob("j", True)),
        ("STOP JOB 'j' WITH SAVEPOINT WITH DRAIN", s.StopJob("j", True, True)),
        ("LOAD MODULE m WITH ('a' = 'b')", s.LoadModule("m", (("a", "b"),))),
        ("UNLOAD MODULE m", s.UnloadModule("m")),
        ("ADD JAR 'x.jar'", s.AddJar("x.jar")),
        ("CREATE DATABASE IF NOT EXISTS c.d COMMENT 'x' WITH ('k' = 'v')",
         s.CreateDatabase(("c", "d"), (("k", "v"),), "x", True)),
        ("CREATE CATALOG c WITH ('type' = 'generic_in_memory')",
         s.CreateCatalog("c", (("type", "generic_in_memory"),))),
        ("CREATE TEMPORARY SYSTEM FUNCTION f AS 'm.f' LANGUAGE PYTHON",
         s.CreateFunction(("f",), "m.f", "PYTHON", True, True)),
    ],
)  # fmt: skip
def test_statement(text: str, expected: s.Statement) -> None:
    assert parse(text + ";") == [expected]


def test_script_keeps_texts_and_positions() -> None:
    found = parse("-- first\nSET 'a' = ';';\n\n/* a ; comment */ SELECT ';' -- end\n;;  SHOW TABLES")
    assert [(each.text, each.position) for each in found] == [
        ("SET 'a' = ';'", Position(2, 1)),
        ("SELECT ';'", Position(4, 19)),
        ("SHOW TABLES", Position(5, 5)),
    ]


def test_hints_are_kept() -> None:
    query = parse_query("SELECT /*+ STATE_TTL('a' = '1 d'), BROADCAST(b) */ * FROM t /*+ OPTIONS('k' = 'v') */ AS a")
    assert isinstance(query.body, syntax.Select)
    assert query.body.hints == (
        syntax.Hint("STATE_TTL", (("a", "1 d"),)),
        syntax.Hint("BROADCAST", (("b", None),)),
    )
    assert isinstance(query.body.relation, syntax.TableName)
    assert query.body.relation.hints == (syntax.Hint("OPTIONS", (("k", "v"),)),)


@given(st.text(alphabet="abc'é\n;-/* ", max_size=12), st.text(alphabet="ab`é ;", min_size=1, max_size=8))
def test_texts_and_names_survive(text: str, name: str) -> None:
    quoted, escaped = text.replace("'", "''"), name.replace("`", "``")
    found = parse_query(f"SELECT '{quoted}' AS `{escaped}`")
    assert isinstance(found.body, syntax.Select)
    item = found.body.items[0]
    assert isinstance(item.expr, syntax.Constant)
    assert (item.expr.literal.value, item.alias) == (text, name)


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused_with_its_place(text: str) -> None:
    positions = []
    try:
        parse(text)
    except SqlError as error:
        positions.append(error.position)
    assert None not in positions


@given(st.integers(0, 10**37))
def test_numbers(value: int) -> None:
    found = parse_expression(str(value))
    assert isinstance(found, syntax.Constant)
    assert int(str(found.literal.value)) == value


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("SELECT * FROM ((VALUES (1)) AS t (a) JOIN u ON t.a = u.b)", syntax.Join),
        ("SELECT * FROM (((SELECT 1)) AS t CROSS JOIN u)", syntax.Join),
        ("SELECT * FROM ((SELECT 1) UNION (SELECT 2))", syntax.Derived),
        ("SELECT * FROM (((SELECT 1)) ORDER BY 1) AS t", syntax.Derived),
        ("SELECT * FROM (TABLE v)", syntax.Derived),
    ],
)
def test_what_parentheses_hold_in_from(text: str, relation: type[syntax.Relation]) -> None:
    body = parse_query(text).body
    assert isinstance(body, syntax.Select)
    assert isinstance(body.relation, relation)


def test_a_table_alone_is_a_query() -> None:
    (found,) = parse("TABLE v")
    assert isinstance(found, s.QueryStatement)
