"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows, exploded
from execnodes.core.expressions import Expression
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Outputs, expanded
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-expand",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["expand"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchExpand(BatchNode):
    """Makes several rows of each, one for each list of expressions: the base of GROUPING SETS."""

    projects: tuple[tuple[Expression, ...], ...]
    """Each list gives all output columns."""

    @property
    def keeps_rows(self) -> bool:
        """It looks at each row alone."""
        return True

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """One pass over the input."""
        rows = inputs[0]
        return exploded(rows, [self.texts(each, rows.columns) for each in self.projects], self.output_type)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Each of the lists."""
        return expanded(self.projects)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Every list is as long as the output is wide."""
        width = len(self.output_type.fields)
        if any(len(each) != width for each in self.projects):
            raise self.fail(f"a list of expressions does not fit the {width} output columns")
