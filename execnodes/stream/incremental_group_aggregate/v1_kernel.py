"""Kernel of the incremental group aggregate."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.lowering.stream import KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator

STATE = "incrementalGroupAggregateState"
"""Gives the states of values their names; what groups are themselves is kept by the global aggregate."""


class IncrementalGroupAggregateOperator(Operator):
    """Rows of parts of groups to what they add to the accumulators of the groups: a row a part and micro-batch.

    State: the values of the DISTINCT calls by part. Accumulators are kept by the global aggregate alone.
    """

    def __init__(
        self,
        *,
        uid: str,
        input_type: LogicalType,
        output_type: LogicalType,
        parts: tuple[int, ...],
        groups: int,
        calls: tuple[AggregateCall, ...],
        retract: bool,
        ttl_ms: int,
    ) -> None:
        """The node's fields; `groups`: so many of the `parts` are keys of the group; `ttl_ms` 0 is for ever."""
        self.uid = uid
        self.inputs = (tuple(Column(field.name, field.type) for field in input_type.fields),)
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.groups = groups
        self.aggregation = Aggregation(self.inputs[0], parts, calls, retract, STATE, ttl_ms)
        self.states = tuple(each for each in self.aggregation.states if each.name != STATE)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Fold the batch, bring the values up to date, emit what both add."""
        if batches[0].is_empty():
            return None
        aggregation = self.aggregation
        delta = aggregation.delta(aggregation.prepare(batches[0]), context)
        keys = [key.name for key in aggregation.keys[: self.groups]]
        names = (*keys, *(frame.delta(column.name) for column in aggregation.columns))
        columns = [pl.col(name).alias(column.name) for name, column in zip(names, self.output, strict=True)]
        behind = [SEQUENCE] if SEQUENCE in delta.columns else []
        return delta.select(*columns, pl.lit(int(RowKind.INSERT), pl.Int8).alias(KIND), *behind)
