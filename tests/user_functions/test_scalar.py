"""Scalar functions: definitions, calls in SQL, and columns of values, all without Spark."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from execnodes.core.errors import FunctionError, JobError, RekindleError, SqlError
from execnodes.core.expressions import Call, Expression, InputRef
from execnodes.core.types import LogicalType, Root, parse_type
from execnodes.user_functions.calls import bind
from execnodes.user_functions.loading import definition_of, load
from execnodes.user_functions.scalar import ScalarDefinition, ScalarFunction, udf
from rekindle.pipeline.functions import scalar_call
from tests.user_functions import examples


def scalar(function: Any) -> ScalarDefinition:
    found = definition_of(function, "f")
    assert isinstance(found, ScalarDefinition)
    return found


def columns(*types: str) -> tuple[Expression, ...]:
    return tuple(InputRef(input_index=at, type=parse_type(t)) for at, t in enumerate(types))


@pytest.mark.parametrize(
    ("function", "operands", "expected"),
    [
        (examples.shout, ["STRING"], ("STRING", ["STRING"])),
        (examples.shout, ["CHAR(3) NOT NULL"], ("STRING", ["STRING NOT NULL"])),
        (examples.bare, ["SMALLINT"], ("BIGINT", ["BIGINT"])),
        (examples.plus, ["INT", "DOUBLE"], ("BIGINT", ["INT", "DOUBLE"])),
        (udf(lambda a, b=1: a, result_type="INT"), ["DATE"], ("INT", ["DATE"])),
        (udf(lambda *all: 1, result_type="INT"), ["DATE", "INT", "INT"], ("INT", ["DATE", "INT", "INT"])),
        (udf(lambda a: a, input_types="DOUBLE", result_type="DOUBLE"), ["INT"], ("DOUBLE", ["DOUBLE"])),
    ],
)
def test_operands_become_what_the_function_takes(
    function: Any, operands: Sequence[str], expected: tuple[str, list[str]]
) -> None:
    call = bind(scalar(function), columns(*operands), None, system_name="f")
    assert (str(call.type), [str(each.type) for each in call.operands]) == expected


@pytest.mark.parametrize(
    ("function", "operands", "message"),
    [
        (examples.shout, ["INT"], r"f does not take \(INT\)"),
        (examples.shout, [], r"f does not take \(\)"),
        (examples.shout, ["STRING", "STRING"], "does not take"),
        (examples.bare, ["DECIMAL(10, 2)"], "does not take"),
    ],
)
def test_operands_that_do_not_fit(function: Any, operands: Sequence[str], message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        bind(scalar(function), columns(*operands), None, system_name="f")
    assert caught.value.hint is not None
    assert "It takes f(" in caught.value.hint


class NoEval(ScalarFunction):
    pass


def _by_name(a: int, *, b: int) -> int:
    return a + b


def _unclear(a: Decimal) -> Decimal:
    return a


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (examples.untyped, "the type of its result is not known"),
        (NoEval, "has no method eval"),
        (_by_name, "parameter b can only be given by name"),
        (_unclear, "Decimal does not tell an SQL type"),
        (7, "7 is no function"),
    ],
)
def test_a_function_that_says_too_little(given: Any, message: str) -> None:
    with pytest.raises(FunctionError, match=message) as caught:
        definition_of(given, "f")
    assert "function f" in caught.value.message


@pytest.mark.parametrize("func_type", ["arrow", ""])
def test_forms_there_are(func_type: Any) -> None:
    with pytest.raises(FunctionError, match="func_type of bare"):
        udf(examples.bare, func_type=func_type)


def test_functions_by_class_name() -> None:
    module = examples.__name__
    assert str(load(f"{module}:Divide", "d")) == "d(by BIGINT) → BIGINT"
    assert str(load(f"{module}.shout", "s")) == "s(text STRING) → STRING"
    for class_name, message in (
        ("tests.user_functions.nowhere_at_all:f", "cannot be imported"),
        ("nowhere_at_all:f", "is not allowed to be imported"),
        (f"{module}:missing", "has no 'missing'"),
        ("f", "names no Python function"),
        (f"{module}:datetime", "is no function"),
    ):
        with pytest.raises(RekindleError, match=message):
            load(class_name, "f")


def test_what_udf_gives_is_still_a_function() -> None:
    assert examples.shout("a") == "A!"
    assert vars(examples.shout)["__name__"] == "shout"


def run(
    function: Any, types: Sequence[str], *values: Sequence[Any], active: Sequence[bool | None] | None = None
) -> Any:
    """The function over columns, as Spark calls it."""
    call = bind(scalar(function), columns(*types), None, system_name="f")
    arrays = [pa.array(each, _arrow(t)) for each, t in zip(values, types, strict=True)]
    mask = pa.array([True] * len(arrays[0]) if active is None else active, pa.bool_())
    return scalar_call(scalar(function), call, _arrow(str(call.type)))(mask, *arrays).to_pylist()


def _arrow(text: str) -> pa.DataType:
    t: LogicalType = parse_type(text).with_nullable(True)
    simple = {"BIGINT": pa.int64(), "STRING": pa.string(), "DATE": pa.date32(), "TIME(3)": pa.int32()}
    if str(t) in simple:
        return simple[str(t)]
    if t.root is Root.DECIMAL:
        return pa.decimal128(t.precision, t.scale)
    if t.root is Root.MAP:
        return pa.map_(_arrow(str(t.key)), _arrow(str(t.element)))
    if t.root is Root.INTERVAL_DAY_TIME:
        return pa.int64()
    return pa.struct([(field.name, _arrow(str(field.type))) for field in t.fields])


POINT = "ROW<`x` BIGINT, `label` STRING>"


@pytest.mark.parametrize(
    ("function", "types", "values", "expected"),
    [
        (examples.shout, ["STRING"], [["a", None]], ["A!", None]),
        (examples.or_else, ["STRING", "STRING"], [["a", None, None], ["x", "y", None]], ["a", "y", None]),
        (examples.plus, ["BIGINT", "BIGINT"], [[1, None], [2, 3]], [3, None]),
        (examples.a_day_later, ["DATE"], [[datetime.date(2020, 2, 28)]], [datetime.date(2020, 2, 29)]),
        (examples.point, ["BIGINT", "STRING"], [[1], [None]], [{"x": 1, "label": None}]),
        (examples.shifted, [POINT, "BIGINT"], [[{"x": 1, "label": "p"}], [4]], [{"x": 5, "label": "p"}]),
        (examples.Divide, ["BIGINT"], [[3, 10]], [333, 100]),
        (
            udf(lambda t: t.replace(hour=1), result_type="TIME(3)"),
            ["TIME(3)"],
            [[3 * 3_600_000 + 5]],
            [3_600_000 + 5],
        ),
        (udf(lambda m: {k: v * 2 for k, v in m.items()}, result_type="MAP<STRING, BIGINT>"), ["MAP<STRING, BIGINT>"],
         [[[("a", 1)]]], [[("a", 2)]]),
        (udf(lambda d: d / 3, result_type="DECIMAL(9, 2)"), ["DECIMAL(9, 2)"], [[Decimal("1.00")]], [Decimal("0.33")]),
        (udf(lambda d: d * 2, result_type="INTERVAL SECOND"), ["INTERVAL SECOND"], [[1500]], [3000]),
    ],
)  # fmt: skip
def test_columns(function: Any, types: Sequence[str], values: Sequence[Sequence[Any]], expected: list[Any]) -> None:
    assert run(function, types, *values) == expected


def test_rows_that_are_not_active_never_reach_the_function() -> None:
    assert run(examples.Divide, ["BIGINT"], [0, 10, 0], active=[False, True, None]) == [None, 100, None]
    assert run(examples.plus, ["BIGINT", "BIGINT"], [1, 2], [1, 2], active=[False, True]) == [None, 4]
    assert run(examples.Divide, ["BIGINT"], [0], active=[False]) == [None]


@pytest.mark.parametrize(
    ("function", "types", "values", "message"),
    [
        (examples.Divide, ["BIGINT"], [[1, 0]], r"function f failed for \(0\): ZeroDivisionError"),
        (udf(lambda a: "x", result_type="BIGINT"), ["BIGINT"], [[1]], r"function f returned 'x' \(str\) for \(1\)"),
        (udf(lambda a: None, result_type="BIGINT NOT NULL"), ["BIGINT"], [[1]], "returned None"),
        (udf(lambda a: a[:1], result_type="BIGINT", func_type="pandas"), ["BIGINT"], [[1, 2]], "1 value for 2 rows"),
        (udf(lambda a: 5, result_type="BIGINT", func_type="pandas"), ["BIGINT"], [[1, 2]], "a int for 2 rows"),
        (udf(lambda a: 1 / 0, result_type="BIGINT", func_type="pandas"), ["BIGINT"], [[1]], "f failed: ZeroDivision"),
        (udf(lambda a: {"y": 1}, result_type="ROW<x BIGINT>"), ["BIGINT"], [[1]], "no field y"),
        (udf(lambda d: d * 1000, result_type="DECIMAL(4, 2)"), ["DECIMAL(4, 2)"], [[Decimal(1)]], "too many digits"),
    ],
)
def test_failures_name_the_function_and_the_row(
    function: Any, types: Sequence[str], values: Sequence[Sequence[Any]], message: str
) -> None:
    with pytest.raises(JobError, match=message):
        run(function, types, *values)


def test_a_call_is_named_once_and_by_one_key() -> None:
    with pytest.raises(ValueError, match="one of internalName"):
        Call(type=parse_type("INT"))
    with pytest.raises(ValueError, match="one of internalName"):
        Call(internal_name="$UPPER$1", system_name="f", type=parse_type("INT"))
