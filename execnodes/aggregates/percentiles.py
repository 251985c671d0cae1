"""PERCENTILE of one percentage, or of an array of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from execnodes.aggregates.function import AggregateFunction, numeric, result_alone
from execnodes.core.types import DOUBLE, LogicalType, array

if TYPE_CHECKING:
    from execnodes.aggregates.spark_call import SparkCall

PERCENTAGE = "percentage"
"""Key in `AggregateCall.options` of what PERCENTILE asks for, as JSON: a number from 0 to 1, or a list of such."""


def _percentile(call: SparkCall) -> str:
    told = json.loads(str(call.call.options[PERCENTAGE]))
    shares = f"array({', '.join(f'{each}D' for each in told)})" if isinstance(told, list) else f"{told}D"
    return call.over("percentile", f"CAST({call.value} AS DOUBLE), {shares}")


def _function(name: str, result: LogicalType) -> AggregateFunction:
    return AggregateFunction(
        name=name,
        result=lambda t: result,
        takes=numeric,
        nullable=True,
        mergeable=False,
        keeps=result_alone("percentile"),
        accumulator="percentiles:Percentile",
        spark=_percentile,
    )


PERCENTILES = (_function("PERCENTILE", DOUBLE), _function("PERCENTILE_ARRAY", array(DOUBLE)))
