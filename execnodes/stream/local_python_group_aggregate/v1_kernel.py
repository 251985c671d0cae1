"""Kernel of the local group aggregate with functions of the user."""

from __future__ import annotations

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.kernels.aggregates.user import CallsFunctions, state_columns
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import LocalKernel


class LocalPythonGroupAggregateKernel(CallsFunctions, LocalKernel):
    """Rows of a task to a row of partial accumulators a group."""

    def __init__(
        self,
        *,
        input_type: LogicalType,
        output_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
    ) -> None:
        """The node's fields."""
        self.inputs = tuple(Column(field.name, field.type) for field in input_type.fields)
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        super().__init__(calls, self.inputs)
        self.keys = grouping
        own = tuple(call for call in calls if not call.user_name)
        self.aggregation = Aggregation(self.inputs, grouping, own, False, "")
        self._reader = Aggregation(self.inputs, grouping, calls, False, "")

    def fold(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Partial accumulators, all as insertions."""
        aggregation = self.aggregation
        prepared = self._reader.prepare(rows)
        folded = aggregation.fold(prepared)
        folded = folded if rows.height else folded.clear()
        # Without keys all rows are of one group; a hash that is not there yet cannot tell it.
        group = [name for name in aggregation.group if name in folded.columns]
        constant = [] if group else [pl.lit(0).alias(HASH)]
        folded, prepared = folded.with_columns(constant), prepared.with_columns(constant)
        columns = list(aggregation.columns)
        for call in self.supplied():
            folded = call.fold(prepared, folded, group or [HASH])
            columns += state_columns(call.call)
        names = [key.name for key in aggregation.keys] + [frame.delta(column.name) for column in columns]
        made = [pl.col(name).alias(column.name) for name, column in zip(names, self.output, strict=True)]
        behind = [name for name in (SEQUENCE, HASH) if name in rows.columns]
        return folded.select(*made, pl.lit(int(RowKind.INSERT), pl.Int8).alias(KIND), *behind)
