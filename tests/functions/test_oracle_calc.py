"""SELECT lists of the oracle's calc programs, written as calls, give the rows Flink gave."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest

from execnodes.core.expressions import Expression
from tests.functions.evaluator import Columns, Evaluator, cast, f, field, program, try_cast

pytestmark = pytest.mark.spark


def neg(operand: Expression) -> Expression:
    return f("MINUS_PREFIX", operand)


def check(
    evaluate: Evaluator, name: str, columns: Columns, expressions: Sequence[Expression], zone: str = "UTC"
) -> None:
    rows, expected = program("calc", name)
    found = evaluate([columns.id, *expressions], rows, columns, zone)
    for wanted, row in zip(expected, found, strict=True):
        assert len(row) == len(wanted)
        for value, right in zip(row, wanted, strict=True):
            assert value == (pytest.approx(right, rel=1e-15, abs=0) if isinstance(right, float) else right), wanted


def test_integer_arithmetic(evaluate: Evaluator) -> None:
    c = Columns(id="INT", a="INT", b="INT", t="TINYINT", g="BIGINT", s="SMALLINT")
    made = [
        f("+", c.a, c.b),
        f("-", c.a, c.b),
        f("*", c.a, c.b),
        f("/", c.a, c.b),
        f("MOD", c.a, c.b),
        f("%", c.a, c.b),
        neg(c.a),
        f("+", c.t, c.t),
        f("*", c.t, c.s),
        f("+", c.a, c.g),
        f("+", c.g, 1),
        f("/", c.a, 2),
        f("/", neg(c.a), 2),
        f("/", 7, 2),
        f("+", c.a, Decimal("1.5")),
    ]
    types = [
        "INT",
        "INT",
        "INT",
        "INT",
        "INT",
        "INT",
        "INT",
        "TINYINT",
        "SMALLINT",
        "BIGINT",
        "BIGINT",
        "INT",
        "INT",
        "INT",
    ]
    assert [str(e.type) for e in made] == [*types[:-1], "INT NOT NULL", "DECIMAL(12, 1)"]
    check(evaluate, "integer_arithmetic", c, made)


def test_decimal_arithmetic(evaluate: Evaluator) -> None:
    c = Columns(id="INT", a="DECIMAL(10, 2)", b="DECIMAL(8, 4)", c="DECIMAL(38, 18)", n="INT")
    made = [
        f("+", c.a, c.b),
        f("-", c.a, c.b),
        f("*", c.a, c.b),
        f("/", c.a, c.b),
        f("MOD", c.a, c.b),
        neg(c.a),
        f("+", c.a, c.n),
        f("*", c.a, c.n),
        f("/", c.a, c.n),
        f("/", c.n, c.a),
        f("*", c.c, c.c),
        f("/", c.c, c.a),
        f("/", c.a, 3),
        f("ROUND", c.b, 1),
        f("ROUND", c.a, -1),
        f("TRUNCATE", c.b, 2),
        f("CEIL", c.a),
        f("FLOOR", c.a),
        f("ABS", c.a),
    ]
    types = [(13, 4), (13, 4), (19, 6), (23, 11), (8, 4), (10, 2), (13, 2), (21, 2), (21, 13), (23, 11), (38, 6)]
    types += [(38, 16), (21, 13), (6, 1), (9, 0), (7, 2), (10, 0), (10, 0), (10, 2)]
    assert [(e.type.precision, e.type.scale) for e in made] == types
    check(evaluate, "decimal_arithmetic", c, made)


def test_decimal_cast(evaluate: Evaluator) -> None:
    c = Columns(id="INT", s="STRING", d="DOUBLE", x="DECIMAL(12, 4)")
    made = [
        cast(c.s, "DECIMAL(10, 2)"),
        cast(c.d, "DECIMAL(10, 2)"),
        cast(c.x, "DECIMAL(5, 2)"),
        cast(c.x, "DECIMAL(4, 2)"),
        cast(c.x, "INT"),
        cast(c.x, "DOUBLE"),
        cast(c.x, "STRING"),
        cast(c.d, "INT"),
        cast(c.x, "BOOLEAN"),
        try_cast(c.x, "TINYINT"),
    ]
    check(evaluate, "decimal_cast", c, made)


def test_cast_numbers(evaluate: Evaluator) -> None:
    c = Columns(id="INT", g="BIGINT", d="DOUBLE", b="BOOLEAN", s="STRING")
    made = [cast(c.g, t) for t in ("INT", "TINYINT", "SMALLINT", "BOOLEAN", "STRING")]
    made += [cast(c.d, t) for t in ("BIGINT", "INT", "STRING")]
    made += [cast(c.b, "INT"), cast(c.b, "STRING"), cast(c.s, "INT"), cast(c.s, "DOUBLE")]
    made += [cast(c.g, "CHAR(3)"), cast(c.s, "VARCHAR(2)"), cast(c.g, "DOUBLE")]
    check(evaluate, "cast_numbers", c, made)


def test_string_functions(evaluate: Evaluator) -> None:
    c = Columns(id="INT", s="STRING", n="INT")
    made = [
        f("SUBSTRING", c.s, c.n),
        f("SUBSTRING", c.s, c.n, 2),
        f("SUBSTR", c.s, 2),
        f("POSITION", "b", c.s),
        f("INSTR", c.s, "a"),
        f("LOCATE", "c", c.s),
        f("LEFT", c.s, c.n),
        f("RIGHT", c.s, c.n),
        f("LPAD", c.s, 7, "*-"),
        f("RPAD", c.s, 3, "."),
        f("TRIM", "BOTH", " ", c.s),
        f("TRIM", "LEADING", "h", c.s),
        f("LTRIM", c.s),
        f("RTRIM", c.s),
        f("UPPER", c.s),
        f("LOWER", c.s),
        f("INITCAP", c.s),
        f("REPEAT", c.s, 2),
        f("REVERSE", c.s),
        f("CHAR_LENGTH", c.s),
        f("ASCII", c.s),
        f("OVERLAY", c.s, "##", 2, 1),
        f("REPLACE", c.s, "b", "BB"),
    ]
    check(evaluate, "string_functions", c, made)


def test_null_functions(evaluate: Evaluator) -> None:
    c = Columns(id="INT", a="INT", c="BIGINT", s="STRING", d="DECIMAL(6, 2)")
    made = [
        f("COALESCE", c.a, c.c, 0),
        f("COALESCE", c.s, "none"),
        f("NULLIF", c.a, c.c),
        f("NULLIF", c.s, "x"),
        f("IF", f(">", c.a, 1), "big", "small"),
        f("IFNULL", c.a, -1),
        f("IFNULL", c.d, 0),
        f("GREATEST", c.a, c.c, 3),
        f("LEAST", c.a, c.c),
        f("CASE", f(">", c.a, 0), c.d, None),
        f("COALESCE", c.d, c.a),
    ]
    assert [str(e.type) for e in made] == [
        "BIGINT NOT NULL",
        "STRING NOT NULL",
        "INT",
        "STRING",
        "VARCHAR(5)",
        "INT NOT NULL",
        "DECIMAL(12, 2) NOT NULL",
        "BIGINT",
        "BIGINT",
        "DECIMAL(6, 2)",
        "DECIMAL(12, 2)",
    ]
    check(evaluate, "null_functions", c, made)


def test_null_logic(evaluate: Evaluator) -> None:
    c = Columns(id="INT", p="BOOLEAN", q="BOOLEAN", a="INT", c="INT")
    made = [
        f("AND", c.p, c.q),
        f("OR", c.p, c.q),
        f("NOT", c.p),
        f("IS TRUE", c.p),
        f("IS NOT TRUE", c.p),
        f("IS UNKNOWN", c.p),
        f("IS NOT FALSE", c.p),
        f("=", c.a, c.c),
        f("<>", c.a, c.c),
        f("IS DISTINCT FROM", c.a, c.c),
        f("IS NOT DISTINCT FROM", c.a, c.c),
        f("CASE", c.p, "yes", f("NOT", c.p), "no", "unknown"),
        f("CASE", f("=", c.a, 1), "one", f("=", c.a, None), "never", None),
    ]
    check(evaluate, "null_logic", c, made)


def test_null_in_and_between(evaluate: Evaluator) -> None:
    c = Columns(id="INT", a="INT", lo="INT", hi="INT")
    made = [
        f("IN", c.a, 1, 2, 3),
        f("IN", c.a, 1, None),
        f("NOT IN", c.a, 1, 2),
        f("NOT IN", c.a, 1, None),
        f("BETWEEN", c.a, c.lo, c.hi),
        f("NOT BETWEEN", c.a, c.lo, c.hi),
        f("BETWEEN SYMMETRIC", c.a, c.lo, c.hi),
    ]
    check(evaluate, "null_in_and_between", c, made)


def test_filter_three_valued(evaluate: Evaluator) -> None:
    c = Columns(id="INT", a="INT", c="INT")
    made = [
        f("CASE", f("<>", c.c, 0), f("/", c.a, c.c), None),
        f("CASE", f("=", c.c, 0), -1, f("IS NULL", c.c), -2, f("MOD", c.a, c.c)),
    ]
    rows, expected = program("calc", "filter_three_valued")
    passed = {row[0] for row in expected}
    found = evaluate([c.id, *made], [row for row in rows if row["id"] in passed], c)
    assert found == expected


def test_text_comparison(evaluate: Evaluator) -> None:
    c = Columns(id="INT", a="STRING", b="STRING")
    made = [f("<", c.a, c.b), f(">", c.a, c.b), f("=", c.a, c.b), f("GREATEST", c.a, c.b)]
    check(evaluate, "text_comparison", c, made)


def test_like(evaluate: Evaluator) -> None:
    c = Columns(id="INT", s="STRING", p="STRING")
    made = [
        f("LIKE", c.s, c.p),
        f("LIKE", c.s, c.p, "!"),
        f("NOT", f("LIKE", c.s, "a%")),
        f("LIKE", c.s, "%p_e"),
        f("SIMILAR TO", c.s, "a(b|p)+.*"),
        f("LIKE", c.s, ""),
    ]
    check(evaluate, "like", c, made)


def test_math_functions(evaluate: Evaluator) -> None:
    c = Columns(id="INT", x="DOUBLE", n="INT")
    made = [
        f("POWER", c.x, 2),
        f("SQRT", c.x),
        f("LN", c.x),
        f("LOG10", c.x),
        f("LOG2", c.x),
        f("LOG", 2, c.x),
        f("EXP", f("/", c.n, 10)),
        f("SIGN", c.n),
        f("SIGN", c.x),
        f("ABS", c.n),
        f("ROUND", c.x),
        f("ROUND", c.n, -1),
        f("TRUNCATE", c.x, 1),
        f("BIN", c.n),
        f("HEX", c.n),
        f("HEX", "é"),
        f("MOD", c.n, 7),
        f("ATAN2", c.x, 1),
        f("DEGREES", c.x),
        f("CEIL", c.x),
        f("FLOOR", neg(c.x)),
    ]
    assert [str(e.type) for e in made[7:15]] == ["INT", "DOUBLE", "INT", "DOUBLE", "INT", "DOUBLE", "STRING", "STRING"]
    check(evaluate, "math_functions", c, made)


def test_datetime_extract(evaluate: Evaluator) -> None:
    c = Columns(id="INT", ts="TIMESTAMP(3)", d="DATE", t="TIME(0)")
    on = [("YEAR", c.ts), ("QUARTER", c.ts), ("MONTH", c.d), ("WEEK", c.ts), ("DAY", c.d), ("DOW", c.ts), ("DOY", c.ts)]
    on += [("HOUR", c.ts), ("MINUTE", c.t), ("SECOND", c.ts), ("MILLISECOND", c.ts), ("EPOCH", c.ts)]
    on += [("ISOYEAR", c.ts), ("ISODOW", c.ts), ("CENTURY", c.ts), ("DECADE", c.ts)]
    made = [f("EXTRACT", unit, operand) for unit, operand in on]
    made += [f(name, c.d) for name in ("YEAR", "WEEK", "DAYOFWEEK", "DAYOFYEAR", "DAYOFMONTH")]
    made += [f("HOUR", c.ts), f("SECOND", c.ts)]
    check(evaluate, "datetime_extract", c, made)


def test_local_time_zone(evaluate: Evaluator) -> None:
    c = Columns(id="INT", ms="BIGINT", ts="TIMESTAMP(3)", l="TIMESTAMP_LTZ(3)")
    instant = f("TO_TIMESTAMP_LTZ", c.ms, 3)
    made = [
        instant,
        cast(instant, "STRING"),
        cast(instant, "TIMESTAMP(3)"),
        cast(c.ts, "TIMESTAMP_LTZ(3)"),
        cast(c.l, "DATE"),
        f("EXTRACT", "HOUR", c.l),
        f("DATE_FORMAT", c.l, "yyyy-MM-dd HH:mm"),
        f("FROM_UNIXTIME", f("/", c.ms, 1000)),
        f("UNIX_TIMESTAMP", "2024-03-31 03:30:00"),
        f("FLOOR", c.l, "DAY"),
    ]
    check(evaluate, "local_time_zone", c, made, "Europe/Berlin")


def test_maps_and_rows(evaluate: Evaluator) -> None:
    c = Columns(id="INT", m="MAP<STRING, INT>", r="ROW<`x` INT, `y` ROW<`z` STRING, `k` BOOLEAN>>")
    y = field(c.r, "y")
    made = [
        f("ITEM", c.m, "a"),
        f("ITEM", c.m, "zz"),
        f("CARDINALITY", c.m),
        f("MAP_KEYS", c.m),
        f("MAP_VALUES", c.m),
        f("MAP_UNION", c.m, f("MAP", "q", 1)),
        field(c.r, "x"),
        field(y, "z"),
        y,
        f("ROW", c.id, field(c.r, "x")),
        f("MAP", "id", c.id),
        f("IS NULL", c.r),
        f("AND", field(y, "k"), f(">", f("ITEM", c.m, "a"), 0)),
    ]
    assert str(made[9].type) == "ROW<`EXPR$0` INT, `EXPR$1` INT> NOT NULL"
    assert str(made[10].type) == "MAP<CHAR(2) NOT NULL, INT> NOT NULL"
    check(evaluate, "maps_and_rows", c, made)


def test_nested_constructors(evaluate: Evaluator) -> None:
    c = Columns(id="INT", a="INT", s="STRING")
    array = f("ARRAY", f("ROW", c.id, c.s), f("ROW", c.a, "k"))
    deep = f("ITEM", f("ITEM", f("MAP", "x", f("ARRAY", c.a, c.id), "y", f("ARRAY", 0)), "x"), 1)
    renamed = cast(f("ROW", c.a, c.s), "ROW<`p` BIGINT, `q` STRING>")
    made = [array, deep, field(renamed, "p"), f("CARDINALITY", f("MAP", c.s, c.a))]
    assert str(array.type) == "ARRAY<ROW<`EXPR$0` INT, `EXPR$1` STRING> NOT NULL> NOT NULL"
    check(evaluate, "nested_constructors", c, made)


def test_json_functions(evaluate: Evaluator) -> None:
    c = Columns(id="INT", doc="STRING")

    def value(
        path: str, *, empty: tuple[str, object] = ("NULL", None), to: str = "STRING", error: object = None
    ) -> Expression:
        on_error = "NULL" if error is None else "DEFAULT"
        return f("JSON_VALUE", c.doc, path, empty[0], empty[1], on_error, error, to=to)  # type: ignore[arg-type]

    made = [
        value("$.a"),
        value("lax $.b.d[0]", to="INT", error=-1),
        value("$.b.c", empty=("DEFAULT", "none")),
        value("$.b.d[1]"),
        f("JSON_QUERY", c.doc, "$.b", "WITHOUT", "NULL", "NULL"),
        f("JSON_QUERY", c.doc, "$.b.d[*]", "CONDITIONAL", "NULL", "NULL"),
        f("JSON_QUERY", c.doc, "$.a", "UNCONDITIONAL", "NULL", "NULL"),
        f("JSON_EXISTS", c.doc, "$.b.c", "FALSE"),
        f("IS JSON", c.doc, "VALUE"),
        f("IS JSON", c.doc, "OBJECT"),
        f("IS JSON", c.doc, "ARRAY"),
        f("JSON_OBJECT", "NULL", "id", c.id, "d", c.doc),
        f("JSON_OBJECT", "ABSENT", "id", c.id, "d", value("$.a")),
        f("JSON_ARRAY", "ABSENT", c.id, "x", c.doc),
        f("JSON_STRING", c.doc),
    ]
    check(evaluate, "json_functions", c, made)
