"""PERCENTILE of one percentage, or of an array of them.

A second argument, the frequency, says how often a value counts: not at all if it is NULL or no positive number.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from execnodes.aggregates.function import AggregateFunction, numeric, result_alone, whole
from execnodes.core.types import DOUBLE, LogicalType, array

if TYPE_CHECKING:
    from execnodes.aggregates.spark_call import SparkCall

PERCENTAGE = "percentage"
"""Key in `AggregateCall.options` of what PERCENTILE asks for, as JSON: a number from 0 to 1, or a list of such."""


def _percentile(call: SparkCall) -> str:
    told = json.loads(str(call.call.options[PERCENTAGE]))
    shares = f"array({', '.join(f'{each}D' for each in told)})" if isinstance(told, list) else f"{told}D"
    value = f"CAST({call.value} AS DOUBLE)"
    if len(call.call.arg_list) == 1:
        return call.over("percentile", value, behind=f", {shares}")
    frequency = f"greatest(c{call.call.arg_list[1]}, 0)"
    return call.over("percentile", value, behind=f", {shares}, {frequency}")


def _function(name: str, result: LogicalType) -> AggregateFunction:
    return AggregateFunction(
        name=name,
        result=lambda t: result,
        takes=numeric,
        takes_further=whole,
        most=2,
        nullable=True,
        mergeable=False,
        keeps=result_alone("percentile"),
        accumulator="percentiles:Percentile",
        spark=_percentile,
    )


PERCENTILES = (_function("PERCENTILE", DOUBLE), _function("PERCENTILE_ARRAY", array(DOUBLE)))
