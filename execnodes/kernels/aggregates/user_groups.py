"""Aggregate functions of the user over whole groups: a scalar function of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates.user import UserCall, shipped
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.scalar import ScalarFunction


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

    def eval(self, rows: int, *arguments: Sequence[Any]) -> Any:
        """Of so many rows, with a list an argument."""
        return self._user.value(rows, arguments)
