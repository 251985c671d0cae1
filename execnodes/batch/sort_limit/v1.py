"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows, in_order
from execnodes.core.indexes import Number
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-sort-limit",
    version=1,
    produced_operators=["sort-limit"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchSortLimit(BatchNode):
    """The first rows in an order."""

    sort_spec: SortSpec
    limit_start: Number
    """Rows that are left out at the beginning."""
    limit_end: Number
    """Number of the last row that is kept, counted from the beginning."""

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """Spark keeps the first rows of each task and never sorts the rest."""
        ordered = in_order(inputs[0].frame, self.sort_spec)
        frame = ordered.offset(self.limit_start) if self.limit_start else ordered
        return BatchRows(self.output_type, frame.limit(self.limit_end - self.limit_start))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Sort columns exist, the bounds are in order."""
        if any(each.index >= len(inputs[0].fields) for each in self.sort_spec.fields):
            raise self.fail("it sorts by a column that its input does not have")
        if not 0 <= self.limit_start <= self.limit_end:
            raise self.fail(f"its bounds {self.limit_start} and {self.limit_end} are no part of the rows")
