"""Kernel of the group aggregate with functions of the user, over accumulators that a local aggregate has folded."""

from __future__ import annotations

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates.aggregation import KNOWN
from execnodes.kernels.aggregates.mixed import MixedAggregation
from execnodes.kernels.aggregates.user import UserCall
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context
from execnodes.stream.python_group_aggregate.v1_kernel import STATE, UserAggregateOperator


class MergingOperator(UserAggregateOperator):
    """Over partial accumulators, with the state that rows would have left."""

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
        inputs = tuple(Column(field.name, field.type) for field in input_type.fields)
        local_input = tuple(Column(field.name, field.type) for field in local_input_type.fields)
        own = tuple(call for call in calls if not call.user_name)
        keys = tuple(inputs[index] for index in grouping)
        aggregation = MixedAggregation(local_input, (), own, False, STATE, ttl_ms, given_keys=keys, every_call=calls)
        super().__init__(uid, inputs, output_type, aggregation, update_before)

    def _folded(self, batch: pl.DataFrame, context: Context) -> tuple[pl.DataFrame, pl.DataFrame]:
        parts = self.aggregation.prepare_partial(batch, self.inputs[0])
        return parts, self.aggregation.combine(parts)

    def _moved(self, call: UserCall, rows: pl.DataFrame, merged: pl.DataFrame) -> pl.DataFrame:
        return call.merge(rows, merged, self.aggregation.group, KNOWN)
