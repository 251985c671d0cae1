"""Constants at compile time agree with the arithmetic of the engine."""

from __future__ import annotations

from datetime import time
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.expressions import InputRef, Literal
from execnodes.core.types import INT, decimal, parse_type
from execnodes.functions import evaluate_constant, resolve
from execnodes.functions.patterns import similar_to_regex
from execnodes.lowering.spark_sql import millis_of_day, spark_type, text_literal

INTS = st.integers(-(2**31), 2**31 - 1)


def number(value: int) -> Literal:
    return Literal(value=value, type=INT.not_null())


@given(INTS, INTS)
def test_int_arithmetic_wraps(a: int, b: int) -> None:
    for name, exact in (("+", a + b), ("-", a - b), ("*", a * b)):
        folded = evaluate_constant(resolve(name, [number(a), number(b)]))
        assert folded is not None
        assert isinstance(folded.value, int)
        assert -(2**31) <= folded.value < 2**31
        assert (folded.value - exact) % 2**32 == 0


@given(INTS, INTS)
def test_int_division_is_cut_toward_zero(a: int, b: int) -> None:
    folded = evaluate_constant(resolve("/", [number(a), number(b)]))
    if b == 0:
        assert folded is None
    elif (a, b) != (-(2**31), -1):
        assert folded is not None
        assert folded.value == int((Decimal(a) / Decimal(b)).to_integral_value(ROUND_DOWN))


@given(st.decimals(-(10**6), 10**6, places=4), st.integers(0, 6))
def test_decimal_casts_round_half_up(value: Decimal, scale: int) -> None:
    given_literal = Literal(value=str(value), type=decimal(12, 4).not_null())
    folded = evaluate_constant(resolve("CAST", [given_literal], result=decimal(20, scale)))
    assert folded is not None
    assert Decimal(str(folded.value)) == value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        (" 12 ", "INT", 12),
        ("12.7", "INT", None),
        ("x", "INT", None),
        ("abc", "CHAR(5)", "abc  "),
        ("abc", "VARCHAR(2)", "ab"),
    ],
)
def test_casts_of_texts(text: str, target: str, value: int | str | None) -> None:
    given_literal = Literal(value=text, type=parse_type(f"CHAR({len(text)}) NOT NULL"))
    folded = evaluate_constant(resolve("CAST", [given_literal], result=parse_type(target)))
    assert (None if folded is None else folded.value) == value


def test_typed_null() -> None:
    folded = evaluate_constant(
        resolve("CAST", [Literal(value=None, type=parse_type("NULL"))], result=parse_type("BIGINT"))
    )
    assert folded == Literal(value=None, type=parse_type("BIGINT"))


def test_columns_are_not_constant() -> None:
    assert evaluate_constant(resolve("+", [InputRef(input_index=0, type=INT), number(1)])) is None


def test_overflowing_decimal_is_null() -> None:
    big = Literal(value="12345.6", type=decimal(6, 1).not_null())
    folded = evaluate_constant(resolve("CAST", [big], result=decimal(4, 1)))
    assert folded == Literal(value=None, type=decimal(4, 1))


@pytest.mark.parametrize(
    ("pattern", "regex"),
    [
        ("a%_", "(?s)\\A(?:a.*.)\\z"),
        ("a(b|p)+.*", "(?s)\\A(?:a(b|p)+.*)\\z"),
        ("[a-z%]$", "(?s)\\A(?:[a-z%]\\$)\\z"),
    ],
)
def test_similar_to(pattern: str, regex: str) -> None:
    assert similar_to_regex(pattern) == regex


def test_similar_to_escape() -> None:
    assert similar_to_regex("50!%", "!") == "(?s)\\A(?:50%)\\z"


@given(st.text())
def test_text_literals_hold_no_quote_or_dollar(text: str) -> None:
    inner = text_literal(text)[1:-1].replace("\\\\", "").replace("\\'", "")
    assert "'" not in inner
    assert "$" not in inner


def test_spark_types() -> None:
    t = parse_type("ROW<`a b` ARRAY<DECIMAL(6, 2)>, `m` MULTISET<STRING>, `t` TIME(3), `l` TIMESTAMP_LTZ(3)>")
    wanted = "STRUCT<`a b`: ARRAY<DECIMAL(6, 2)>, `m`: MAP<STRING, INT>, `t`: INT, `l`: TIMESTAMP>"
    assert spark_type(t) == wanted
    assert millis_of_day(time(1, 2, 3, 500000)) == 3723500
