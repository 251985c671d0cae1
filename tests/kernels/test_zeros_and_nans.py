"""Zeros and NaNs in kernels: one key, one value of DISTINCT, the first of two extremes, comparisons as SQL has them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
import pytest

from execnodes.aggregates import resolve
from execnodes.core.expressions import AggregateCall, Call, InputRef
from execnodes.core.types import BIGINT, BOOLEAN, DOUBLE, FLOAT, STRING, Field, LogicalType, array, parse_type, row
from execnodes.kernels import polars_predicates, row_predicates
from execnodes.kernels.unsigned_zeros import drop_zero_signs
from execnodes.lowering.slots import encode, encode_key
from execnodes.state.kernel_types import Column
from execnodes.stream.group_aggregate.v1_kernel import GroupAggregateOperator
from execnodes.stream.over_aggregate.v1_frames import Frame
from execnodes.stream.over_aggregate.v1_functions import OverFunctions
from execnodes.stream.over_aggregate.v1_kernel import OverByArrival, OverShape
from tests.kernels.fake_state import FakeContext, rows_of, run

NAN = math.nan
Number = float | None


@pytest.mark.parametrize(
    ("t", "value", "expected"),
    [
        ("DOUBLE", -0.0, "0.0"),
        ("FLOAT", -0.0, "0.0"),
        ("DOUBLE", -0.5, "-0.5"),
        ("DOUBLE", NAN, "nan"),
        ("ROW<a DOUBLE, b STRING>", '{"0":-0.0,"1":"\\",-0.0,"}', '{"0":0.0,"1":"\\",-0.0,"}'),
        ("ARRAY<FLOAT>", "[-0.0,-0.05,null,-0.0]", "[0.0,-0.05,null,0.0]"),
        ("MAP<STRING, DOUBLE>", '[{"k":"-0.0","v":-0.0}]', '[{"k":"-0.0","v":0.0}]'),
        ("ARRAY<STRING>", '["x",-0.0]', '["x",-0.0]'),
    ],
)
def test_signs_of_zeros_are_dropped_outside_of_texts(t: str, value: object, expected: str) -> None:
    found = pl.DataFrame({"x": [value]}).select(drop_zero_signs(parse_type(t), pl.col("x"))).item()
    assert str(found) == expected


def test_keys_are_encoded_with_unsigned_zeros_only_where_they_are_nested() -> None:
    nested = row(Field("a", array(DOUBLE)), Field("b", STRING))
    assert encode_key(nested, "c0").count("+ 0.0D") == 1
    assert encode_key(DOUBLE, "c0") == encode(DOUBLE, "c0") == "c0"
    assert encode_key(array(STRING), "c0") == encode(array(STRING), "c0")


def _operator(function: str, t: LogicalType, *, distinct: bool, retract: bool) -> GroupAggregateOperator:
    internal, result = resolve(function, (t,))
    call = AggregateCall(name="r", internal_name=internal, arg_list=(0,), type=result, distinct=distinct)
    return GroupAggregateOperator(
        uid="1_group-aggregate", input_type=row(Field("v", t)), output_type=row(Field("r", result)), grouping=(),
        calls=(call,), retract=retract, update_before=True, ttl_ms=0,
    )  # fmt: skip


@pytest.mark.parametrize("retract", [False, True])
@pytest.mark.parametrize("cuts", [1, 2])
@pytest.mark.parametrize(
    ("function", "t", "values", "expected"),
    [
        ("MIN", DOUBLE, [0.0, -0.0], "0.0"),
        ("MAX", DOUBLE, [0.0, -0.0], "0.0"),
        ("MIN", FLOAT, [-0.0, 0.0], "-0.0"),
        ("MAX", FLOAT, [-0.0, 0.0], "-0.0"),
        ("MAX", DOUBLE, [NAN, 1.0], "nan"),
        ("MAX", DOUBLE, [1.0, NAN], "nan"),
        ("MIN", DOUBLE, [NAN, 1.0], "1.0"),
        ("MIN", DOUBLE, [NAN, NAN], "nan"),
        ("COUNT DISTINCT", DOUBLE, [-0.0, 0.0, NAN, NAN], "2"),
        ("COUNT DISTINCT", array(DOUBLE), ["[-0.0]", "[0.0]", "[null]"], "2"),
        ("COLLECT", DOUBLE, [-0.0, 0.0], '[{"k":0.0,"v":2}]'),
        ("COLLECT", array(DOUBLE), ["[-0.0]", "[0.0]"], '[{"k":[0.0],"v":2}]'),
        ("ARRAY_AGG DISTINCT", DOUBLE, [-0.0, 0.0], "[0.0]"),
    ],
)
def test_zeros_and_nans_are_aggregated_alike_however_they_come(
    function: str, t: LogicalType, values: list[object], expected: str, cuts: int, retract: bool
) -> None:
    name, _, distinct = function.partition(" ")
    made = _operator(name, t, distinct=bool(distinct), retract=retract)
    context, result = FakeContext(made), None
    for part in [values] if cuts == 1 else [values[:1], values[1:]]:
        changes = run(made, context, rows_of(made, 0, [(value,) for value in part]))
        result = changes["r"].to_list()[-1] if len(changes) else result
    assert str(result) == expected


@pytest.mark.parametrize("cuts", [1, 2, 4])
@pytest.mark.parametrize(("preceding", "expected"), [(None, [1, 1, 2, 2]), (1, [1, 1, 2, 2])])
@pytest.mark.parametrize(
    ("t", "values"),
    [(array(DOUBLE), ["[-0.0]", "[0.0]", "[1.0]", "[-0.0]"]), (DOUBLE, [0.0, -0.0, NAN, 0.0])],
)
def test_distinct_values_of_frames_have_one_zero(
    t: LogicalType, values: list[object], preceding: int | None, expected: list[int], cuts: int
) -> None:
    columns = (Column("k", STRING), Column("v", t))
    call = AggregateCall(name="n", internal_name="$COUNT$1", arg_list=(1,), distinct=True, type=BIGINT.not_null())
    functions = OverFunctions(columns, (call,), (), Frame(True, preceding))
    output = (*columns, Column("n", call.type))
    operator = OverByArrival(OverShape("3_over-aggregate", output, (0,), functions, 0), kept_ms=10**6)
    context, found = FakeContext(operator), list[object]()
    step = len(values) // cuts
    for start in range(0, len(values), step):
        rows = rows_of(operator, 0, [("a", value) for value in values[start : start + step]], keys=(0,))
        found += run(operator, context, rows)["n"].to_list()
        context.now += 1
    assert found == expected


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("=", [(0.0, -0.0, True), (NAN, NAN, False), (NAN, 1.0, False), (None, NAN, None)]),
        ("<>", [(0.0, -0.0, False), (NAN, NAN, True), (NAN, 1.0, True), (NAN, None, None)]),
        ("<", [(-0.0, 0.0, False), (1.0, NAN, False), (NAN, 1.0, False)]),
        (">=", [(-0.0, 0.0, True), (NAN, NAN, False), (NAN, 1.0, False)]),
        ("IS DISTINCT FROM", [(0.0, -0.0, False), (NAN, NAN, False), (NAN, 1.0, True), (NAN, None, True)]),
        ("IS NOT DISTINCT FROM", [(0.0, -0.0, True), (NAN, NAN, True), (NAN, None, False)]),
    ],
)
def test_numbers_are_compared_as_sql_has_it(name: str, pairs: Sequence[tuple[Number, Number, object]]) -> None:
    operands = (InputRef(input_index=0, type=DOUBLE), InputRef(input_index=1, type=DOUBLE))
    comparison = Call(internal_name=f"${name}$1", operands=operands, type=BOOLEAN)
    frame = pl.DataFrame([pair[:2] for pair in pairs], schema={"a": pl.Float64, "b": pl.Float64}, orient="row")
    expected = [pair[2] for pair in pairs]
    assert frame.select(polars_predicates.compile(comparison, ["a", "b"]).alias("x"))["x"].to_list() == expected
    evaluate = row_predicates.compile(comparison, [lambda pair: pair[0], lambda pair: pair[1]])
    assert [evaluate(pair) for pair in frame.rows()] == expected
