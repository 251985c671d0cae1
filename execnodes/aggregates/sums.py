"""SUM and AVG: integers wrap as Java's do, averages of integers are cut, DECIMALs have Flink's digits.

A sum is NULL before the first value, and after a DECIMAL overflow; where rows are taken back a count tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.aggregates.function import AggregateFunction, Parts, numeric
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT, DOUBLE, INTEGERS, LONG_DIGITS, LogicalType, Root, decimal

if TYPE_CHECKING:
    from execnodes.aggregates.spark_call import SparkCall


MAX_DECIMAL = 38
"""Digits of a sum of DECIMALs."""


def average_type(t: LogicalType) -> LogicalType:
    """Flink's type of an average."""
    return decimal(MAX_DECIMAL, max(t.scale, 6)) if t.root is Root.DECIMAL else t


def _sum_type(t: LogicalType) -> LogicalType:
    return decimal(MAX_DECIMAL, t.scale) if t.root is Root.DECIMAL else t


def _kept(arg: LogicalType, floating: LogicalType) -> LogicalType:
    if arg.root is Root.DECIMAL:
        return decimal(MAX_DECIMAL, arg.scale)
    return BIGINT if arg.root in INTEGERS else floating.with_nullable(True).regular()


def _sum_keeps(call: AggregateCall, arg: LogicalType | None, retract: bool) -> Parts:
    return (("sum", _kept(arg or BIGINT, arg or BIGINT)), *((("count", BIGINT),) if retract else ()))


def _average(call: SparkCall) -> str:
    if call.arg is not None and call.arg.root is Root.DECIMAL:
        # Spark's own average of a DECIMAL has other digits; this quotient has Flink's type.
        total = f"CAST({call.over('sum')} AS DECIMAL(38, {call.arg.scale}))"
        return f"{total} / CAST({call.over('count')} AS DECIMAL(20, 0))"
    if call.call.type.root in INTEGERS:
        return f"{call.over('sum')} DIV {call.over('count')}"
    return call.over("avg")


def _fold(call: SparkCall) -> str | None:
    """The sum as its slot has it. A FLOAT's would be a DOUBLE in Spark; a DECIMAL's must not overflow."""
    if call.arg is None or call.arg.root is Root.FLOAT:
        return None
    if call.arg.root is not Root.DECIMAL:
        return call.over("sum")
    if call.arg.precision > LONG_DIGITS:
        return None
    return f"CAST({call.over('sum', f'CAST({call.value} AS DECIMAL(28, 0))')} AS STRING)"


def _sum_folds(call: SparkCall) -> tuple[str, ...] | None:
    total = _fold(call)
    return None if total is None else (total,)


def _average_folds(call: SparkCall) -> tuple[str, ...] | None:
    total = _fold(call)
    return None if total is None else (total, call.over("count"))


SUM = AggregateFunction(
    name="SUM",
    result=_sum_type,
    takes=numeric,
    keeps=_sum_keeps,
    accumulator="sums:Sum",
    spark=lambda call: call.over("sum"),
    folds=_sum_folds,
)
SUM_OR_ZERO = AggregateFunction(
    name="$SUM0",
    result=_sum_type,
    takes=numeric,
    nullable=False,
    keeps=_sum_keeps,
    accumulator="sums:Sum",
    spark=lambda call: f"coalesce({call.over('sum')}, 0)",
    folds=_sum_folds,
)
AVG = AggregateFunction(
    name="AVG",
    result=average_type,
    takes=numeric,
    keeps=lambda call, arg, retract: (("sum", _kept(arg or BIGINT, DOUBLE)), ("count", BIGINT)),
    accumulator="sums:Average",
    spark=_average,
    folds=_average_folds,
)
