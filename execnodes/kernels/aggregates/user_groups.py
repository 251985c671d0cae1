"""Aggregate functions of the user in batch: scalar functions of lists, over whole groups and over frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from execnodes.core.errors import JobError
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates.user import UserCall, shipped
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.equal_values import key_of
from execnodes.user_functions.scalar import FunctionContext, ScalarFunction


class UserGroups(ScalarFunction):
    """Gives the result of a group."""

    def __init__(self, call: AggregateCall, definition: AggregateDefinition, types: Sequence[LogicalType]) -> None:
        """`types` are those of the arguments."""
        # The place is said by who calls this: calls at several places share a function.
        alone = AggregateCall(
            name=call.name,
            system_name=call.system_name,
            catalog_name=call.catalog_name,
            arg_list=call.arg_list,
            type=call.type,
            accumulator=call.accumulator,
        )
        self._user = UserCall(alone, tuple(types), shipped(call, definition))

    def open(self, context: FunctionContext) -> None:
        """Tell the function what this one is told."""
        self._user = replace(self._user, shipped=self._user.shipped.with_parameters(context.parameters))

    def eval(self, *operands: Any) -> Any:
        """Of the operands of a `group_call`: so many rows, whether equal ones count once, and a list an argument."""
        rows, once, *arguments = operands
        (value,) = self._values([(0, rows)], rows, once, arguments)
        return value

    def _values(
        self, frames: Sequence[tuple[int, int]], rows: int, once: bool, arguments: Sequence[Sequence[Any]]
    ) -> Iterator[Any]:
        """The result over each frame, from its first row to before its end; an accumulator goes on while they grow."""
        accumulators, add = self._user.accumulators(), self._user.adder()
        named = list(zip(arguments, self._user.takes_null(), strict=True))
        passes = [all(null or values[at] is not None for values, null in named) for at in range(rows)]
        keys = [tuple(map(key_of, row)) for row in zip(*arguments, strict=True)] if once and arguments else None
        begin, reached, seen, value = -1, 0, set[Any](), None
        accumulator: Any = None
        for first, end in frames:
            fresh = first != begin or end < reached
            if fresh:
                begin, reached, seen, accumulator = first, first, set(), accumulators.fresh()
            places = [at for at in range(reached, end) if passes[at]]
            if keys is not None:
                places = _firsts(places, keys, seen)
            if places:
                accumulator = add(accumulator, len(places), [[values[at] for at in places] for values in arguments])
            if places or fresh:
                value = accumulators.value(accumulator)
            reached = max(reached, end)
            yield value


class UserPartitions(UserGroups):
    """Gives the results of the rows of a partition, each over its frame."""

    def eval(self, *operands: Any) -> Any:
        """Of the operands of a `frames_call`: where frames begin and end, whether equal rows count once, the lists."""
        begins, ends, once, *arguments = operands
        rows = len(begins)
        # An empty frame may lie outside of the partition.
        frames = [
            (first, min(end, rows)) if first < min(end, rows) else (0, 0)
            for first, end in zip(begins, ends, strict=True)
        ]
        type = self._user.call.type
        results = []
        for at, value in enumerate(self._values(frames, rows, once, arguments)):
            if value is None and not type.nullable:
                what = f"returned None for row {at + 1} of a partition; its result is {type}"
                raise JobError(f"function {self._user.call.title} {what}")
            # The function may go on with what it has given.
            results.append(deepcopy(value))
        return results


def _firsts(places: Sequence[int], keys: Sequence[Any], seen: set[Any]) -> list[int]:
    """The places whose keys were not seen before; then they are."""
    found = []
    for at in places:
        if keys[at] not in seen:
            seen.add(keys[at])
            found.append(at)
    return found
