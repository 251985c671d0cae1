"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.core.indexes import Number
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-limit",
    version=1,
    produced_operators=["limit"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchLimit(BatchNode):
    """Some of the rows, whichever come first."""

    limit_start: Number
    """Rows that are left out at the beginning."""
    limit_end: Number | None
    """Number of the last row that is kept, counted from the beginning; None for all."""

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """OFFSET, then LIMIT."""
        frame = inputs[0].frame.offset(self.limit_start) if self.limit_start else inputs[0].frame
        return BatchRows(
            self.output_type, frame if self.limit_end is None else frame.limit(self.limit_end - self.limit_start)
        )

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The bounds are in order."""
        if self.limit_start < 0 or (self.limit_end is not None and self.limit_end < self.limit_start):
            raise self.fail(f"its bounds {self.limit_start} and {self.limit_end} are no part of the rows")
