"""Version 1 (2.5)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from execnodes.common.joins import check_join, condition_terms, side_columns
from execnodes.core.indexes import LeftIndex, RightIndex
from execnodes.core.join_spec import JoinSpec
from execnodes.core.meaning import RowsMeaning, StateMeaning, times
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.outputs import Outputs, both_sides
from execnodes.core.types import TIMESTAMPS, LogicalType, TimeKind
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.temporal_join.v1_kernel import TemporalJoinOperator

_STATES = ("leftState", "rightState")
_GIVEN = "givenState"


@exec_node_metadata(
    name="stream-exec-temporal-join",
    version=1,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["temporal-join"],
    min_plan_version="2.5",
    min_state_version="2.5",
)
class TemporalJoin(ExecNode):
    """Joins each row with the version of a table that was valid at its event time, once the watermark has passed it."""

    INPUTS: ClassVar = range(2, 3)

    join_spec: JoinSpec
    """INNER or LEFT. The keys hold a key of the versions."""
    is_temporal_function_join: bool
    """Always false: the versions are a table, not a function of time."""
    left_time_attribute_index: LeftIndex
    right_time_attribute_index: RightIndex
    """The time from which on a version is valid."""
    newest_rows_only: bool
    """Whether a version that comes behind a newer one of its key is none: versions are the newest rows by time."""

    def uids(self) -> tuple[str, ...]:
        """One operator holds rows and versions."""
        return (self.uid("temporal-join"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the left input, which the types of its columns name."""
        fields = self.output_type.fields
        return frozenset(at for at, each in enumerate(fields) if each.type.kind is TimeKind.ROWTIME)

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The times of rows and of versions."""
        return ((self.left_time_attribute_index,), (self.right_time_attribute_index,))

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator with two inputs, both spread by the join key."""
        operator = self._operator(inputs[0].type, inputs[1].type)
        keys = (self.join_spec.left_keys, self.join_spec.right_keys)
        sides = (OperatorInput(rows, key) for rows, key in zip(inputs, keys, strict=True))
        return lowering.operator(self, operator, tuple(sides))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Both sides."""
        return both_sides(self.join_spec.join_type, inputs)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Times are timestamps of one type; keys and the rest of the condition as a join has them."""
        spec = self.join_spec
        if spec.join_type not in ("INNER", "LEFT"):
            raise self.fail(f"joinType is INNER or LEFT, not {spec.join_type}")
        if self.is_temporal_function_join:
            raise self.fail("isTemporalFunctionJoin is true, and temporal table functions are not supported")
        if not spec.left_keys:
            raise self.fail("it has no keys by which versions are found")
        found = []
        indexes = (self.left_time_attribute_index, self.right_time_attribute_index)
        for side, at in zip(inputs, indexes, strict=True):
            if not 0 <= at < len(side.fields):
                raise self.fail(f"time column {at} is no column of an input, {len(side.fields)} wide")
            found.append(side.fields[at].type)
        if found[0].root is not found[1].root or found[0].root not in TIMESTAMPS:
            raise self.fail(f"its time columns are {found[0]} and {found[1]}, not timestamps of one type")
        check_join(self, spec, inputs)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Left rows and what is joined to them; columns name their side, since both may read one table."""
        left, right = inputs
        columns = (*side_columns("left", left), *side_columns("right", right))
        made = left.made(self.output_type, columns, self._term(inputs))
        return replace(made, time=times(inputs), sources=left.sources | right.sources)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Left rows that wait, versions that may still be found and, to be taken back, rows that were given."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        operator = self._operator(inputs[0].type, inputs[1].type)
        columns = {state: row_columns(rows) for state, rows in zip(_STATES, inputs, strict=True)}
        columns[_GIVEN] = row_columns(self.meaning(inputs))
        return state_meanings(operator, self.metadata, inputs, {"join": self._term(inputs)}, columns)

    def _term(self, inputs: tuple[RowsMeaning, ...]) -> Term:
        left, right = inputs
        return said(
            "temporal join",
            "{type} join of ({left}) with {versions} in ({right}) as of {left_time}, which are valid from {right_time} "
            "on, on ({condition}) in the time of {watermark}",
            type=leaf("type of join", self.join_spec.join_type),
            versions=leaf("versions", "the newest rows" if self.newest_rows_only else "all versions"),
            left=left.rows,
            right=right.rows,
            left_time=left.columns[self.left_time_attribute_index],
            right_time=right.columns[self.right_time_attribute_index],
            condition=condition_terms(self.join_spec, left, right),
            watermark=times(inputs),
        )

    def _operator(self, left: LogicalType, right: LogicalType) -> TemporalJoinOperator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.temporal_join.v1_kernel import TemporalJoinOperator
        from execnodes.stream.temporal_join.v1_updates import TemporalJoinOfUpdates

        only_adds = self.changelog_mode.insert_only
        ttls = [parse_duration(self.state_ttl(each), "ttl") for each in (1, 2)]
        columns = [tuple(Column(each.name, each.type) for each in side.fields) for side in (left, right)]
        kernel = (
            TemporalJoinOperator if only_adds else partial(TemporalJoinOfUpdates, given=_GIVEN, given_ttl_ms=ttls[1])
        )
        return kernel(
            self.uid("temporal-join"),
            self.join_spec,
            (columns[0], columns[1]),
            tuple(Column(each.name, each.type) for each in self.output_type.fields),
            states=_STATES,
            times=(self.left_time_attribute_index, self.right_time_attribute_index),
            newest_rows_only=self.newest_rows_only,
            ttl_ms=ttls[0],
        )
