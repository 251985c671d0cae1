"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.core.expressions import Expression, input_indexes
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType
from execnodes.lowering.batch import BatchLowering, BatchNode, BatchRows


@exec_node_metadata(
    name="batch-exec-calc",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["calc"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchCalc(BatchNode):
    """Projects and filters; looks at each row alone."""

    projection: tuple[Expression, ...]
    """One for each output column."""
    condition: Expression | None = None
    """Rows for which it is TRUE are kept; None keeps all."""

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """The condition reads input columns, so it comes before they are replaced."""
        rows = inputs[0]
        if self.condition is not None:
            (condition,) = self.texts([self.condition], rows.columns)
            rows = BatchRows(rows.type, rows.frame.where(condition))
        return rows.project(self.output_type, self.texts(self.projection, rows.columns))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """As many expressions as output columns; all read columns that the input has."""
        width = len(inputs[0].fields)
        read = set().union(*map(input_indexes, (*self.projection, *([self.condition] if self.condition else []))))
        if read and max(read) >= width:
            raise self.fail(f"it reads column {max(read)}, but its input has only {width} columns")
        if len(self.projection) != len(self.output_type.fields):
            raise self.fail(f"{len(self.projection)} expressions for {len(self.output_type.fields)} output columns")
