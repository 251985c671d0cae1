"""Calls as Spark SQL, which computes them in batch, and pre-aggregates rows of streams."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.aggregates.registry import function_of
from execnodes.aggregates.spark_call import SparkCall
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import NESTED, LogicalType, Root
from execnodes.lowering.spark_sql import spark_type

_OTHERWISE_EQUAL = frozenset((*NESTED, Root.FLOAT, Root.DOUBLE))
"""Keys of these types: Spark has one NaN and one zero, and writes nested values in its own way."""


def spark_text(call: AggregateCall, arg: LogicalType | None, window: str | None = None) -> str:
    """Spark SQL of a call over columns c0, c1, …; `arg` is the type of its first argument, None for COUNT(*).

    With `window`, the text behind OVER, it is computed for each row.
    """
    function = function_of(call.internal_name)
    return f"CAST({function.spark(SparkCall(call, arg, function.name, window))} AS {spark_type(call.type)})"


def native_folds(
    grouping: Sequence[int], calls: Sequence[AggregateCall], types: Sequence[LogicalType]
) -> tuple[str, ...] | None:
    """Spark SQL of the slots of all that the calls keep, in order; None if Spark would make others, or other groups.

    Columns c0, c1, … are the slots of an input with these types; BOOLEANs are as they are.
    """
    if any(types[key].root in _OTHERWISE_EQUAL for key in grouping) or any(call.distinct for call in calls):
        return None
    found: list[str] = []
    for call in calls:
        function = function_of(call.internal_name)
        arg = types[call.arg_list[0]] if call.arg_list else None
        texts = function.folds(SparkCall(call, arg, function.name, None))
        if texts is None:
            return None
        found += texts
    return tuple(found)
