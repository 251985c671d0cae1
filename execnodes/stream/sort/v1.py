"""Version 1 (1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.meaning import RowsMeaning, StateMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import said

if TYPE_CHECKING:
    from execnodes.stream.sort.v1_kernel import SortAtEnd


@exec_node_metadata(
    name="stream-exec-sort",
    version=1,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["sort"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class Sort(ExecNode):
    """All rows that are there at the end of the input, in order. Its sources end by themselves."""

    order_by: SortSpec

    def uids(self) -> tuple[str, ...]:
        """One operator."""
        return (self.uid("sort"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator; all rows go to one place."""
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], ()),))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Columns exist, the output has the columns of the input."""
        width = len(inputs[0].fields)
        if not self.order_by.fields or any(not 0 <= each.index < width for each in self.order_by.fields):
            raise self.fail("it sorts by a column that its input does not have")
        if len(self.output_type.fields) != width:
            raise self.fail("its output must have the columns of its input")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The same rows, without those that are taken back."""
        (rows,) = inputs
        order = self.order_by.terms(rows.columns)
        origin = said("sorted", "({input}) in order of [{order}]", input=rows.rows, order=order)
        return rows.made(self.output_type, rows.columns, origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Rows that wait; in which order they will be given decides nothing yet."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        (rows,) = inputs
        operator = self._operator(rows.type)
        columns = {each.name: row_columns(rows) for each in operator.states}
        return state_meanings(operator, self.metadata, inputs, {"input": rows.rows}, columns)

    def _operator(self, type: LogicalType) -> SortAtEnd:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.sort.v1_kernel import SortAtEnd

        columns = tuple(Column(each.name, each.type) for each in type.fields)
        return SortAtEnd(self.uid("sort"), columns, self.order_by)
