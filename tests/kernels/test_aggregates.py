"""Aggregate functions: result types as Flink's, what they refuse, their accumulators, every type through a kernel."""

from __future__ import annotations

import polars as pl
import pytest

from execnodes.aggregates import (
    FUNCTIONS,
    PERCENTAGE,
    accumulator_columns,
    is_aggregate,
    mergeable,
    order_dependent,
    problem,
    resolve,
)
from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import (
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    Field,
    LogicalType,
    array,
    decimal,
    parse_type,
    row,
    time,
    timestamp,
)
from execnodes.kernels.aggregates.json_text import json_text
from execnodes.kernels.aggregates.make import make
from execnodes.lowering.stream import HASH, KIND
from execnodes.state.kernel_types import kernel_dtype
from execnodes.stream.group_aggregate.v1_kernel import GroupAggregateOperator
from tests.kernels.fake_state import FakeContext, rows_of, run


@pytest.mark.parametrize(
    ("name", "arg", "expected"),
    [
        ("count", "STRING", "$COUNT$1 BIGINT NOT NULL"),
        ("SUM", "INT", "$SUM$1 INT"),
        ("SUM", "TINYINT NOT NULL", "$SUM$1 TINYINT NOT NULL"),
        ("SUM", "DECIMAL(8, 2)", "$SUM$1 DECIMAL(38, 2)"),
        ("$SUM0", "INT", "$$SUM0$1 INT NOT NULL"),
        ("AVG", "INT", "$AVG$1 INT"),
        ("AVG", "DECIMAL(8, 2)", "$AVG$1 DECIMAL(38, 6)"),
        ("AVG", "DECIMAL(30, 8) NOT NULL", "$AVG$1 DECIMAL(38, 8) NOT NULL"),
        ("AVG", "FLOAT", "$AVG$1 FLOAT"),
        ("MIN", "TIMESTAMP_LTZ(3) NOT NULL *ROWTIME*", "$MIN$1 TIMESTAMP_LTZ(3) NOT NULL *ROWTIME*"),
        ("MAX", "BOOLEAN", "$MAX$1 BOOLEAN"),
        ("STDDEV", "INT", "$STDDEV_SAMP$1 INT"),
        ("VARIANCE", "DECIMAL(8, 2)", "$VAR_SAMP$1 DECIMAL(38, 6)"),
        ("VAR_SAMP", "DOUBLE NOT NULL", "$VAR_SAMP$1 DOUBLE"),
        ("VAR_POP", "DOUBLE NOT NULL", "$VAR_POP$1 DOUBLE NOT NULL"),
        ("LISTAGG", "VARCHAR(3) NOT NULL", "$LISTAGG$1 STRING NOT NULL"),
        ("LAST_VALUE", "ROW<`a` INT>", "$LAST_VALUE$1 ROW<`a` INT>"),
        ("ARRAY_AGG", "INT NOT NULL", "$ARRAY_AGG$1 ARRAY<INT NOT NULL>"),
        ("COLLECT", "STRING", "$COLLECT$1 MULTISET<STRING> NOT NULL"),
        ("JSON_ARRAYAGG", "STRING", "$JSON_ARRAYAGG_ABSENT_ON_NULL$1 VARCHAR(2000) NOT NULL"),
    ],
)
def test_result_types(name: str, arg: str, expected: str) -> None:
    internal, result = resolve(name, (parse_type(arg),))
    assert f"{internal} {result}" == expected


def test_a_result_is_nullable_where_a_group_may_be_without_values() -> None:
    assert resolve("SUM", (INT.not_null(),), grouped=False)[1] == INT
    assert resolve("SUM", (INT.not_null(),), filtered=True)[1] == INT
    assert resolve("COUNT", (), grouped=False)[1].nullable is False


