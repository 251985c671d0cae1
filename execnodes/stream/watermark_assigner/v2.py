"""Version 2 (1.1): the option that says what lateness is judged by has the name of what it is about.

Plans of version 1 store it under its old name, which is read as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from execnodes.core.expressions import Expression, input_indexes
from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import RowsMeaning, StateMeaning, expression_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Branch, Lowering, Rows
from execnodes.terms.term import leaf, said

if TYPE_CHECKING:
    from execnodes.state.kernel_types import Column
    from execnodes.state.operator import Operator

_RENAMED = {"table.exec.watermark.granularity": "table.exec.lateness.granularity"}


@exec_node_metadata(
    name="stream-exec-watermark-assigner",
    version=1,
    consumed_options=["table.exec.watermark.granularity", "table.exec.source.idle-timeout", "table.exec.uid.format"],
    produced_operators=["watermark-assigner"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
@exec_node_metadata(
    name="stream-exec-watermark-assigner",
    version=2,
    consumed_options=["table.exec.lateness.granularity", "table.exec.source.idle-timeout", "table.exec.uid.format"],
    produced_operators=["watermark-assigner"],
    min_plan_version="1.1",
    min_state_version="1.0",
)
class WatermarkAssigner(ExecNode):
    """Makes a column the event time of the rows and derives watermarks from it."""

    watermark_expr: Expression
    """Watermark that a row moves the stream to; over the input."""
    rowtime_field_index: ColumnIndex
    """Input column that becomes the time attribute."""

    def uids(self) -> tuple[str, ...]:
        """With row granularity the watermark itself is state."""
        return (self.uid("watermark-assigner"),) if self.state else ()

    @property
    def has_watermarks(self) -> bool:
        """It makes them."""
        return True

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input and its own."""
        return inputs[0] | {self.rowtime_field_index}

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """The same columns, with an event time."""
        # Scalar functions are looked up when a plan runs; compiling does not need them.
        from execnodes import functions

        def watermark(branch: Branch) -> str:
            return functions.lower(self.watermark_expr, branch.columns, lowering.zone)

        rows = Rows(self.output_type, inputs[0].branches)
        return lowering.assign_watermark(self, rows, self.watermark_expr, watermark, self._operator)

    def _operator(self, columns: tuple[Column, ...]) -> Operator:
        from execnodes.stream.watermark_assigner.v1_kernel import RowWatermarkOperator

        return RowWatermarkOperator(self.uid("watermark-assigner"), columns)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The same rows, with a time."""
        (rows,) = inputs
        watermark = expression_term(self.watermark_expr, rows)
        column = rows.columns[self.rowtime_field_index]
        time = said("watermark", "watermark {watermark} for {column}", watermark=watermark, column=column)
        return replace(rows, type=self.output_type, time=time)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The watermark that the rows so far have moved the stream to."""
        if not self.state:
            return ()
        from execnodes.state.state_meanings import state_meanings
        from execnodes.stream.watermark_assigner.v1_kernel import STATE

        parts = {"input": inputs[0].rows, "watermark": self.meaning(inputs).time}
        columns = {STATE: {"watermark": leaf("watermark", "largest so far")}}
        return state_meanings(self._operator(()), self.metadata, inputs, parts, columns)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Time column and watermark read columns that the input has."""
        width = len(inputs[0].fields)
        if max({self.rowtime_field_index, *input_indexes(self.watermark_expr)}) >= width:
            raise self.fail(f"it reads a column that its input of {width} columns does not have")

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """The option under its new name."""
        options = {_RENAMED.get(key, key): value for key, value in old.get("configuration", {}).items()}
        return {**old, "configuration": dict(sorted(options.items()))}
