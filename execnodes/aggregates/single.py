"""SINGLE_VALUE: the only value of a group, as a subquery that stands for a value has it; a second row fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.aggregates.function import AggregateFunction, result_alone, same

if TYPE_CHECKING:
    from execnodes.aggregates.spark_call import SparkCall

SECOND = "SINGLE_VALUE, or a subquery that stands for a value, has more than one row"


def _single(call: SparkCall) -> str:
    from execnodes.lowering.raising import raised

    rows = call.over("count", "1", distinct=False)
    return f"CASE WHEN {rows} > 1 THEN {raised(SECOND, call.call.place)} ELSE {call.over('first', distinct=False)} END"


SINGLE_VALUE = AggregateFunction(
    name="SINGLE_VALUE",
    result=same,
    nullable=True,
    distinct=False,
    mergeable=False,
    order_dependent=True,
    can_fail=True,
    keeps=result_alone("single"),
    accumulator="single:SingleValue",
    spark=_single,
)
