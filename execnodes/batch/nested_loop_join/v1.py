"""Version 1 (1.0)."""

from __future__ import annotations

from typing import ClassVar
from typing import Literal as Tag

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows, column_names, joined
from execnodes.core.expressions import Expression, input_indexes
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Outputs, both_sides
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-nested-loop-join",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["nested-loop-join"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchNestedLoopJoin(BatchNode):
    """Joins without equal keys: every pair of rows is looked at."""

    INPUTS: ClassVar = range(2, 3)

    join_type: Tag["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"]
    condition: Expression | None = None
    """Over the left columns, then the right ones; None: every pair matches."""
    single_row_join: bool = False
    """True if one side has at most one row."""

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """The condition as it is."""
        left, right = inputs
        columns = column_names(len(left.type.fields) + len(right.type.fields))
        condition = "TRUE" if self.condition is None else self.texts([self.condition], columns)[0]
        return joined(left, right, self.join_type, condition, self.output_type)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Both sides, or the left one."""
        return both_sides(self.join_type, inputs)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """All columns exist."""
        left, right = inputs
        width = len(left.fields) + len(right.fields)
        if self.condition is not None and max(input_indexes(self.condition), default=-1) >= width:
            raise self.fail(f"the condition of the join reads columns its inputs, {width} in all, do not have")
        if len(self.output_type.fields) != (len(left.fields) if self.join_type in ("SEMI", "ANTI") else width):
            raise self.fail(f"its output has {len(self.output_type.fields)} columns, which its inputs do not make")
