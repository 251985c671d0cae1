"""Version 1 (1.0)."""

from __future__ import annotations

from typing import ClassVar

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.core.expressions import Literal
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Outputs, rows_problem
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-values",
    version=1,
    produced_operators=["values"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchValues(BatchNode):
    """Gives constant rows."""

    INPUTS: ClassVar = range(1)

    tuples: tuple[tuple[Literal, ...], ...]
    """One literal for each output column, in each row."""

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """The rows."""
        return BatchRows(self.output_type, batch.values(self, self.tuples, self.output_type))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Its rows are looked at one by one, in `check`."""
        return iter(())

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Every row is one of the output."""
        problem = rows_problem(self.tuples, self.output_type)
        if problem is not None:
            raise self.fail(problem, "Restore the file, or compile the plan anew.")
