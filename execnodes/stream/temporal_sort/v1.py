"""Version 1 (1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.meaning import RowsMeaning, StateMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import TIMESTAMPS, LogicalType, TimeKind
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import said

if TYPE_CHECKING:
    from execnodes.state.operator import Operator


@exec_node_metadata(
    name="stream-exec-temporal-sort",
    version=1,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["temporal-sort"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class TemporalSort(ExecNode):
    """Rows in order of a time attribute, then of other columns. Its input only adds rows.

    Rows wait until the watermark has passed them. By processing time there is nothing to wait for: the rows of a
    micro-batch are one moment.
    """

    order_by: SortSpec
    """The first field is a time attribute, ascending."""

    def uids(self) -> tuple[str, ...]:
        """One operator, which keeps rows only by event time."""
        return () if self._by_arrival(self.output_type) else (self.uid("temporal-sort"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time that it sorts by."""
        return ((self.order_by.fields[0].index,),)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator; all rows go to one place."""
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], ()),))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Columns exist, the first is a time in ascending order, the output has the columns of the input."""
        fields = inputs[0].fields
        if not self.order_by.fields or any(not 0 <= each.index < len(fields) for each in self.order_by.fields):
            raise self.fail("it sorts by a column that its input does not have")
        first = self.order_by.fields[0]
        if fields[first.index].type.root not in TIMESTAMPS or not first.is_ascending:
            raise self.fail(f"it must sort by a time first, in ascending order, not by {fields[first.index].name}")
        if len(self.output_type.fields) != len(fields):
            raise self.fail("its output must have the columns of its input")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The same rows, less those that come too late."""
        (rows,) = inputs
        if self._by_arrival(rows.type):
            return rows.passed(self.output_type)
        time = rows.columns[self.order_by.fields[0].index]
        says = "({input}) in order of {order} in the time of {watermark}"
        origin = said("ordered", says, input=rows.rows, order=time, watermark=rows.time)
        return rows.made(self.output_type, rows.columns, origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Rows that wait, and the time of the last that was given out."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        (rows,) = inputs
        if not self.uids():
            return ()
        operator, (order, *_) = self._operator(rows.type), self.order_by.terms(rows.columns)
        parts = {"input": rows.rows, "order": order, "watermark": rows.time}
        columns = {each.name: row_columns(rows) for each in operator.states}
        return state_meanings(operator, self.metadata, inputs, parts, columns)

    def _by_arrival(self, type: LogicalType) -> bool:
        return type.fields[self.order_by.fields[0].index].type.kind is TimeKind.PROCTIME

    def _operator(self, type: LogicalType) -> Operator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.temporal_sort.v1_kernel import SortByArrival, SortByTime

        columns = tuple(Column(each.name, each.type) for each in type.fields)
        kind = SortByArrival if self._by_arrival(type) else SortByTime
        return kind(self.uid("temporal-sort"), columns, self.order_by)
