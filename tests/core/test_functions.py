"""Names, versions, types and refusals of scalar functions; no Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execnodes.core.errors import PlanError, Position, SqlError
from execnodes.core.expressions import Call, Expression, FieldAccess, InputRef, Literal
from execnodes.core.types import INT, NULL, TimeKind, parse_type, timestamp
from execnodes.functions import (
    can_cast_implicitly,
    cast,
    common_type,
    is_deterministic,
    lower,
    registry,
    resolve,
)

AT = Position(2, 7)


def columns(*types: str) -> list[Expression]:
    return [InputRef(input_index=i, type=parse_type(t)) for i, t in enumerate(types)]


def literal(value: int | str | None, of: str) -> Literal:
    return Literal(value=value, type=parse_type(of))


@pytest.mark.parametrize(
    ("name", "types", "result"),
    [
        ("+", ["TINYINT", "SMALLINT"], "SMALLINT"),
        ("+", ["BIGINT NOT NULL", "INT NOT NULL"], "BIGINT NOT NULL"),
        ("+", ["DECIMAL(10, 2)", "DECIMAL(8, 4)"], "DECIMAL(13, 4)"),
        ("*", ["DECIMAL(38, 18)", "DECIMAL(38, 18)"], "DECIMAL(38, 6)"),
        ("/", ["DECIMAL(38, 18)", "DECIMAL(10, 2)"], "DECIMAL(38, 16)"),
        ("-", ["DECIMAL(10, 2)", "DOUBLE"], "DOUBLE"),
        ("%", ["BIGINT", "INT"], "INT"),
        ("MOD", ["DECIMAL(10, 2)", "DECIMAL(8, 4)"], "DECIMAL(8, 4)"),
        ("+", ["TIMESTAMP(3) *ROWTIME*", "INTERVAL SECOND NOT NULL"], "TIMESTAMP(3)"),
        ("+", ["INTERVAL MONTH", "DATE"], "DATE"),
        ("*", ["INT", "INTERVAL SECOND"], "INTERVAL SECOND"),
        ("<", ["DATE", "STRING"], "BOOLEAN"),
        ("=", ["CHAR(3) NOT NULL", "STRING NOT NULL"], "BOOLEAN NOT NULL"),
        ("IS NULL", ["ARRAY<INT>"], "BOOLEAN NOT NULL"),
        ("IS DISTINCT FROM", ["INT", "BIGINT"], "BOOLEAN NOT NULL"),
        ("COALESCE", ["INT", "BIGINT NOT NULL"], "BIGINT NOT NULL"),
        ("CASE", ["BOOLEAN", "CHAR(3) NOT NULL", "CHAR(5) NOT NULL"], "VARCHAR(5) NOT NULL"),
        ("IF", ["BOOLEAN", "CHAR(3) NOT NULL", "CHAR(5) NOT NULL"], "VARCHAR(5)"),
        ("NULLIF", ["INT NOT NULL", "BIGINT"], "INT"),
        ("GREATEST", ["INT NOT NULL", "DECIMAL(3, 1) NOT NULL"], "DECIMAL(11, 1) NOT NULL"),
        ("UPPER", ["CHAR(1) NOT NULL"], "CHAR(1) NOT NULL"),
        ("SUBSTRING", ["CHAR(4) NOT NULL", "INT NOT NULL"], "VARCHAR(4)"),
        ("TRIM", ["CHAR(4) NOT NULL"], None),
        ("||", ["CHAR(2)", "CHAR(3)"], "CHAR(5)"),
        ("||", ["VARCHAR(2)", "STRING"], "STRING"),
        ("CONCAT", ["CHAR(2) NOT NULL"], "STRING NOT NULL"),
        ("MD5", ["STRING"], "CHAR(32)"),
        ("CEIL", ["DECIMAL(10, 2)"], "DECIMAL(10, 0)"),
        ("ROUND", ["DECIMAL(8, 4)"], "DECIMAL(5, 0)"),
        ("TO_TIMESTAMP", ["STRING NOT NULL"], "TIMESTAMP(3)"),
        ("YEAR", ["DATE NOT NULL"], "BIGINT NOT NULL"),
        ("ITEM", ["ARRAY<INT NOT NULL> NOT NULL", "INT"], "INT"),
        ("ITEM", ["MAP<STRING, BIGINT>", "CHAR(1)"], "BIGINT"),
        ("MAP_KEYS", ["MAP<STRING NOT NULL, INT> NOT NULL"], "ARRAY<STRING NOT NULL> NOT NULL"),
        ("ARRAY", ["INT NOT NULL", "BIGINT"], "ARRAY<BIGINT> NOT NULL"),
        ("PROCTIME", [], "TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*"),
        ("PI", [], "DOUBLE NOT NULL"),
        ("CURRENT_WATERMARK", ["TIMESTAMP(3) *ROWTIME*"], "TIMESTAMP(3)"),
    ],
)  # fmt: skip
def test_types(name: str, types: list[str], result: str | None) -> None:
    if result is None:
        with pytest.raises(SqlError):
            resolve(name, columns(*types))
    else:
        assert str(resolve(name, columns(*types)).type) == result


@pytest.mark.parametrize(
    ("name", "types", "says"),
    [
        ("FROBNICATE", ["INT"], "unknown function FROBNICATE"),
        ("UPER", ["STRING"], "Did you mean UPPER?"),
        ("UPPER", ["INT"], r"UPPER does not take \(INT\)\n  It takes UPPER\(TEXT\)"),
        ("SUBSTRING", ["STRING"], r"It takes SUBSTRING\(TEXT, INT, INT\?\)"),
        ("=", ["STRING", "INT"], "= does not take a text and another type: STRING and INT"),
        ("IN", ["INT", "INT", "STRING"], "IN does not take a text"),
        ("||", ["STRING", "INT"], r"\|\| does not take"),
        ("+", ["TIMESTAMP(3)", "INT"], r"\+ does not take \(TIMESTAMP\(3\), INT\)"),
        ("AND", ["BOOLEAN", "INT"], "AND does not take"),
        ("CASE", ["BOOLEAN", "STRING", "INT"], "CASE does not take"),
        ("<", ["MAP<STRING, INT>", "MAP<STRING, INT>"], "< does not take"),
        ("TIMESTAMPDIFF", ["STRING", "DATE", "DATE"], "TIMESTAMPDIFF does not take"),
        ("CURRENT_WATERMARK", ["TIMESTAMP(3)"], "event-time attribute"),
    ],
)
def test_refusals(name: str, types: list[str], says: str) -> None:
    with pytest.raises(SqlError, match=says) as caught:
        resolve(name, columns(*types), position=AT)
    assert caught.value.position == AT


@pytest.mark.parametrize(
    ("name", "operands", "says"),
    [
        ("ITEM", [*columns("ARRAY<INT>"), literal(0, "INT NOT NULL")], "count from 1"),
        ("DATE_FORMAT", [*columns("DATE"), literal("yyyy-B", "CHAR(6) NOT NULL")], "letter 'B'"),
        ("LIKE", [*columns("STRING", "STRING"), literal("ab", "CHAR(2) NOT NULL")], "single character"),
        ("SIMILAR TO", columns("STRING", "STRING"), "must be a constant"),
        ("SIMILAR TO", [*columns("STRING"), literal("[", "CHAR(1) NOT NULL")], "Invalid regular expression"),
        ("NOT SIMILAR TO", [*columns("STRING"), literal("a)|(b", "CHAR(5) NOT NULL")], "Invalid regular expression"),
        ("JSON_VALUE", [*columns("STRING"), literal("$...a", "CHAR(5) NOT NULL")], "the JSON path"),
        ("TO_TIMESTAMP_LTZ", [*columns("BIGINT"), literal(10, "INT NOT NULL")], "0 to 9"),
    ],
)
def test_refused_constants(name: str, operands: list[Expression], says: str) -> None:
    with pytest.raises(SqlError, match=says):
        resolve(name, operands, position=AT)


def test_casts() -> None:
    (number, text) = columns("INT NOT NULL", "STRING")
    assert cast(number, INT, explicit=True) is number
    made = cast(number, parse_type("BIGINT"), explicit=False)
    assert isinstance(made, Call)
    assert (made.internal_name, str(made.type)) == ("$CAST$1", "BIGINT NOT NULL")
    tried = cast(number, parse_type("BIGINT NOT NULL"), explicit=True, may_fail=False)
    assert str(tried.type) == "BIGINT"
    with pytest.raises(SqlError, match="STRING does not become INT by itself"):
        cast(text, INT, explicit=False, position=AT)
    with pytest.raises(SqlError, match="TO_TIMESTAMP_LTZ"):
        cast(number, timestamp(3), explicit=True, position=AT)


def test_a_cast_loses_the_time_attribute() -> None:
    rowtime = InputRef(input_index=0, type=timestamp(3, TimeKind.ROWTIME))
    assert not cast(rowtime, timestamp(3), explicit=True).type.is_time_attribute


@pytest.mark.parametrize(
    ("source", "target", "implicit"),
    [
        ("INT", "BIGINT", True),
        ("INT", "DECIMAL(10, 2)", True),
        ("INT", "DOUBLE", True),
        ("DECIMAL(12, 2)", "DECIMAL(5, 1)", True),
        ("STRING", "VARCHAR(2)", True),
        ("CHAR(3)", "STRING", True),
        ("TIMESTAMP(3)", "TIMESTAMP(0)", True),
        ("ARRAY<INT>", "ARRAY<BIGINT>", True),
        ("ROW<`a` INT>", "ROW<`b` BIGINT>", True),
        ("NULL", "INT", True),
        ("BIGINT", "INT", False),
        ("INT", "STRING", False),
        ("STRING", "INT", False),
        ("STRING", "CHAR(3)", False),
        ("ARRAY<BIGINT>", "ARRAY<INT>", False),
        ("DATE", "TIMESTAMP(3)", False),
    ],
)
def test_implicit_casts(source: str, target: str, implicit: bool) -> None:
    assert can_cast_implicitly(parse_type(source), parse_type(target)) is implicit


@pytest.mark.parametrize(
    ("types", "common"),
    [
        (["INT NOT NULL", "DECIMAL(2, 1) NOT NULL", "BIGINT NOT NULL"], "DECIMAL(20, 1) NOT NULL"),
        (["CHAR(1) NOT NULL", "CHAR(2) NOT NULL"], "VARCHAR(2) NOT NULL"),
        (["CHAR(2) NOT NULL", "CHAR(2)"], "CHAR(2)"),
        (["NULL", "INT NOT NULL"], "INT"),
        (["DATE", "TIMESTAMP(3)"], "TIMESTAMP(3)"),
        (["TIMESTAMP(3) *ROWTIME*", "TIMESTAMP(3) *ROWTIME*"], "TIMESTAMP(3) *ROWTIME*"),
        (["TIMESTAMP(3) *ROWTIME*", "TIMESTAMP(3)"], "TIMESTAMP(3)"),
        (["ARRAY<INT>", "ARRAY<BIGINT>"], "ARRAY<BIGINT>"),
        (["INT", "STRING"], None),
        (["NULL", "NULL"], "NULL"),
    ],
)
def test_common_types(types: list[str], common: str | None) -> None:
    found = common_type(parse_type(t) for t in types)
    assert (None if found is None else str(found)) == common


def test_a_bare_null_takes_the_type_it_needs() -> None:
    nothing = Literal(value=None, type=NULL)
    call = resolve("+", [nothing, *columns("BIGINT")])
    assert isinstance(call, Call)
    assert [str(each.type) for each in call.operands] == ["BIGINT", "BIGINT"]
    assert str(resolve("CASE", [nothing, *columns("INT"), nothing]).type) == "INT"


def test_names_and_versions() -> None:
    known = registry.functions()
    assert all(key == (f.name, f.version) for key, f in known.items())
    assert registry.find("$UPPER") is registry.find("$UPPER$1")
    with pytest.raises(PlanError, match=r"unknown function \$UPPER\$99"):
        registry.find("$UPPER$99")


def test_two_versions_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    first = registry.find("$LOWER$1")
    second = replace(first, version=2, since="1.5", lower=lambda scope, call: "second")
    monkeypatch.setattr(registry, "functions", lambda: {("LOWER", 1): first, ("LOWER", 2): second})
    for cached in (registry.newest, registry.find):
        cached.cache_clear()
    try:
        assert registry.find("$LOWER", "1.0").version == 1
        assert registry.find("$LOWER", "2.0").version == 2
        assert registry.find("$LOWER$1", "2.0").version == 1
    finally:
        for cached in (registry.newest, registry.find):
            cached.cache_clear()


def test_lowering_is_text_over_the_given_columns() -> None:
    a, row = columns("INT", "ROW<`x y` INT>")
    field = FieldAccess(name="x y", expr=row, type=INT)
    call = resolve("+", [a, field])
    assert lower(call, ["t.a + 1", "r"], "UTC") == "((t.a + 1) + r.`x y`)"
    assert lower(literal("it's ${x}\\", "STRING"), [], "UTC") == r"'it\'s \u0024{x}\\'"
    assert lower(literal(-5, "BIGINT"), [], "UTC") == "(-5L)"


def test_deep_nesting_does_not_explode() -> None:
    (text,) = columns("STRING")
    for _ in range(20):
        text = resolve("REGEXP_EXTRACT", [text, literal("(a+)", "CHAR(4) NOT NULL"), literal(1, "INT NOT NULL")])
    assert len(lower(text, ["a"], "UTC")) < 5000


def test_lowering_is_deterministic() -> None:
    (text,) = columns("STRING")
    call = resolve("INITCAP", [resolve("INITCAP", [text])])
    assert lower(call, ["a"], "UTC") == lower(call, ["a"], "UTC")


def test_determinism() -> None:
    assert is_deterministic(resolve("UPPER", columns("STRING")))
    assert not is_deterministic(resolve("IS NULL", [resolve("NOW", [])]))
