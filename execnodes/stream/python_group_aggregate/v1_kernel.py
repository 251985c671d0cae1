"""Kernel of the group aggregate with functions of the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.lowering import HASH
from execnodes.core.types import LogicalType
from execnodes.core.user_functions.aggregate import AggregateDefinition
from execnodes.core.user_functions.loading import Definition
from execnodes.core.user_functions.shipping import Shipped
from execnodes.state.aggregates.accumulator import ColumnOf
from execnodes.state.aggregates.aggregation import KNOWN, Aggregation
from execnodes.state.aggregates.changes import changes
from execnodes.state.aggregates.user import UserCall, missing, result_name, shipped, state_columns
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator

STATE = "pythonGroupAggregateState"


@dataclass(frozen=True)
class MixedAggregation(Aggregation):
    """The calls of functions of the system (`calls`), with columns and results of the user's beside them."""

    every_call: tuple[AggregateCall, ...] = ()
    """Those of the user, too, in the order of the results."""

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """State columns behind the keys: those of the system's functions first."""
        own = Aggregation.columns.func(self)  # type: ignore[attr-defined]  # the property's function
        users = (column for call in self.every_call if call.user_name for column in state_columns(call))
        return (*own, *users)

    def results(self, column: ColumnOf) -> list[pl.Expr]:
        """The calls' results over old or new columns."""
        own = iter(super().results(column))
        return [column(result_name(call)) if call.user_name else next(own) for call in self.every_call]


class PythonGroupAggregateOperator(Operator):
    """Rows of a key group to changes of its groups, as the group aggregate gives them.

    State: the keys, over retracting input the number of rows, and the accumulators.
    """

    ordered = True

    def __init__(
        self,
        *,
        uid: str,
        input_type: LogicalType,
        output_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        retract: bool,
        update_before: bool,
        ttl_ms: int,
    ) -> None:
        """The node's fields; `retract` says that the input retracts rows, `ttl_ms` 0 keeps state for ever."""
        self.uid = uid
        self.inputs = (tuple(Column(field.name, field.type) for field in input_type.fields),)
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.update_before = update_before
        self.user_calls = tuple(call for call in calls if call.user_name)
        own = tuple(call for call in calls if not call.user_name)
        self.aggregation = MixedAggregation(self.inputs[0], grouping, own, retract, STATE, ttl_ms, every_call=calls)
        self._reader = Aggregation(self.inputs[0], grouping, calls, retract, STATE)
        self.states = self.aggregation.states
        self._functions: dict[str, Shipped] = {}

    def supply(self, functions: Mapping[str, Definition]) -> None:
        """See `CallsFunctions`."""
        for call in self.user_calls:
            definition = functions[call.user_name]
            assert isinstance(definition, AggregateDefinition)
            self._functions[call.name] = shipped(call, definition)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Fold the batch, merge it into the state, emit what changed."""
        if batches[0].is_empty():
            return None
        aggregation = self.aggregation
        rows = self._reader.prepare(batches[0])
        delta = aggregation.delta(rows, context)
        state = context.state(STATE)
        before = state.read(delta.select(HASH))
        merged = aggregation.merge(delta, before)
        for call in self.user_calls:
            merged = self._call(call).step(rows, merged, aggregation.group, KNOWN)
        state.write(aggregation.after(before, merged))
        return changes(aggregation, merged, self.output, self.update_before)

    def _call(self, call: AggregateCall) -> UserCall:
        if call.name not in self._functions:
            raise missing(call)
        types = tuple(self.inputs[0][index].type for index in call.arg_list)
        return UserCall(call, types, self._functions[call.name])
