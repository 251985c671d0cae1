"""Kernel of the local group aggregate."""

from __future__ import annotations

import polars as pl

from execnodes.aggregates.spark_text import native_folds
from execnodes.core.changelog import RowKind
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import LocalKernel


class LocalGroupAggregateKernel(LocalKernel):
    """Rows of a task to a row of partial accumulators a group."""

    def __init__(
        self,
        *,
        input_type: LogicalType,
        output_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        retract: bool,
    ) -> None:
        """The node's fields; `retract` says that the input retracts rows."""
        self.inputs = tuple(Column(field.name, field.type) for field in input_type.fields)
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.keys = grouping
        self.aggregation = Aggregation(self.inputs, grouping, calls, retract, "")
        if not retract:
            self.native = native_folds(grouping, calls, [column.type for column in self.inputs])

    def fold(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Partial accumulators, all as insertions."""
        aggregation = self.aggregation
        folded = aggregation.fold(aggregation.prepare(rows))
        names = [key.name for key in aggregation.keys] + [frame.delta(column.name) for column in aggregation.columns]
        columns = [pl.col(name).alias(column.name) for name, column in zip(names, self.output, strict=True)]
        behind = [name for name in (SEQUENCE, HASH) if name in rows.columns]
        folded = folded if rows.height else folded.clear()
        return folded.select(*columns, pl.lit(int(RowKind.INSERT), pl.Int8).alias(KIND), *behind)
