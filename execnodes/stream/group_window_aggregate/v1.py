"""Version 1 (1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import RowsMeaning, StateMeaning, call_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.outputs import Applied, Outputs, applied, grouped
from execnodes.core.types import LogicalType
from execnodes.core.windowing import NamedWindowProperty, Windowing, WindowSpec, window_bound, window_times
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said
from execnodes.user_functions.mixed import windowed_problem

if TYPE_CHECKING:
    from execnodes.stream.group_window_aggregate.v1_kernel import GroupWindowAggregateOperator


@exec_node_metadata(
    name="stream-exec-group-window-aggregate",
    version=1,
    consumed_options=[
        "table.local-time-zone",
        "table.exec.emit.allow-lateness",
        "table.exec.emit.early-fire.enabled",
        "table.exec.uid.format",
    ],
    produced_operators=["group-window-aggregate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class GroupWindowAggregate(ExecNode):
    """GROUP BY TUMBLE(…) or HOP(…) of old, where a window is updated after it was given, or its steps do not fill it.

    Early fire: a window is given with each micro-batch that changes it, before the watermark passes it, too. Allowed
    lateness: it is updated by rows that come so long after. Output: the keys, the results, the window's properties.
    """

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the input, without the window."""
    agg_calls: tuple[AggregateCall, ...]
    windowing: Windowing
    """Strategy TimeAttribute; a TumblingWindow, or a HoppingWindow of any size and slide."""
    named_window_properties: tuple[NamedWindowProperty, ...] = ()
    """Output columns that tell start, end or time of the window."""
    need_retraction: bool = False
    """The input retracts rows."""
    generate_update_before: bool = False
    """Emit -U before +U."""

    def uids(self) -> tuple[str, ...]:
        """The aggregate's own."""
        return (self.uid("group-window-aggregate"),)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Keys, results and properties of the window."""
        return grouped(inputs[0], self.grouping, self.agg_calls, self.windowing, self.named_window_properties)

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, inputs[0], grouped=True)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys, calls and window must fit the input, and the output its three parts."""
        found = windowed_problem(self.grouping, self.agg_calls, inputs[0], self.need_retraction)
        window, index = self.windowing.window, self.windowing.time_attribute_index
        step = window.slide if window.type == "HoppingWindow" else window.size
        if found is None and window.type not in ("TumblingWindow", "HoppingWindow"):
            found = f"this version cannot aggregate over a {window.type}"
        if found is None and not (window.size and step and window.size > 0 and step > 0):
            found = f"a {window.type} needs positive lengths"
        if found is None and (index is None or not 0 <= index < len(inputs[0].fields)):
            found = "it must name the input column of the time attribute"
        width = len(self.grouping) + len(self.agg_calls) + len(self.named_window_properties)
        if found is None and len(self.output_type.fields) != width:
            found = f"{len(self.output_type.fields)} output columns for {width} keys, results and properties"
        if found is not None:
            raise self.fail(found)

    @property
    def needs_every_change(self) -> bool:
        """A window may fire between an update and its retraction."""
        return self.need_retraction

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """The time of the window, if it is event time and the window is never updated."""
        if self._updates or self.windowing.clocked:
            return frozenset()
        return window_times(self.named_window_properties, len(self.grouping) + len(self.agg_calls))

    @property
    def clocked(self) -> WindowSpec | None:
        """Its windows, by processing time."""
        return self.windowing.clocked

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time, or the end of the window, that a row is in."""
        return (self.windowing.required_times,)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One stateful operator over the key groups of the keys."""
        operator = self._operator(inputs[0].type, lowering.zone)
        return lowering.operator(self, operator, (OperatorInput(inputs[0], self.grouping),))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """A row a window and group; which rows were late depends on the watermark."""
        (rows,) = inputs
        keys, window = rows.some(self.grouping), self._window(rows)
        shown = (window_bound(each.property, window) for each in self.named_window_properties)
        columns = (*keys, *(call_term(call, rows) for call in self.agg_calls), *shown)
        origin = said(
            "windows",
            "windows {window} {emits} by ({key}) of ({input}) in the time of {watermark}",
            window=window,
            emits=self._emits,
            key=frozenset(keys),
            input=rows.rows,
            watermark=rows.time,
        )
        return rows.made(self.output_type, columns, origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Accumulators of each window and group that may still change, and which of them have not been given."""
        from execnodes.kernels.aggregates.column_meanings import aggregation_columns
        from execnodes.state.state_meanings import state_meanings

        (rows,) = inputs
        operator = self._operator(rows.type, "UTC")
        keys = (*rows.some(self.grouping), leaf("window", "end of the window"))
        columns = aggregation_columns(operator.aggregation, keys, rows)
        waiting = dict(zip((each.name for each in operator.aggregation.keys), keys, strict=True))
        parts = {
            "input": rows.rows,
            "changes": leaf("changes", "also taken back" if self.need_retraction else "only added"),
            "window": self._window(rows),
            "emits": self._emits,
            "watermark": rows.time,
        }
        return state_meanings(operator, self.metadata, inputs, parts, {operator.waiting: waiting, **columns})

    @property
    def _lateness(self) -> int:
        return parse_duration(self.option("table.exec.emit.allow-lateness"))

    @property
    def _early(self) -> bool:
        return self.option("table.exec.emit.early-fire.enabled") == "true"

    @property
    def _updates(self) -> bool:
        return self._early or self._lateness > 0

    @property
    def _emits(self) -> Term:
        return leaf("emits", f"{'early, ' if self._early else ''}{self._lateness} ms late")

    def _window(self, rows: RowsMeaning) -> Term:
        return self.windowing.term(rows.columns, self.configuration.get("table.local-time-zone", "UTC"))

    def _operator(self, input_type: LogicalType, zone: str) -> GroupWindowAggregateOperator:
        from execnodes.stream.group_window_aggregate.v1_kernel import GroupWindowAggregateOperator

        return GroupWindowAggregateOperator(
            uid=self.uids()[0],
            input_type=input_type,
            output_type=self.output_type,
            grouping=self.grouping,
            calls=self.agg_calls,
            windowing=self.windowing,
            properties=tuple(each.property for each in self.named_window_properties),
            zone=self.configuration.get("table.local-time-zone", zone),
            retract=self.need_retraction,
            update_before=self.generate_update_before,
            early=self._early,
            lateness_ms=self._lateness,
        )
