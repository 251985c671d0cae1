"""Version 1 (1.0)."""

from __future__ import annotations

from typing import ClassVar

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows, column_names, having_one, joined
from execnodes.core.expressions import input_indexes
from execnodes.core.join_spec import JoinSpec
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Outputs, both_sides
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-hash-join",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["hash-join"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchHashJoin(BatchNode):
    """Joins by equal keys; which side is kept in memory, or whether both are sorted, is left to Spark."""

    INPUTS: ClassVar = range(2, 3)

    join_spec: JoinSpec

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """Equalities, then the rest of the condition."""
        spec, (left, right) = self.join_spec, inputs
        if spec.join_type == "SEMI" and spec.filter_nulls == (True,) and spec.non_equi_condition is None:
            return having_one(left, right, spec.left_keys[0], spec.right_keys[0], self.output_type)
        width = len(left.type.fields)
        pairs = zip(spec.left_keys, spec.right_keys, spec.filter_nulls, strict=True)
        parts = [f"c{mine} {'=' if filters else '<=>'} c{width + its}" for mine, its, filters in pairs]
        if spec.non_equi_condition is not None:
            columns = column_names(width + len(right.type.fields))
            parts += (f"({text})" for text in self.texts([spec.non_equi_condition], columns))
        return joined(left, right, spec.join_type, " AND ".join(parts), self.output_type)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Both sides, or the left one."""
        return both_sides(self.join_spec.join_type, inputs)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """There are keys, and all columns exist."""
        spec, (left, right) = self.join_spec, inputs
        if not spec.left_keys or not len(spec.left_keys) == len(spec.right_keys) == len(spec.filter_nulls):
            raise self.fail("leftKeys, rightKeys and filterNulls of the join must be of one length, and not empty")
        for side, keys in ((left, spec.left_keys), (right, spec.right_keys)):
            if any(key >= len(side.fields) for key in keys):
                raise self.fail(f"join keys {keys} are not all columns of its input, which has {len(side.fields)}")
        width = len(left.fields) + len(right.fields)
        if spec.non_equi_condition is not None and max(input_indexes(spec.non_equi_condition), default=-1) >= width:
            raise self.fail(f"the condition of the join reads columns its inputs, {width} in all, do not have")
        if len(self.output_type.fields) != (width if spec.pairs else len(left.fields)):
            raise self.fail(f"its output has {len(self.output_type.fields)} columns, which its inputs do not make")
