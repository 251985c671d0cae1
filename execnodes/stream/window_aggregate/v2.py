"""Version 2 (1.3): also over sessions, whose bounds rows decide, and with aggregate functions of the user.

Version 1 had only windows that time decides, and functions of the system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execnodes.core.meaning import RowsMeaning, StateMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType
from execnodes.core.windowing import WindowSpec
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.stream.window_aggregate.v1 import WindowAggregate as Version1
from execnodes.terms.term import leaf
from execnodes.user_functions.mixed import windowed_problem

if TYPE_CHECKING:
    from execnodes.state.operator import Operator
    from execnodes.stream.window_aggregate.v1_kernel import WindowAggregateOperator
    from execnodes.stream.window_aggregate.v2_kernel import SessionAggregateOperator


@exec_node_metadata(
    name="stream-exec-window-aggregate",
    version=2,
    consumed_options=["table.local-time-zone", "table.exec.uid.format"],
    produced_operators=["window-aggregate"],
    min_plan_version="1.3",
    min_state_version="1.0",
)
class WindowAggregate(Version1):
    """GROUP BY window_start, window_end and keys: one final row a window and key, when the watermark passes the window.

    Rows that come when their window has fired are dropped. A session that is found by the time of rows has the keys of
    the grouping; with others a window table function gives its bounds, and they are read (WindowAttached).
    Output: the keys, the results, the window's properties.
    """

    @property
    def clocked(self) -> WindowSpec | None:
        """Its windows, by processing time."""
        return self.windowing.clocked

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """The time of the window, if it is event time."""
        return frozenset() if self.windowing.clocked else super().event_times(inputs)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One stateful operator over the key groups of the keys; it assigns windows itself."""
        operator: Operator
        if self._finds_sessions:
            operator = self._sessions(inputs[0].type, lowering.zone)
        else:
            operator = self._operator(inputs[0].type, lowering.zone)
        return lowering.operator(self, operator, (OperatorInput(inputs[0], self.grouping),))

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Of sessions that it finds, their parts, and what is kept of their rows."""
        if not self._finds_sessions:
            return super().state_meanings(inputs)
        from execnodes.kernels.aggregates import frame
        from execnodes.kernels.aggregates.column_meanings import aggregation_columns
        from execnodes.state.state_meanings import state_meanings

        (rows,) = inputs
        operator, keys = self._sessions(rows.type, "UTC"), rows.some(self.grouping)
        columns = aggregation_columns(operator.aggregation, (*keys, leaf("window", "part of the session")), rows)
        arguments = {frame.arg(at): term for at, term in enumerate(rows.columns)}
        kept = {**dict(zip(operator.keys, keys, strict=True)), **arguments}
        parts = {
            "input": rows.rows,
            "changes": leaf("changes", "also taken back" if self.need_retraction else "only added"),
            "window": self._window(rows),
            "watermark": rows.time,
            "kept": leaf("kept", "accumulators" if operator.merges else "rows"),
        }
        by_state = {each.name: kept for each in operator.states} | {operator.parts: columns[operator.parts]}
        return state_meanings(operator, self.metadata, inputs, parts, by_state)

    @property
    def _finds_sessions(self) -> bool:
        return self.windowing.window.type == "SessionWindow" and self.windowing.strategy == "TimeAttribute"

    def _window_keys(self) -> tuple[str, ...]:
        # No length tells where a session begins.
        return ("end of the window", "start of the window")[: 1 + (self.windowing.window.type == "SessionWindow")]

    def _sessions(self, input_type: LogicalType, zone: str) -> SessionAggregateOperator:
        from execnodes.stream.window_aggregate.v2_kernel import SessionAggregateOperator

        return SessionAggregateOperator(**self._parameters(input_type, zone))

    def _operator(self, input_type: LogicalType, zone: str) -> WindowAggregateOperator:
        from execnodes.stream.window_aggregate.v2_kernel import GivenSessionsOperator

        if self.windowing.window.type != "SessionWindow":
            return super()._operator(input_type, zone)
        return GivenSessionsOperator(**self._parameters(input_type, zone))

    def _calls_problem(self, input_type: LogicalType) -> str | None:
        return windowed_problem(self.grouping, self.agg_calls, input_type, self.need_retraction)

    def _window_problem(self, input_type: LogicalType) -> str | None:
        window, windowing = self.windowing.window, self.windowing
        if window.type != "SessionWindow":
            return super()._window_problem(input_type)
        if not window.gap or window.gap < 0:
            return "a SessionWindow needs a positive gap"
        if windowing.strategy == "WindowAttached":
            bounds = (windowing.window_start, windowing.window_end)
            given = all(each is not None and 0 <= each < len(input_type.fields) for each in bounds)
            return None if given else "with WindowAttached it must name the input columns of the session's bounds"
        index = windowing.time_attribute_index
        if index is None or not 0 <= index < len(input_type.fields):
            return "with TimeAttribute it must name the input column that tells the window"
        if set(window.partition_key_indices) != set(self.grouping):
            return "the keys of a SessionWindow must be those of the grouping"
        return None

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """Version 1 is this one without sessions."""
        return old
