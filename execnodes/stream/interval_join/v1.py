"""Version 1 (2.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from execnodes.common.joins import check_join, condition_terms, side_columns
from execnodes.core.interval_join_spec import IntervalJoinSpec
from execnodes.core.meaning import RowsMeaning, StateMeaning, times
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import LONGEST
from execnodes.core.outputs import Outputs, both_sides
from execnodes.core.types import TIMESTAMPS, LogicalType, TimeKind
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.interval_join.v1_kernel import IntervalJoinOperator

_STATES = ("leftState", "rightState")


@exec_node_metadata(
    name="stream-exec-interval-join",
    version=1,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["interval-join"],
    min_plan_version="2.4",
    min_state_version="2.4",
)
class IntervalJoin(ExecNode):
    """Joins rows whose event times are so far apart at most. Its inputs only add rows, and so does it.

    Rows meet as they come; one that meets none is given, padded, once the watermark has passed all that it might meet.
    """

    INPUTS: ClassVar = range(2, 3)

    interval_join_spec: IntervalJoinSpec
    """Of event times."""

    def uids(self) -> tuple[str, ...]:
        """One operator holds both sides."""
        return (self.uid("interval-join"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of its inputs, which the types of its columns name."""
        fields = self.output_type.fields
        return frozenset(at for at, each in enumerate(fields) if each.type.kind is TimeKind.ROWTIME)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator with two inputs, both spread by the join key."""
        spec = self.interval_join_spec.join_spec
        sides = zip(inputs, (spec.left_keys, spec.right_keys), strict=True)
        operator = self._operator(inputs[0].type, inputs[1].type)
        return lowering.operator(self, operator, tuple(OperatorInput(rows, keys) for rows, keys in sides))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Both sides."""
        return both_sides(self.interval_join_spec.join_spec.join_type, inputs)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Times are event times of one type; keys and the rest of the condition as a join has them."""
        spec, bounds = self.interval_join_spec.join_spec, self.interval_join_spec.window_bounds
        if not spec.pairs:
            raise self.fail(f"joinType is INNER, LEFT, RIGHT or FULL, not {spec.join_type}")
        if not bounds.is_event_time:
            raise self.fail("interval joins by processing time are not supported")
        if max(abs(bounds.left_lower_bound), abs(bounds.left_upper_bound)) > LONGEST:
            raise self.fail(f"the bounds of its times are beyond {LONGEST:.0e} ms")
        found = []
        for side, at in zip(inputs, (bounds.left_time_index, bounds.right_time_index), strict=True):
            if not 0 <= at < len(side.fields):
                raise self.fail(f"time column {at} is no column of an input, {len(side.fields)} wide")
            found.append(side.fields[at].type)
        if found[0].root is not found[1].root or found[0].root not in TIMESTAMPS:
            raise self.fail(f"its time columns are {found[0]} and {found[1]}, not timestamps of one type")
        check_join(self, spec, inputs)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Pairs of rows; columns name their side, since both may read one table."""
        left, right = inputs
        columns = (*side_columns("left", left), *side_columns("right", right))
        made = left.made(self.output_type, columns, self._term(inputs))
        return replace(made, time=times(inputs), sources=left.sources | right.sources)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The rows of each side that others may still meet and, where they are given alone, whether any has."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        operator = self._operator(inputs[0].type, inputs[1].type)
        columns = {state: row_columns(rows) for state, rows in zip(_STATES, inputs, strict=True)}
        return state_meanings(operator, self.metadata, inputs, {"join": self._term(inputs)}, columns)

    def _term(self, inputs: tuple[RowsMeaning, ...]) -> Term:
        (left, right), bounds = inputs, self.interval_join_spec.window_bounds
        return said(
            "interval join",
            "{type} join of ({left}) and ({right}) on ({condition}) where {left_time} - {right_time} is {bounds} "
            "in the time of {watermark}",
            type=leaf("type of join", self.interval_join_spec.join_spec.join_type),
            left=left.rows,
            right=right.rows,
            condition=condition_terms(self.interval_join_spec.join_spec, left, right),
            left_time=left.columns[bounds.left_time_index],
            right_time=right.columns[bounds.right_time_index],
            bounds=leaf("bounds", f"{bounds.left_lower_bound} ms to {bounds.left_upper_bound} ms"),
            watermark=times(inputs),
        )

    def _operator(self, left: LogicalType, right: LogicalType) -> IntervalJoinOperator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.interval_join.v1_kernel import IntervalJoinOperator

        bounds = self.interval_join_spec.window_bounds
        columns = [tuple(Column(each.name, each.type) for each in side.fields) for side in (left, right)]
        return IntervalJoinOperator(
            self.uid("interval-join"),
            self.interval_join_spec.join_spec,
            (columns[0], columns[1]),
            tuple(Column(each.name, each.type) for each in self.output_type.fields),
            states=_STATES,
            times=(bounds.left_time_index, bounds.right_time_index),
            bounds=(bounds.left_lower_bound, bounds.left_upper_bound),
        )
