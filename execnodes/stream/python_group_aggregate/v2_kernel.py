"""Kernel of the group aggregate with functions of the user, over accumulators that a local aggregate has folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.lowering import HASH
from execnodes.core.types import LogicalType
from execnodes.core.user_functions.aggregate import AggregateDefinition
from execnodes.core.user_functions.loading import Definition
from execnodes.core.user_functions.shipping import Shipped
from execnodes.state.aggregates.aggregation import KNOWN
from execnodes.state.aggregates.changes import changes
from execnodes.state.aggregates.user import UserCall, missing, shipped
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator
from execnodes.stream.python_group_aggregate.v1_kernel import STATE, MixedAggregation


class MergingOperator(Operator):
    """Partial accumulators of a key group to changes of its groups, over the state that rows would have left."""

    def __init__(
        self,
        *,
        uid: str,
        input_type: LogicalType,
        output_type: LogicalType,
        local_input_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        update_before: bool,
        ttl_ms: int,
    ) -> None:
        """The node's fields; `ttl_ms` 0 keeps state for ever."""
        self.uid = uid
        self.inputs = (tuple(Column(field.name, field.type) for field in input_type.fields),)
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.update_before = update_before
        self.user_calls = tuple(call for call in calls if call.user_name)
        own = tuple(call for call in calls if not call.user_name)
        local_input = tuple(Column(field.name, field.type) for field in local_input_type.fields)
        keys = tuple(self.inputs[0][index] for index in grouping)
        self.aggregation = MixedAggregation(
            local_input, (), own, False, STATE, ttl_ms, given_keys=keys, every_call=calls
        )
        self.states = self.aggregation.states
        self._functions: dict[str, Shipped] = {}

    def supply(self, functions: Mapping[str, Definition]) -> None:
        """See `CallsFunctions`."""
        for call in self.user_calls:
            definition = functions[call.user_name]
            assert isinstance(definition, AggregateDefinition)
            self._functions[call.name] = shipped(call, definition)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Put the batch's parts together with the state, emit what changed."""
        if batches[0].is_empty():
            return None
        aggregation = self.aggregation
        parts = aggregation.prepare_partial(batches[0], self.inputs[0])
        delta = aggregation.combine(parts)
        state = context.state(STATE)
        before = state.read(delta.select(HASH))
        merged = aggregation.merge(delta, before)
        for call in self.user_calls:
            merged = self._call(call).merge(parts, merged, aggregation.group, KNOWN)
        state.write(aggregation.after(before, merged))
        return changes(aggregation, merged, self.output, self.update_before)

    def _call(self, call: AggregateCall) -> UserCall:
        if call.name not in self._functions:
            raise missing(call)
        types = tuple(self.aggregation.input[index].type for index in call.arg_list)
        return UserCall(call, types, self._functions[call.name])
