"""Version 1 (1.0)."""

from __future__ import annotations

from collections.abc import Iterator

from execnodes.aggregates import argument, order_dependent, problem
from execnodes.aggregates.spark_text import spark_text
from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Applied, Outputs, applied, grouped
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-hash-aggregate",
    version=1,
    produced_operators=["hash-aggregate"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchHashAggregate(BatchNode):
    """GROUP BY: a row a group; without keys one row, over no input too. Output: the keys, then the results."""

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the input."""
    agg_calls: tuple[AggregateCall, ...]

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """Spark's own aggregation, which folds rows before it sends them."""
        from pyspark.sql import functions as spark

        rows, keys = inputs[0], [spark.expr(f"c{each} AS c{at}") for at, each in enumerate(self.grouping)]
        frame = rows.numbered() if any(order_dependent(call.internal_name) for call in self.agg_calls) else rows.frame
        if not self.agg_calls:
            return BatchRows(self.output_type, frame.select(*keys).distinct())
        made = [spark_text(call, argument(call, rows.type)) for call in self.agg_calls]
        results = [spark.expr(f"{text} AS c{at}") for at, text in enumerate(made, len(keys))]
        return BatchRows(self.output_type, frame.groupBy(*keys).agg(*results))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Keys and results."""
        return grouped(inputs[0], self.grouping, self.agg_calls)

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, inputs[0], grouped=bool(self.grouping))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys and calls must fit the input and the output."""
        found = problem(self.grouping, self.agg_calls, inputs[0], False)
        width = len(self.grouping) + len(self.agg_calls)
        if found is None and len(self.output_type.fields) != width:
            found = f"{len(self.output_type.fields)} output columns for {width} keys and results"
        if found is not None:
            raise self.fail(found)
