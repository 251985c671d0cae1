"""Version 1 (1.0)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from execnodes.core.expressions import input_indexes
from execnodes.core.indexes import LeftIndex, RightIndex
from execnodes.core.join_spec import JoinSpec
from execnodes.core.meaning import RowsMeaning, StateMeaning, expression_term, times
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.outputs import Outputs, both_sides
from execnodes.core.predicates import supported
from execnodes.core.types import TEXTS, LogicalType, Root
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.join.v1_kernel import JoinOperator


@exec_node_metadata(
    name="stream-exec-join",
    version=1,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["join"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class Join(ExecNode):
    """Joins two changelogs; both sides are kept, so that a row meets those that came before it."""

    INPUTS: ClassVar = range(2, 3)

    join_spec: JoinSpec
    left_upsert_keys: tuple[tuple[LeftIndex, ...], ...] = ()
    """Sets of left columns, each of which identifies a row."""
    right_upsert_keys: tuple[tuple[RightIndex, ...], ...] = ()
    """Sets of right columns, each of which identifies a row."""

    def uids(self) -> tuple[str, ...]:
        """One operator holds both sides."""
        return (self.uid("join"),)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator with two inputs, both spread by the join key."""
        operator = self._operator(inputs[0].type, inputs[1].type)
        keys = (self.join_spec.left_keys, self.join_spec.right_keys)
        return lowering.operator(
            self, operator, tuple(OperatorInput(rows, key) for rows, key in zip(inputs, keys, strict=True))
        )

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Both sides, or the left one."""
        return both_sides(self.join_spec.join_type, inputs)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys exist, are pairwise of one type, and the rest of the condition can be evaluated in the operator."""
        spec, (left, right) = self.join_spec, inputs
        if not len(spec.left_keys) == len(spec.right_keys) == len(spec.filter_nulls):
            raise self.fail("leftKeys, rightKeys and filterNulls of the join differ in length")
        for side, keys in ((left, spec.left_keys), (right, spec.right_keys)):
            if any(key >= len(side.fields) for key in keys):
                raise self.fail(f"join keys {keys} are not all columns of its input, which has {len(side.fields)}")
        for a, b in zip(spec.left_keys, spec.right_keys, strict=True):
            if not _same_key_values(left.fields[a].type, right.fields[b].type):
                raise self.fail(
                    f"join keys {left.fields[a].name} {left.fields[a].type} and {right.fields[b].name} "
                    f"{right.fields[b].type} differ in type",
                    "CAST one of them to the type of the other.",
                )
        width = len(left.fields) + len(right.fields)
        if spec.non_equi_condition is not None:
            if max(input_indexes(spec.non_equi_condition), default=-1) >= width:
                raise self.fail(f"the condition of the join reads columns its inputs, {width} in all, do not have")
            if not supported(spec.non_equi_condition):
                raise self.fail(
                    "the condition of the join holds an expression that cannot be evaluated inside it",
                    "Compute the expression in a subquery below the join, as a column of its own.",
                )
        expected = len(left.fields) if spec.join_type in ("SEMI", "ANTI") else width
        if len(self.output_type.fields) != expected:
            raise self.fail(f"its output has {len(self.output_type.fields)} columns instead of {expected}")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Pairs of rows; columns say which side they come from, since both may read one table."""
        left, right = inputs
        columns = (*_of("left", left), *(_of("right", right) if self.join_spec.pairs else ()))
        made = left.made(self.output_type, columns, self._term(inputs))
        return replace(made, time=times(inputs), sources=left.sources | right.sources)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The rows of each side, with the number of their matches where that decides."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        operator = self._operator(inputs[0].type, inputs[1].type)
        columns = {
            side.state: row_columns(rows) for side, rows in zip((operator.left, operator.right), inputs, strict=True)
        }
        return state_meanings(operator, self.metadata, inputs, {"join": self._term(inputs)}, columns)

    def _term(self, inputs: tuple[RowsMeaning, ...]) -> Term:
        left, right = inputs
        spec = self.join_spec
        conditions = {
            said(
                "pair",
                "{left} {comparison} {right}",
                left=left.columns[a],
                comparison=leaf("comparison", "=" if strict else "IS NOT DISTINCT FROM"),
                right=right.columns[b],
            )
            for a, b, strict in zip(spec.left_keys, spec.right_keys, spec.filter_nulls, strict=True)
        }
        if spec.non_equi_condition is not None:
            both = replace(left, columns=(*_of("left", left), *_of("right", right)))
            conditions.add(expression_term(spec.non_equi_condition, both))
        return said(
            "join",
            "{type} join of ({left}) and ({right}) on ({condition})",
            type=leaf("type of join", spec.join_type),
            left=left.rows,
            right=right.rows,
            condition=frozenset(conditions),
        )

    def _operator(self, left_type: LogicalType, right_type: LogicalType) -> JoinOperator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.join.v1_kernel import JoinOperator

        left, right = (tuple(Column(f.name, f.type) for f in type.fields) for type in (left_type, right_type))
        upsert = self.changelog_mode.upsert
        return JoinOperator(
            self.uid("join"),
            self.join_spec,
            (left, right),
            tuple(Column(f.name, f.type) for f in self.output_type.fields),
            ttl_ms=(self._ttl(0), self._ttl(1)),
            upsert_keys=(
                _key_within(self.left_upsert_keys, self.join_spec.left_keys) if upsert else None,
                _key_within(self.right_upsert_keys, self.join_spec.right_keys) if upsert else None,
            ),
            emits_update_before=not upsert,
        )

    def _ttl(self, index: int) -> int:
        return parse_duration(self.state_ttl(index), "ttl")


def _of(side: str, rows: RowsMeaning) -> tuple[Term, ...]:
    """Columns say which side they come from, since both may read one table."""
    return tuple(said(side, f"{side}.{{column}}", column=each) for each in rows.columns)


def _key_within(upsert_keys: tuple[tuple[int, ...], ...], join_key: tuple[int, ...]) -> tuple[int, ...] | None:
    """An upsert key whose row never changes its join key."""
    return next((key for key in upsert_keys if set(key) <= set(join_key)), None)


def _same_key_values(left: LogicalType, right: LogicalType) -> bool:
    """True if equal values of both types are equal, and hash alike, inside kernels."""
    if left.root in TEXTS and right.root in TEXTS:
        return True
    if left.root is Root.DECIMAL and right.root is Root.DECIMAL:
        return left.scale == right.scale and (left.precision > 18) == (right.precision > 18)
    return left.root == right.root and left.children == right.children and left.fields == right.fields
