"""Calls as Spark SQL, which computes them in batch."""

from __future__ import annotations

from execnodes.aggregates.registry import function_of
from execnodes.aggregates.spark_call import SparkCall
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.lowering.spark_sql import spark_type


def spark_text(call: AggregateCall, arg: LogicalType | None, window: str | None = None) -> str:
    """Spark SQL of a call over columns c0, c1, …; `arg` is the type of its first argument, None for COUNT(*).

    With `window`, the text behind OVER, it is computed for each row.
    """
    function = function_of(call.internal_name)
    return f"CAST({function.spark(SparkCall(call, arg, function.name, window))} AS {spark_type(call.type)})"
