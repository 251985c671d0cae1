"""Version 2 (1.3): also sessions, whose rows are kept until the session ends; version 1 keeps nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from execnodes.core.meaning import RowsMeaning, StateMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType
from execnodes.core.windowing import WindowSpec
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.stream.window_table_function.v1 import WindowTableFunction as Version1
from execnodes.terms.term import said

if TYPE_CHECKING:
    from execnodes.stream.window_table_function.v2_kernel import SessionRowsOperator


@exec_node_metadata(
    name="stream-exec-window-table-function",
    version=2,
    consumed_options=["table.local-time-zone", "table.exec.uid.format"],
    produced_operators=["window"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class WindowTableFunction(Version1):
    """Adds window_start, window_end and window_time to each row, and repeats rows that are in several windows.

    Rows of a session come when the watermark has passed it; those that come later are dropped.
    """

    def uids(self) -> tuple[str, ...]:
        """Only sessions keep state."""
        return (self.uid("window"),) if self._finds_sessions else ()

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """A session has a gap, keys and a time among the columns of the input."""
        if not self._finds_sessions:
            super().check(inputs)
            return
        window, width = self.windowing.window, len(inputs[0].fields)
        if not window.gap or window.gap < 0:
            raise self.fail("a SessionWindow needs a positive gap")
        index = self.windowing.time_attribute_index
        if index is None or not all(0 <= each < width for each in (index, *window.partition_key_indices)):
            raise self.fail("the time and the keys of a SessionWindow must be columns of the input")
        if len(self.output_type.fields) != width + 3:
            raise self.fail("its output must be the columns of its input, window_start, window_end and window_time")

    @property
    def clocked(self) -> WindowSpec | None:
        """Sessions, by processing time."""
        return self.windowing.clocked if self._finds_sessions else None

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input, and window_time of event time."""
        return inputs[0] if self.windowing.clocked else super().event_times(inputs)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """Sessions: an operator, spread by their keys; else one branch for each window that a row can be in."""
        if not self._finds_sessions:
            return super().lower(lowering, inputs)
        operator = self._sessions(inputs[0].type, lowering.zone)
        return lowering.operator(
            self, operator, (OperatorInput(inputs[0], self.windowing.window.partition_key_indices),)
        )

    @property
    def needs_every_change(self) -> bool:
        """A session may end between an update and its retraction."""
        return self._finds_sessions and not self.changelog_mode.insert_only

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Each row once for each of its windows; which rows were late for their session depends on the watermark."""
        (rows,) = inputs
        found = super().meaning(inputs)
        if not self._finds_sessions:
            return found
        origin = said("timely", "{of} in the time of {watermark}", of=found.origin, watermark=rows.time)
        return replace(found, origin=origin.shortened())

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Of sessions, their parts and their rows."""
        if not self._finds_sessions:
            return ()
        from execnodes.kernels.aggregates import frame
        from execnodes.state.state_meanings import state_meanings

        (rows,) = inputs
        operator = self._sessions(rows.type, "UTC")
        keys = rows.some(self.windowing.window.partition_key_indices)
        kept = {frame.arg(at): term for at, term in enumerate(rows.columns)}
        kept |= dict(zip(operator.keys, keys, strict=True))
        zone = self.configuration.get("table.local-time-zone", "UTC")
        parts = {"input": rows.rows, "window": self.windowing.term(rows.columns, zone), "watermark": rows.time}
        return state_meanings(operator, self.metadata, inputs, parts, {each.name: kept for each in operator.states})

    @property
    def _finds_sessions(self) -> bool:
        return self.windowing.window.type == "SessionWindow"

    def _sessions(self, input_type: LogicalType, zone: str) -> SessionRowsOperator:
        from execnodes.stream.window_table_function.v2_kernel import SessionRowsOperator

        return SessionRowsOperator(
            self.uid("window"), input_type, self.output_type, self.windowing,
            self.configuration.get("table.local-time-zone", zone),
        )  # fmt: skip

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """Version 1 is this one without sessions."""
        return old