@pytest.mark.parametrize(
    ("name", "args", "distinct", "message"),
    [
        ("SUM", (STRING,), False, r"line 2, column 7: SUM does not take STRING\n.*CAST"),
        ("COUNT", (INT, INT), True, r"COUNT takes 0 to 1 arguments, not 2"),
        ("COUNT", (), True, r"COUNT\(DISTINCT\) is not supported"),
        ("MEDIAN", (INT,), False, r"MEDIAN is not an aggregate function"),
        ("MAX", (array(INT),), False, r"MAX does not take ARRAY<INT>"),
        ("JSON_OBJECTAGG", (STRING,), False, r"JSON_OBJECTAGG takes 2 arguments, not 1"),
    ],
)
def test_refused_calls(name: str, args: tuple[LogicalType, ...], distinct: bool, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        resolve(name, args, distinct=distinct, position=Position(2, 7))


def test_every_function_has_an_accumulator_and_says_what_it_needs() -> None:
    for name, function in FUNCTIONS.items():
        args = tuple(STRING if function.takes(STRING) else INT for _ in range(function.least))
        internal, result = resolve(name, args)
        call = AggregateCall(name="r", internal_name=internal, arg_list=tuple(range(len(args))), type=result)
        assert make(call, args[0] if args else None, retract=True).columns
        assert is_aggregate(name.lower())
        assert not (mergeable(internal) and order_dependent(internal))
    assert not is_aggregate("UPPER")


def test_accumulators_are_named_after_calls() -> None:
    input_type = row(Field("v", decimal(8, 2)), Field("w", DOUBLE))
    calls = [
        AggregateCall(name="total", internal_name="$SUM$1", arg_list=(0,), type=decimal(38, 2)),
        AggregateCall(name="mean", internal_name="$AVG$1", arg_list=(1,), type=DOUBLE),
    ]
    found = [f"{field.name} {field.type}" for field in accumulator_columns(calls, input_type, True)]
    assert found == [
        "record_count BIGINT NOT NULL", "total$sum DECIMAL(38, 2)", "total$count BIGINT", "mean$sum DOUBLE",
        "mean$count BIGINT",
    ]  # fmt: skip
    twice = [calls[0], calls[0]]
    assert "occur twice: total$sum;" in (problem((), twice, input_type, False) or "")
    assert "unknown aggregate function $SUM$2" in (
        problem((), [calls[0].model_copy(update={"internal_name": "$SUM$2"})], input_type, False) or ""
    )
    assert "FILTER column 1 is no BOOLEAN" in (
        problem((), [calls[0].model_copy(update={"filter_arg": 1})], input_type, False) or ""
    )


@pytest.mark.parametrize(
    ("t", "value", "expected"),
    [
        (STRING, 'a"\\\n\u0001é', '"a\\"\\\\\\n\\u0001é"'),
        (BOOLEAN, True, "1"),
        (decimal(10, 2), -5, "-5"),
        (decimal(38, 2), 10**30, f'"1{"0" * 30}"'),
        (BYTES, b"\x00\xff", '"AP8="'),
        (DOUBLE, float("nan"), '"NaN"'),
        (DOUBLE, float("-inf"), '"-Infinity"'),
        (FLOAT, 0.5, "0.5"),
        (array(INT), "[1,null]", "[1,null]"),
        (INT, None, None),
    ],
)
def test_json_text(t: LogicalType, value: object, expected: str | None) -> None:
    frame = pl.DataFrame({"v": pl.Series([value], dtype=kernel_dtype(t))})
    assert frame.select(json_text(pl.col("v"), t)).item() == expected


SAMPLES: dict[LogicalType, list[object]] = {
    BOOLEAN: [True, False],
    INT: [1, 2],
    FLOAT: [0.5, float("nan")],
    DOUBLE: [0.5, float("nan")],
    DATE: [1, 2],
    time(0): [1, 2],
    timestamp(3): [1, 2],
    decimal(18, 2): [1, 2],
    decimal(38, 2): [10**30, 2],
    STRING: ["a", "b"],
    BYTES: [b"a", b"b"],
    array(INT): ["[1]", "[2]"],
}


def _takes(function: str, t: LogicalType) -> bool:
    return FUNCTIONS[function].takes(t) and FUNCTIONS[function].least < 2 and not function.startswith("JSON")


@pytest.mark.parametrize("retract", [False, True])
@pytest.mark.parametrize("t", SAMPLES, ids=str)
def test_every_type_as_key_and_as_argument(t: LogicalType, retract: bool) -> None:
    calls = []
    for function in (each for each in FUNCTIONS if _takes(each, t) and each != "SINGLE_VALUE"):
        for distinct in (False, True):
            internal, result = resolve(function, (t,), distinct=distinct)
            name = f"{function}{distinct}"
            options: dict[str, bool | int | str | None] = (
                {PERCENTAGE: "0.5"} if function.startswith("PERCENTILE") else {}
            )
            calls.append(
                AggregateCall(
                    name=name, internal_name=internal, arg_list=(1,), distinct=distinct, type=result, options=options
                )
            )
    output = row(Field("k", t), *(Field(call.name, call.type) for call in calls))
    made = GroupAggregateOperator(
        uid="1_group-aggregate", input_type=row(Field("k", t), Field("v", t)), output_type=output, grouping=(0,),
        calls=tuple(calls), retract=retract, update_before=True, ttl_ms=0,
    )  # fmt: skip
    values = [*SAMPLES[t], None]
    context, rows = FakeContext(made), [(key, value) for key in values for value in values]
    frame = rows_of(made, 0, rows).with_columns(pl.lit(0, pl.Int64).alias(HASH))
    assert run(made, context, frame)[KIND].to_list() == [0, 0, 0]
    assert set(run(made, context, frame)[KIND].to_list()) == {1, 2}
    assert context.state("groupAggregateState").frame.height == 3
    if retract:
        gone = frame.with_columns(pl.lit(3, pl.Int8).alias(KIND))
        run(made, context, gone)
        assert run(made, context, gone)[KIND].to_list() == [3, 3, 3]
        assert all(state.frame.is_empty() for state in context.states.values())
