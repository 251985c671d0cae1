"""Version 1 (1.0)."""

from __future__ import annotations

import sys
from functools import reduce
from typing import ClassVar

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-union",
    version=1,
    produced_operators=["union"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchUnion(BatchNode):
    """Puts the rows of its inputs together; keeps duplicates."""

    INPUTS: ClassVar = range(1, sys.maxsize)

    @property
    def keeps_rows(self) -> bool:
        """They stay as they are."""
        return True

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """By position; where rows are from is known on if all inputs say it alike."""
        origin = inputs[0].origin
        if any(each.origin != origin for each in inputs):
            inputs, origin = tuple(each.plain() for each in inputs), ()
        frame = reduce(lambda left, right: left.unionAll(right), (each.frame for each in inputs))
        return BatchRows(self.output_type, frame, origin)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """All inputs have the columns of the output."""
        for number, each in enumerate(inputs):
            same = len(each.fields) == len(self.output_type.fields) and all(
                mine.type.same_values(its.type) for mine, its in zip(self.output_type.fields, each.fields, strict=True)
            )
            if not same:
                raise self.fail(f"its input {number} has the type {each}, not {self.output_type}")
