"""Group aggregates with functions of the user beside those of the system: what must fit."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.aggregates import problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType, Root


def mixed_problem(
    grouping: Sequence[int], calls: Sequence[AggregateCall], input_row_type: LogicalType, need_retraction: bool
) -> str | None:
    """What does not fit between calls, keys and the input they read; None if all does."""
    own = tuple(call for call in calls if not call.user_name)
    found = problem(grouping, own, input_row_type, need_retraction)
    of_calls = (_call_problem(call, input_row_type, need_retraction) for call in calls)
    return found or next(filter(None, of_calls), None)


def windowed_problem(
    grouping: Sequence[int], calls: Sequence[AggregateCall], input_row_type: LogicalType, need_retraction: bool
) -> str | None:
    """The same of windows, where functions of the user see all rows."""
    for call in calls:
        if call.user_name and call.distinct:
            return f"{call.name}: {call.title} cannot be DISTINCT in windows"
    return mixed_problem(grouping, calls, input_row_type, need_retraction)


def _call_problem(call: AggregateCall, input_row_type: LogicalType, need_retraction: bool) -> str | None:
    given = len(input_row_type.fields)
    if call.user_name and call.accumulator is None:
        return f"{call.name}: the accumulator of {call.user_name} is missing"
    if any(not 0 <= at < given for at in call.arg_list) or not -1 <= call.filter_arg < given:
        return f"{call.name}: {call.title} reads a column that is not among the {given} input columns"
    if call.filter_arg >= 0 and input_row_type.fields[call.filter_arg].type.root is not Root.BOOLEAN:
        return f"{call.name}: the FILTER column {call.filter_arg} is no BOOLEAN"
    if call.user_name and need_retraction and not call.retractable:
        return f"{call.name}: {call.title} cannot take rows back, and the input retracts rows"
    return None
