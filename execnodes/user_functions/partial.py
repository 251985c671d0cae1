"""What a local aggregate with functions of the user sends: accumulators of all its calls, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from execnodes.aggregates import accumulators, argument
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import Field, LogicalType


def partial_columns(calls: Sequence[AggregateCall], input_row_type: LogicalType) -> tuple[Field, ...]:
    """Behind the keys: accumulators of the system's functions, then those of the user's."""
    return tuple(field for _, field in _partial(calls, input_row_type))


def partial_calls(calls: Sequence[AggregateCall], input_row_type: LogicalType) -> tuple[AggregateCall, ...]:
    """The call that each of these columns is of."""
    return tuple(call for call, _ in _partial(calls, input_row_type))


def same_columns(given: Sequence[Field], expected: Sequence[Field]) -> bool:
    """Whether there are as many, of types with the same values; names may differ."""
    return len(given) == len(expected) and all(a.type.same_values(b.type) for a, b in zip(given, expected, strict=True))


def _partial(calls: Sequence[AggregateCall], input_row_type: LogicalType) -> Iterator[tuple[AggregateCall, Field]]:
    for call in calls:
        if not call.user_name:
            for field in accumulators(call, argument(call, input_row_type), False):
                yield call, field
    for call in calls:
        if call.user_name and call.accumulator is not None:
            for field in call.accumulator.type.fields:
                yield call, Field(f"{call.name}${field.name}", field.type.with_nullable(True))
