"""What calls keep: the columns of the state, and of what a local aggregate sends to a global one."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.aggregates.registry import BY_INTERNAL_NAME, function_of
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT, BOOLEAN, Field, LogicalType

RECORD_COUNT = "record_count"
"""How many rows a group has now (insertions less retractions); only over inputs that retract."""


def all_mergeable(calls: Sequence[AggregateCall], need_retraction: bool) -> bool:
    """Whether these calls can be split into a local and a global aggregate."""
    functions = [function_of(call.internal_name) for call in calls]
    return not any(call.distinct for call in calls) and all(
        each.mergeable and (each.merges_removals or not need_retraction) for each in functions
    )


def accumulators(call: AggregateCall, arg: LogicalType | None, need_retraction: bool) -> tuple[Field, ...]:
    """What one call keeps for a group: columns named after the call, e.g. ``total$sum`` and ``total$count``."""
    parts = function_of(call.internal_name).keeps(call, arg, need_retraction)
    return tuple(Field(f"{call.name}${part}", t) for part, t in parts)


def accumulator_columns(
    calls: Sequence[AggregateCall], input_row_type: LogicalType, need_retraction: bool
) -> tuple[Field, ...]:
    """What a local aggregate sends behind its keys, and the state of a (global) group aggregate behind its keys."""
    record_count = (Field(RECORD_COUNT, BIGINT.not_null()),) if need_retraction else ()
    per_call = (accumulators(call, argument(call, input_row_type), need_retraction) for call in calls)
    return (*record_count, *(field for fields in per_call for field in fields))


def argument(call: AggregateCall, input_row_type: LogicalType) -> LogicalType | None:
    """Type of the (first) argument; None for COUNT(*)."""
    return input_row_type.fields[call.arg_list[0]].type if call.arg_list else None


def problem(
    grouping: Sequence[int], calls: Sequence[AggregateCall], input_row_type: LogicalType, need_retraction: bool
) -> str | None:
    """What does not fit between calls, keys and the input they read; None if all does."""
    width = len(input_row_type.fields)
    for index in grouping:
        if not 0 <= index < width:
            return f"key column {index} is not among the {width} input columns"
    names = [field.name for field in accumulator_columns((), input_row_type, need_retraction)]
    for call in calls:
        if call.internal_name not in BY_INTERNAL_NAME:
            return f"unknown aggregate function {call.internal_name}"
        if any(not 0 <= index < width for index in call.arg_list) or not -1 <= call.filter_arg < width:
            return f"{call.name}: {call.internal_name} reads a column that is not among the {width} input columns"
        if call.filter_arg >= 0 and input_row_type.fields[call.filter_arg].type.root is not BOOLEAN.root:
            return f"{call.name}: the FILTER column {call.filter_arg} is no BOOLEAN"
        if call.distinct and not call.arg_list:
            return f"{call.name}: DISTINCT without a column"
        names += [field.name for field in accumulators(call, argument(call, input_row_type), need_retraction)]
    double = {name for name in names if names.count(name) > 1}
    return (
        f"accumulators occur twice: {', '.join(sorted(double))}; give the results different names" if double else None
    )
