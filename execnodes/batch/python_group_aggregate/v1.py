"""Version 1 (1.3)."""

from __future__ import annotations

from collections.abc import Iterator

from execnodes.aggregates import argument
from execnodes.aggregates.spark_text import spark_text
from execnodes.common.batch import BatchLowering, BatchNode, BatchRows, column_names
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Applied, Outputs, applied, grouped
from execnodes.core.types import LogicalType
from execnodes.user_functions.groups import group_call, group_text, list_texts
from execnodes.user_functions.mixed import mixed_problem


@exec_node_metadata(
    name="batch-exec-python-group-aggregate",
    version=1,
    produced_operators=["python-group-aggregate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class BatchPythonGroupAggregate(BatchNode):
    """GROUP BY with aggregate functions of the user, others beside them. Output: the keys, then the results."""

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the input."""
    agg_calls: tuple[AggregateCall, ...]

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """Spark's own aggregation, which makes lists of what functions of the user read; then they fold the lists."""
        from pyspark.sql import functions as spark

        rows, width = inputs[0], len(self.grouping)
        keys = [spark.expr(f"c{each} AS c{at}") for at, each in enumerate(self.grouping)]
        made = [
            group_text(call) if call.user_name else spark_text(call, argument(call, rows.type))
            for call in self.agg_calls
        ]
        results = [spark.expr(f"{text} AS c{at}") for at, text in enumerate(made, width)]
        frame = rows.numbered().groupBy(*keys).agg(*results)
        columns = list(column_names(width))
        for at, call in enumerate(self.agg_calls, width):
            texts = list_texts(call, f"c{at}")
            columns += self.texts([group_call(call, rows.type)], texts) if call.user_name else [f"c{at}"]
        return BatchRows(rows.type, frame).project(self.output_type, columns)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Keys and results."""
        return grouped(inputs[0], self.grouping, self.agg_calls)

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, inputs[0], grouped=bool(self.grouping))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys and calls must fit the input and the output."""
        found = mixed_problem(self.grouping, self.agg_calls, inputs[0], False)
        width = len(self.grouping) + len(self.agg_calls)
        if found is None and len(self.output_type.fields) != width:
            found = f"{len(self.output_type.fields)} output columns for {width} keys and results"
        if found is not None:
            raise self.fail(found)
