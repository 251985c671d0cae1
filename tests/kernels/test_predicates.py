"""Predicates in kernels: three-valued logic, decimals, casts, literals; and what is refused when compiling."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.errors import PlanError
from execnodes.core.expressions import Call, Expression, InputRef, Literal, Value
from execnodes.core.predicates import supported
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL_DAY_TIME,
    STRING,
    TINYINT,
    LogicalType,
    array,
    decimal,
    time,
    timestamp,
    timestamp_ltz,
)
from execnodes.kernels.polars_predicates import compile
from execnodes.state.kernel_types import kernel_dtype


def lit(value: Value, t: LogicalType) -> Literal:
    return Literal(value=value, type=t)


def call(name: str, t: LogicalType, *operands: Expression) -> Call:
    return Call(internal_name=f"${name}$1", operands=operands, type=t)


def value(expression: Expression, *inputs: tuple[object, LogicalType]) -> object:
    """The value of an expression over one row."""
    columns = {f"c{i}": pl.Series([each], dtype=kernel_dtype(t)) for i, (each, t) in enumerate(inputs)}
    frame = pl.DataFrame(columns or {"none": [0]})
    return frame.select(compile(expression, list(columns)).alias("x"))["x"][0]


TRUTH = (True, False, None)
TESTS = {
    "NOT": (False, True, None),
    "IS NULL": (False, False, True),
    "IS NOT NULL": (True, True, False),
    "IS TRUE": (True, False, False),
    "IS NOT TRUE": (False, True, True),
    "IS FALSE": (False, True, False),
    "IS NOT FALSE": (True, False, True),
}


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("at", range(3))
def test_tests_of_truth(name: str, at: int) -> None:
    assert value(call(name, BOOLEAN, InputRef(input_index=0, type=BOOLEAN)), (TRUTH[at], BOOLEAN)) is TESTS[name][at]


@pytest.mark.parametrize("a", TRUTH)
@pytest.mark.parametrize("b", TRUTH)
def test_three_valued_and_or(a: bool | None, b: bool | None) -> None:
    refs = tuple(InputRef(input_index=i, type=BOOLEAN) for i in range(2))
    both = False if False in (a, b) else None if None in (a, b) else True
    either = True if True in (a, b) else None if None in (a, b) else False
    assert value(call("AND", BOOLEAN, *refs), (a, BOOLEAN), (b, BOOLEAN)) is both
    assert value(call("OR", BOOLEAN, *refs), (a, BOOLEAN), (b, BOOLEAN)) is either


@pytest.mark.parametrize(
    ("name", "expected"),
    [("=", None), ("<", None), ("IS DISTINCT FROM", True), ("IS NOT DISTINCT FROM", False)],
)
def test_null_in_comparisons(name: str, expected: bool | None) -> None:
    refs = tuple(InputRef(input_index=i, type=INT) for i in range(2))
    assert value(call(name, BOOLEAN, *refs), (None, INT), (1, INT)) is expected
    assert value(call(name, BOOLEAN, *refs), (None, INT), (None, INT)) is (None if expected is None else not expected)


numbers = st.integers(-10_000, 10_000)


@settings(max_examples=60, deadline=None)
@given(a=numbers, b=numbers, s=st.integers(0, 4), t=st.integers(0, 4))
def test_decimals_compare_and_compute_by_value(a: int, b: int, s: int, t: int) -> None:
    left, right = decimal(10, s), decimal(25, t)
    x, y = Decimal(a).scaleb(-s), Decimal(b).scaleb(-t)
    inputs = ((a, left), (b, right))
    refs = (InputRef(input_index=0, type=left), InputRef(input_index=1, type=right))
    assert value(call("<", BOOLEAN, *refs), *inputs) is (x < y)
    assert value(call("=", BOOLEAN, *refs), *inputs) is (x == y)
    sum_type, product_type = decimal(38, max(s, t)), decimal(38, s + t)
    assert value(call("+", sum_type, *refs), *inputs) == int((x + y).scaleb(max(s, t)))
    assert value(call("-", sum_type, *refs), *inputs) == int((x - y).scaleb(max(s, t)))
    assert value(call("*", product_type, *refs), *inputs) == int((x * y).scaleb(s + t))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (call("+", TINYINT, lit(127, TINYINT), lit(1, TINYINT)), -128),
        (call("-", INT, lit(-(2**31), INT), lit(1, INT)), 2**31 - 1),
        (call("*", BIGINT, lit(3, BIGINT), lit(-4, BIGINT)), -12),
        (call("+", DOUBLE, lit("1.5", DOUBLE), lit(2, INT)), 3.5),
        (call("CAST", TINYINT, lit(1000, INT)), -24),
        (call("CAST", DOUBLE, lit("12.50", decimal(6, 2))), 12.5),
        (call("CAST", decimal(6, 2), lit(7, INT)), 700),
        (call("CAST", decimal(3, 1), lit(100, INT)), None),
        (call("COALESCE", BIGINT, lit(None, INT), lit(5, INT)), 5),
        (call("LIKE", BOOLEAN, lit("a.c\nd", STRING), lit("a.%d", STRING)), True),
        (call("LIKE", BOOLEAN, lit("abc", STRING), lit("a.c", STRING)), False),
        (call("LIKE", BOOLEAN, lit("😀b", STRING), lit("_b", STRING)), True),
        (call("LIKE", BOOLEAN, lit("b\n", STRING), lit("b", STRING)), False),
        (lit("1969-12-31", DATE), -1),
        (lit("2024-02-29", DATE), 19782),
        (lit("01:02:03.5", time(3)), 3_723_500),
        (lit("1970-01-01 00:00:01.000001", timestamp(6)), 1_000_001),
        (lit("1969-12-31 23:59:59.5", timestamp_ltz(3)), -500_000),
        (lit("-12345678901234567890123456789012345678", decimal(38, 0)), -12345678901234567890123456789012345678),
        (lit("1.5", decimal(5, 3)), 1500),
        (lit(None, INT), None),
        (call("-", timestamp(3), lit("1970-01-01 00:00:10", timestamp(3)), lit(4000, INTERVAL_DAY_TIME)), 6_000_000),
    ],
)
def test_values(expression: Expression, expected: object) -> None:
    assert supported(expression)
    assert value(expression) == expected


REFUSED = (
    call("UPPER", STRING, lit("a", STRING)),
    Call(internal_name="$=$3", operands=(lit(1, INT), lit(1, INT)), type=BOOLEAN),
    call("=", BOOLEAN, lit(1, INT), lit("1", STRING)),
    call("<", BOOLEAN, InputRef(input_index=0, type=array(INT)), InputRef(input_index=1, type=array(INT))),
    call("=", BOOLEAN, lit("1", decimal(38, 0)), lit("1", decimal(38, 10))),
    call("*", decimal(38, 6), lit("1", decimal(38, 18)), lit("1", decimal(38, 18))),
    call("CAST", INT, lit("1", STRING)),
    call("LIKE", BOOLEAN, lit("a", STRING), InputRef(input_index=0, type=STRING)),
    call("AND", BOOLEAN, lit(True, BOOLEAN), call("UPPER", STRING, lit("a", STRING))),
)


@pytest.mark.parametrize("expression", REFUSED)
def test_what_cannot_be_evaluated_is_refused(expression: Expression) -> None:
    assert not supported(expression)
    with pytest.raises(PlanError, match=r"(?s)cannot be evaluated.*subquery"):
        compile(expression, ["a", "b"])


def test_asking_needs_no_polars() -> None:
    code = "import sys, execnodes.core.predicates; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
def test_comparisons_of_both_versions_are_one(name: str) -> None:
    """A plan of 2.1 that names no version means the second one, which only differs for maps."""
    first = call(name, BOOLEAN, InputRef(input_index=0, type=INT), lit(1, INT))
    second = first.model_copy(update={"internal_name": f"${name}$2"})
    assert supported(second)
    assert [value(second, (each, INT)) for each in (1, 2, None)] == [value(first, (each, INT)) for each in (1, 2, None)]
    assert not supported(first.model_copy(update={"internal_name": f"${name}$3"}))
