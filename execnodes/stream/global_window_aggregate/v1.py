"""Version 1 (1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from execnodes.aggregates import accumulator_columns, accumulators, all_mergeable, argument, problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex, Scope
from execnodes.core.meaning import RowsMeaning, StateMeaning, call_of
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Applied, Outputs, applied, grouped
from execnodes.core.types import LogicalType
from execnodes.core.windowing import (
    NamedWindowProperty,
    SlicedWindowing,
    WindowSpec,
    step_problem,
    window_bound,
    window_times,
)
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.global_window_aggregate.v1_kernel import GlobalWindowAggregateOperator


@exec_node_metadata(
    name="stream-exec-global-window-aggregate",
    version=1,
    consumed_options=["table.local-time-zone", "table.exec.uid.format"],
    produced_operators=["global-window-aggregate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class GlobalWindowAggregate(ExecNode):
    """Second half of a GROUP BY over windows: one final row a window and key, when the watermark passes the window.

    A row is kept once, in its slice, however many windows it is in; slices that have missed all of their windows are
    dropped. Output: the keys, the results, the window's properties.
    """

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the local output."""
    agg_calls: tuple[AggregateCall, ...]
    """As in the local node: their columns are those of `local_agg_input_row_type`."""
    local_agg_input_row_type: LogicalType
    windowing: SlicedWindowing
    """Its slice's end is the last column of the input."""
    named_window_properties: tuple[NamedWindowProperty, ...] = ()
    """Output columns that tell start, end or time of the window."""

    def uids(self) -> tuple[str, ...]:
        """The aggregate's own."""
        return (self.uid("global-window-aggregate"),)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Keys, results and properties of the window."""
        return grouped(inputs[0], self.grouping, self.agg_calls, self.windowing, self.named_window_properties)

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, self.local_agg_input_row_type, grouped=True)

    def scope(self, name: str, around: Scope) -> Scope:
        """Calls read what the local node has read."""
        read = self.local_agg_input_row_type
        return around.over(read.fields, "localAggInputRowType") if name == "agg_calls" else around

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The input must be what the local node sends, and the output keys, results and properties."""
        read = self.local_agg_input_row_type
        found = problem((), self.agg_calls, read, False) or step_problem(self.windowing.window)
        if found is None and not all_mergeable(self.agg_calls, False):
            found = "a call has no partial results"
        if found is not None:
            raise self.fail(found)
        expected, fields = accumulator_columns(self.agg_calls, read, False), inputs[0].fields[:-1]
        first = len(fields) - len(expected)
        fits = first >= 0 and all(a.type.same_values(b.type) for a, b in zip(fields[first:], expected, strict=True))
        if not fits or self.windowing.slice_end != len(fields):
            names = ", ".join(field.name for field in expected)
            raise self.fail(f"its input must end in the accumulators {names} and the slice's end")
        if any(not 0 <= index < first for index in self.grouping):
            raise self.fail(f"its keys {self.grouping} are not all before the accumulators of its input")
        width = len(self.grouping) + len(self.agg_calls) + len(self.named_window_properties)
        if len(self.output_type.fields) != width:
            raise self.fail(f"{len(self.output_type.fields)} output columns for {width} keys, results and properties")

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """The time of the window, if it is event time."""
        if self.windowing.clocked:
            return frozenset()
        return window_times(self.named_window_properties, len(self.grouping) + len(self.agg_calls))

    @property
    def clocked(self) -> WindowSpec | None:
        """Its windows, by processing time."""
        return self.windowing.clocked

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One stateful operator over the key groups of the keys."""
        operator = self._operator(inputs[0].type, lowering.zone)
        return lowering.operator(self, operator, (OperatorInput(inputs[0], self.grouping),))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """A row a window and group; which rows were late depends on the watermark."""
        (rows,) = inputs
        keys, columns, window = rows.some(self.grouping), self._accumulators(rows), self._window(rows)
        results = []
        for call in self.agg_calls:
            # Accumulators are called after their call: ``total$sum`` means ``$SUM$1(t.v).sum``.
            first = accumulators(call, argument(call, self.local_agg_input_row_type), False)[0].name
            results.append(call_of(columns[first]))
        shown = (window_bound(each.property, window) for each in self.named_window_properties)
        says = "windows {window} by ({key}) of ({input}) in the time of {watermark}"
        origin = said("windows", says, window=window, key=frozenset(keys), input=rows.rows, watermark=rows.time)
        return rows.made(self.output_type, (*keys, *results, *shown), origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Accumulators of slices that windows still need, and the next window of each group."""
        from execnodes.kernels.aggregates.column_meanings import aggregation_columns
        from execnodes.state.state_meanings import state_meanings

        (rows,) = inputs
        operator = self._operator(rows.type, "UTC")
        keys = rows.some(self.grouping)
        further = (leaf("window", "end of the slice"), leaf("window", "first window"))
        columns = aggregation_columns(operator.aggregation, (*keys, *further), rows, self._accumulators(rows))
        own = {column.name: term for column, term in zip(operator.aggregation.keys, keys, strict=False)}
        parts = {"input": rows.rows, "window": self._window(rows), "watermark": rows.time}
        by_state = {each.name: own for each in operator.states} | columns
        return state_meanings(operator, self.metadata, inputs, parts, by_state)

    def _accumulators(self, rows: RowsMeaning) -> dict[str, Term]:
        """By the names that accumulators have in state; the local node's may be others."""
        columns = accumulator_columns(self.agg_calls, self.local_agg_input_row_type, False)
        behind = rows.columns[len(rows.columns) - 1 - len(columns) : -1]
        return {column.name: term for column, term in zip(columns, behind, strict=True)}

    def _window(self, rows: RowsMeaning) -> Term:
        return self.windowing.term(rows.columns, self.configuration.get("table.local-time-zone", "UTC"))

    def _operator(self, input_type: LogicalType, zone: str) -> GlobalWindowAggregateOperator:
        from execnodes.stream.global_window_aggregate.v1_kernel import GlobalWindowAggregateOperator

        return GlobalWindowAggregateOperator(
            uid=self.uids()[0],
            input_type=input_type,
            output_type=self.output_type,
            local_input_type=self.local_agg_input_row_type,
            grouping=self.grouping,
            calls=self.agg_calls,
            windowing=self.windowing,
            properties=tuple(each.property for each in self.named_window_properties),
            zone=self.configuration.get("table.local-time-zone", zone),
        )
