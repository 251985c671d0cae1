"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows, in_order
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-sort",
    version=1,
    produced_operators=["sort"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchSort(BatchNode):
    """Orders all rows; sinks write them in this order."""

    sort_spec: SortSpec

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """A sort of the whole input."""
        return BatchRows(self.output_type, in_order(inputs[0].frame, self.sort_spec))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Sort columns exist."""
        if any(each.index >= len(inputs[0].fields) for each in self.sort_spec.fields):
            raise self.fail("it sorts by a column that its input does not have")
