"""Kernel of the global group aggregate."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.kernels.aggregates.result_changes import changes
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator

STATE = "globalGroupAggregateState"


class GlobalGroupAggregateOperator(Operator):
    """Partial accumulators of a key group to changes of its groups, as the group aggregate's.

    State: the keys, over retracting input the number of rows, and the accumulators.
    """

    def __init__(
        self,
        *,
        uid: str,
        input_type: LogicalType,
        output_type: LogicalType,
        local_input_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        retract: bool,
        update_before: bool,
        ttl_ms: int,
    ) -> None:
        """The node's fields; `retract` says that the local input retracts rows, `ttl_ms` 0 keeps state for ever."""
        self.uid = uid
        self.inputs = (tuple(Column(field.name, field.type) for field in input_type.fields),)
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.update_before = update_before
        local_input = tuple(Column(field.name, field.type) for field in local_input_type.fields)
        keys = tuple(self.inputs[0][index] for index in grouping)
        self.aggregation = Aggregation(local_input, (), calls, retract, STATE, ttl_ms, given_keys=keys)
        self.states = self.aggregation.states

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Combine the batch's parts, merge them into the state, emit what changed."""
        if batches[0].is_empty():
            return None
        aggregation = self.aggregation
        delta = aggregation.combine(aggregation.prepare_partial(batches[0], self.inputs[0]))
        state = context.state(STATE)
        before = state.read(delta.select(HASH))
        merged = aggregation.merge(delta, before)
        state.write(aggregation.after(before, merged))
        return changes(aggregation, merged, self.output, self.update_before)
