"""Version 1 (2.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from execnodes.common.joins import check_join, condition_terms, side_columns
from execnodes.core.indexes import Scope
from execnodes.core.join_spec import JoinSpec
from execnodes.core.meaning import RowsMeaning, StateMeaning, times
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Outputs, both_sides
from execnodes.core.types import LogicalType, TimeKind
from execnodes.core.windowing import Windowing
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.window_join.v1_kernel import WindowJoinOperator

_STATES = ("leftState", "rightState")


@exec_node_metadata(
    name="stream-exec-window-join",
    version=1,
    consumed_options=["table.local-time-zone", "table.exec.uid.format"],
    produced_operators=["window-join"],
    min_plan_version="2.3",
    min_state_version="2.3",
)
class WindowJoin(ExecNode):
    """Joins rows of the same window: final rows, once the watermark has passed it. Its inputs only add rows."""

    INPUTS: ClassVar = range(2, 3)

    join_spec: JoinSpec
    """Without the equalities of the windows' bounds."""
    left_windowing: Windowing
    """WindowAttached: the left input has columns with the bounds of its window."""
    right_windowing: Windowing
    """WindowAttached; as of the left input, over the right one."""

    def scope(self, name: str, around: Scope) -> Scope:
        """Windows are those of one input each."""
        sides = ("left_windowing", "right_windowing")
        return around.side(sides.index(name)) if name in sides else around

    def uids(self) -> tuple[str, ...]:
        """One operator holds both sides."""
        return (self.uid("window-join"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of its inputs, which the types of its columns name."""
        fields = self.output_type.fields
        return frozenset(at for at, each in enumerate(fields) if each.type.kind is TimeKind.ROWTIME)

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The ends of the windows."""
        return (self.left_windowing.required_times, self.right_windowing.required_times)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator with two inputs, both spread by the join key."""
        operator = self._operator(inputs[0].type, inputs[1].type, lowering.zone)
        keys = (self.join_spec.left_keys, self.join_spec.right_keys)
        return lowering.operator(
            self, operator, tuple(OperatorInput(rows, key) for rows, key in zip(inputs, keys, strict=True))
        )

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Both sides, or the left one."""
        return both_sides(self.join_spec.join_type, inputs)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Windows stand in columns of both inputs; keys and the rest of the condition as a join has them."""
        for side, windowing in zip(inputs, (self.left_windowing, self.right_windowing), strict=True):
            bounds = (windowing.window_start, windowing.window_end)
            if windowing.strategy != "WindowAttached" or None in bounds:
                raise self.fail("leftWindowing and rightWindowing must be WindowAttached, with windowStart, windowEnd")
            if any(each is None or not 0 <= each < len(side.fields) for each in bounds):
                raise self.fail(f"window columns {bounds} are not all columns of an input, {len(side.fields)} wide")
            if windowing.clocked is not None:
                raise self.fail("windows by processing time cannot be joined")
        check_join(self, self.join_spec, inputs)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Pairs of rows; columns name their side, since both may read one table."""
        left, right = inputs
        columns = (*side_columns("left", left), *(side_columns("right", right) if self.join_spec.pairs else ()))
        made = left.made(self.output_type, columns, self._term(inputs))
        return replace(made, time=times(inputs), sources=left.sources | right.sources)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The rows of each side whose windows have not ended."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        operator = self._operator(inputs[0].type, inputs[1].type, "UTC")
        columns = {state: row_columns(rows) for state, rows in zip(_STATES, inputs, strict=True)}
        return state_meanings(operator, self.metadata, inputs, {"join": self._term(inputs)}, columns)

    def _term(self, inputs: tuple[RowsMeaning, ...]) -> Term:
        left, right = inputs
        zone = self.configuration.get("table.local-time-zone", "UTC")
        windowed = (
            said("windowed rows", "({input}) in {window}", input=rows.rows, window=windowing.term(rows.columns, zone))
            for rows, windowing in zip(inputs, (self.left_windowing, self.right_windowing), strict=True)
        )
        return said(
            "window join",
            "{type} join of {left} and {right} on ({condition}) in the time of {watermark}",
            type=leaf("type of join", self.join_spec.join_type),
            left=next(windowed),
            right=next(windowed),
            condition=condition_terms(self.join_spec, left, right),
            watermark=times(inputs),
        )

    def _operator(self, left: LogicalType, right: LogicalType, zone: str) -> WindowJoinOperator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.window_join.v1_kernel import WindowJoinOperator

        columns = [tuple(Column(each.name, each.type) for each in side.fields) for side in (left, right)]
        return WindowJoinOperator(
            self.uid("window-join"),
            self.join_spec,
            (columns[0], columns[1]),
            tuple(Column(each.name, each.type) for each in self.output_type.fields),
            states=_STATES,
            windowing=(self.left_windowing, self.right_windowing),
            zone=self.configuration.get("table.local-time-zone", zone),
        )
