"""Version 1 (1.0)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypedDict

from execnodes.aggregates import problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import RowsMeaning, StateMeaning, call_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Applied, Outputs, applied, grouped
from execnodes.core.types import LogicalType
from execnodes.core.windowing import NamedWindowProperty, Windowing, step_problem, window_bound, window_times
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.window_aggregate.v1_kernel import WindowAggregateOperator


class OperatorParameters(TypedDict):
    """What an operator over windows is made with."""

    uid: str
    input_type: LogicalType
    output_type: LogicalType
    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    windowing: Windowing
    properties: tuple[str, ...]
    zone: str
    retract: bool


@exec_node_metadata(
    name="stream-exec-window-aggregate",
    version=1,
    consumed_options=["table.local-time-zone", "table.exec.uid.format"],
    produced_operators=["window-aggregate"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class WindowAggregate(ExecNode):
    """GROUP BY window_start, window_end and keys: one final row a window and key, when the watermark passes the window.

    Rows that come when their window has fired are dropped. Output: the keys, the results, the window's properties.
    """

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the input, without those of the window."""
    agg_calls: tuple[AggregateCall, ...]
    windowing: Windowing
    """Where a row's windows come from; no session windows."""
    named_window_properties: tuple[NamedWindowProperty, ...] = ()
    """Output columns that tell start, end or time of the window."""
    need_retraction: bool = False
    """The input retracts rows."""

    def uids(self) -> tuple[str, ...]:
        """The aggregate's own."""
        return (self.uid("window-aggregate"),)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Keys, results and properties of the window."""
        return grouped(inputs[0], self.grouping, self.agg_calls, self.windowing, self.named_window_properties)

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, inputs[0], grouped=True)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys, calls and window must fit the input, and the output its three parts."""
        found = self._calls_problem(inputs[0]) or self._window_problem(inputs[0])
        if found is not None:
            raise self.fail(found)
        width = len(self.grouping) + len(self.agg_calls) + len(self.named_window_properties)
        if len(self.output_type.fields) != width:
            raise self.fail(f"{len(self.output_type.fields)} output columns for {width} keys, results and properties")

    @property
    def needs_every_change(self) -> bool:
        """A window may fire between an update and its retraction."""
        return self.need_retraction

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """The time of the window."""
        return window_times(self.named_window_properties, len(self.grouping) + len(self.agg_calls))

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time, or the end of the window, that a row is in."""
        return (self.windowing.required_times,)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One stateful operator over the key groups of the keys; it assigns windows itself."""
        operator = self._operator(inputs[0].type, lowering.zone)
        return lowering.operator(self, operator, (OperatorInput(inputs[0], self.grouping),))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """A row a window and group; which rows were late depends on the watermark."""
        (rows,) = inputs
        keys, window = rows.some(self.grouping), self._window(rows)
        shown = (window_bound(each.property, window) for each in self.named_window_properties)
        columns = (*keys, *(call_term(call, rows) for call in self.agg_calls), *shown)
        says = "windows {window} by ({key}) of ({input}) in the time of {watermark}"
        origin = said("windows", says, window=window, key=frozenset(keys), input=rows.rows, watermark=rows.time)
        return rows.made(self.output_type, columns, origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Accumulators of each window and group that has not fired, and the values behind some of them."""
        from execnodes.kernels.aggregates.column_meanings import aggregation_columns
        from execnodes.state.state_meanings import state_meanings

        (rows,) = inputs
        operator = self._operator(rows.type, "UTC")
        keys = (*rows.some(self.grouping), *(leaf("window", each) for each in self._window_keys()))
        columns = aggregation_columns(operator.aggregation, keys, rows)
        changes = leaf("changes", "also taken back" if self.need_retraction else "only added")
        parts = {"input": rows.rows, "changes": changes, "window": self._window(rows), "watermark": rows.time}
        return state_meanings(operator, self.metadata, inputs, parts, columns)

    def _window_keys(self) -> tuple[str, ...]:
        return ("end of the window",)

    def _window(self, rows: RowsMeaning) -> Term:
        return self.windowing.term(rows.columns, self.configuration.get("table.local-time-zone", "UTC"))

    def _operator(self, input_type: LogicalType, zone: str) -> WindowAggregateOperator:
        from execnodes.stream.window_aggregate.v1_kernel import WindowAggregateOperator

        return WindowAggregateOperator(**self._parameters(input_type, zone))

    def _parameters(self, input_type: LogicalType, zone: str) -> OperatorParameters:
        return {
            "uid": self.uids()[0],
            "input_type": input_type,
            "output_type": self.output_type,
            "grouping": self.grouping,
            "calls": self.agg_calls,
            "windowing": self.windowing,
            "properties": tuple(each.property for each in self.named_window_properties),
            "zone": self.configuration.get("table.local-time-zone", zone),
            "retract": self.need_retraction,
        }

    def _calls_problem(self, input_type: LogicalType) -> str | None:
        return problem(self.grouping, self.agg_calls, input_type, self.need_retraction)

    def _window_problem(self, input_type: LogicalType) -> str | None:
        windowing = self.windowing
        found = step_problem(windowing.window)
        if found is not None:
            return found
        index = windowing.time_attribute_index if windowing.strategy == "TimeAttribute" else windowing.window_end
        if index is None or not 0 <= index < len(input_type.fields):
            return f"with {windowing.strategy} it must name the input column that tells the window"
        return None
