"""Version 1 (1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from typing import Literal as Tag

from execnodes.core.expressions import AggregateCall, digest
from execnodes.core.meaning import RowsMeaning, StateMeaning, call_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.outputs import Applied, Outputs, over_applied, widened
from execnodes.core.over_spec import OverGroup, OverSpec
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.state.operator import Operator


@exec_node_metadata(
    name="stream-exec-over-aggregate",
    version=1,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["over-aggregate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class OverAggregate(ExecNode):
    """Functions OVER (PARTITION BY … ORDER BY …). Output: the input, then a column a call.

    Ordered by event time, rows are given out when the watermark has passed them; by processing time at once. Ordered by
    another column, rows are given out at once, and updated when rows come before them or go.
    """

    over_spec: OverSpec
    """Keys, order, frame and calls; one group."""
    time_attribute: Tag["ROW_TIME", "PROC_TIME", "NON_TIME"]
    """What the column is that rows are ordered by."""

    def uids(self) -> tuple[str, ...]:
        """One operator."""
        return (self.uid("over-aggregate"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time that rows are in order of."""
        return ((self._group.order_by.fields[0].index,),) if self.time_attribute == "ROW_TIME" else ()

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator, spread by the keys."""
        keys = self.over_spec.partition.fields
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], keys),))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and a column a call."""
        return widened(inputs[0], (call.type for group in self.over_spec.groups for call in group.agg_calls))

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls; none look ahead in a stream."""
        return over_applied(self.over_spec, inputs[0])

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """One group over columns of the input; a bounded frame goes by time."""
        spec, width = self.over_spec, len(inputs[0].fields)
        if spec.original_input_fields != width or len(spec.groups) != 1:
            raise self.fail(f"it must have one group over the {width} columns of its input")
        order = self._group.order_by.fields
        if len(order) != 1 or not order[0].is_ascending:
            raise self.fail("it must be ordered by one column, ascending")
        if any(each >= width for each in (order[0].index, *spec.partition.fields)):
            raise self.fail(f"keys and order must be columns of its input, which has {width}")
        bound, upper = self._group.lower_bound, self._group.upper_bound
        far = bound.offset.input_index - width if bound.offset is not None else -1
        fits = (bound.kind == "BOUNDED_WINDOW") == (bound.offset is not None) and far < len(spec.constants)
        if not fits or upper.kind != "CURRENT_ROW" or (bound.offset is not None and far < 0):
            raise self.fail("its frame must begin at a row before, told by a constant, and end at the current row")
        preceding = spec.preceding(self._group)
        if bound.offset is not None and (preceding is None or preceding < 0):
            raise self.fail("the bound of its frame must be a number of rows or milliseconds")
        if preceding is not None and self.time_attribute == "NON_TIME":
            raise self.fail("a bounded frame must be ordered by a time attribute")
        for call in self._group.agg_calls:
            columns = call.arg_list[:1] if call.internal_name == "$LAG$1" else call.arg_list
            if call.user_name and call.accumulator is None:
                raise self.fail(f"{call.name}: the accumulator of {call.user_name} is missing")
            if call.user_name and call.distinct and len(call.arg_list) != 1:
                raise self.fail(f"{call.name}: DISTINCT with OVER takes one argument")
            if call.filter_arg >= 0 or any(at >= width for at in columns):
                raise self.fail(f"{call.name}: it reads what is no column of its input")
            if any(not width <= at < width + len(spec.constants) for at in call.arg_list[len(columns) :]):
                raise self.fail(f"{call.name}: offset and default of LAG are constants")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The rows of the input with results, which hang on all of them; which were late depends on the watermark."""
        (rows,) = inputs
        window = self._window(rows)
        results = (
            said("over", "{call} over {window}", call=self._call(call, rows), window=window)
            for call in self._group.agg_calls
        )
        says, parts = "rows over {window} of ({input})", {"window": window, "input": rows.rows}
        if self.time_attribute == "ROW_TIME":
            says, parts["watermark"] = says + " in the time of {watermark}", rows.time
        return rows.made(self.output_type, (*rows.columns, *results), said("rows over", says, **parts))

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Rows that wait or are in frames still, and accumulators before the next row."""
        from execnodes.state.state_meanings import state_meanings
        from execnodes.stream.over_aggregate.v1_columns import state_columns

        (rows,) = inputs
        operator = self._operator(rows.type)
        parts = {"input": rows.rows, "window": self._window(rows)}
        if self.time_attribute == "ROW_TIME":
            parts["watermark"] = rows.time
        calls = {call.name: self._call(call, rows) for call in self._calls(rows.type)}
        columns = state_columns(operator, rows, self.over_spec.partition.fields, calls)
        return state_meanings(operator, self.metadata, inputs, parts, columns)

    def _window(self, rows: RowsMeaning) -> Term:
        order, start = self._group.order_by.fields[0], self.over_spec.preceding(self._group)
        return said(
            "window of rows",
            "({key}) by {order} nulls {nulls} {frame} {start}",
            key=rows.keys(self.over_spec.partition.fields),
            order=rows.columns[order.index],
            nulls=leaf("nulls", "last" if order.null_is_last else "first"),
            frame=leaf("frame", "ROWS" if self._group.is_rows else "RANGE"),
            start=leaf("start", "unbounded" if start is None else str(start)),
        )

    def _call(self, call: AggregateCall, rows: RowsMeaning) -> Term:
        width = self.over_spec.original_input_fields
        constants = [leaf("literal", digest(self.over_spec.constant(at), ())) for at in call.arg_list if at >= width]
        read = call.model_copy(update={"arg_list": tuple(at for at in call.arg_list if at < width)})
        found = call_term(read, rows)
        return said("over call", "{call} with {constant}", call=found, constant=constants) if constants else found

    @property
    def _group(self) -> OverGroup:
        return self.over_spec.groups[0]

    def _calls(self, type: LogicalType) -> tuple[AggregateCall, ...]:
        """The calls by names that no column of the input has: who else reads the input may have named its columns."""
        from execnodes.state.kernel_types import free_name

        taken, calls = {each.name for each in type.fields}, []
        for call in self._group.agg_calls:
            name = free_name(call.name, taken)
            taken.add(name)
            calls.append(call if name == call.name else call.model_copy(update={"name": name}))
        return tuple(calls)

    def _operator(self, type: LogicalType) -> Operator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.over_aggregate.v1_changes import OverChanges
        from execnodes.stream.over_aggregate.v1_event_time import OverByTime
        from execnodes.stream.over_aggregate.v1_frames import Frame
        from execnodes.stream.over_aggregate.v1_functions import OverFunctions
        from execnodes.stream.over_aggregate.v1_kernel import OverByArrival, OverShape
        from execnodes.stream.over_aggregate.v1_range import OverByRange

        time, preceding = self.time_attribute, self.over_spec.preceding(self._group)
        # Without a beginning, no two rows come at one processing time.
        by_rows = self._group.is_rows or (time == "PROC_TIME" and preceding is None)
        functions = OverFunctions(
            tuple(Column(each.name, each.type) for each in type.fields),
            self._calls(type),
            self.over_spec.constants,
            Frame(by_rows, preceding),
        )
        output = (*functions.input, *(Column(call.name, call.type) for call in functions.calls))
        keys, ttl = self.over_spec.partition.fields, parse_duration(self.state_ttl(), "ttl")
        shape = OverShape(self.uids()[0], output, keys, functions, ttl)
        order = self._group.order_by.fields[0]
        if time == "ROW_TIME":
            by_range = preceding is not None and not by_rows
            return (OverByRange if by_range else OverByTime)(shape, order.index)
        if time == "PROC_TIME":
            by_range = preceding is not None and not by_rows
            return OverByArrival(shape, kept_ms=(preceding or 0) * 3 // 2 + 1 if by_range else 0)
        return OverChanges(shape, order.index, nulls_last=order.null_is_last)
