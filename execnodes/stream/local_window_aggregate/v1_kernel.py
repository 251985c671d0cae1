"""Kernel of the local window aggregate."""

from __future__ import annotations

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT, LogicalType, timestamp
from execnodes.core.windowing import Windowing
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.lowering.stream import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import LocalKernel
from execnodes.stream.window_aggregate.v1_windows import Windows

SLICE = "rk_slice"
"""End of a slice, in microseconds of local time."""
BEHIND = "rk_behind"
"""Watermark that a row came under, if it is late for the first window of its slice; null for others."""


class LocalWindowAggregateKernel(LocalKernel):
    """Rows of a task to a row of partial accumulators a slice and key; late ones stay apart, by their watermark."""

    uses_time = True

    def __init__(
        self,
        *,
        input_type: LogicalType,
        output_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        windowing: Windowing,
        zone: str,
    ) -> None:
        """The node's fields."""
        self.inputs = tuple(Column(field.name, field.type) for field in input_type.fields)
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.keys = grouping
        self.windows = Windows(windowing, zone)
        self.time = self.inputs[windowing.time_attribute_index or 0].name
        further = (Column(SLICE, timestamp(3).not_null()), Column(BEHIND, BIGINT))
        self.aggregation = Aggregation(self.inputs, grouping, calls, False, "", further_keys=further)

    def fold(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Partial accumulators, all as insertions."""
        seen = pl.col(WATERMARK) if WATERMARK in rows.columns else pl.lit(None, pl.Int64)
        end = self.windows.first(pl.col(self.time))
        rows = rows.with_columns(end.alias(SLICE)).with_columns(
            pl.when(self.windows.firing(pl.col(SLICE)) <= seen).then(seen).alias(BEHIND)
        )
        aggregation = self.aggregation
        folded = aggregation.fold(aggregation.prepare(rows))
        names = [
            *(frame.key(at) for at in range(len(self.keys))),
            *(frame.delta(column.name) for column in aggregation.columns),
            SLICE,
        ]
        columns = [pl.col(name).alias(column.name) for name, column in zip(names, self.output, strict=True)]
        hidden = [name for name in (SEQUENCE, HASH) if name in rows.columns]
        marks = [pl.col(BEHIND).alias(WATERMARK)] if WATERMARK in rows.columns else []
        return folded.select(*columns, pl.lit(int(RowKind.INSERT), pl.Int8).alias(KIND), *hidden, *marks)
