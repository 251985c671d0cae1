"""Version 2 (1.1): a condition on the rows may be part of the node, as in Flink.

A condition above the node had state keep rows that nothing below it ever saw, and needed -U for every update. Version 1
(1.0 and 1.1) is no longer executed: its plans are migrated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from execnodes.core.expressions import Expression, conditions_of, input_indexes
from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import RowsMeaning, StateMeaning, every, expression_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.predicates import supported
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import said

if TYPE_CHECKING:
    from execnodes.state.operator import Operator


@exec_node_metadata(
    name="stream-exec-changelog-normalize",
    version=2,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["changelog-normalize"],
    min_plan_version="1.1",
    min_state_version="1.0",
)
class ChangelogNormalize(ExecNode):
    """Turns an upsert stream, or one that repeats its messages, into a regular changelog: it knows each key's row."""

    unique_keys: tuple[ColumnIndex, ...]
    """Columns of the key that identifies a row."""
    generate_update_before: bool
    """True if -U comes with an update."""
    filter_condition: Expression | None = None
    """Over the input: rows for which it is not TRUE count as deleted; None keeps all."""

    def uids(self) -> tuple[str, ...]:
        """One operator."""
        return (self.uid("changelog-normalize"),)

    @property
    def takes_unknown_deletes(self) -> bool:
        """A key that it does not know has nothing to end."""
        return True

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator, spread by the keys."""
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], self.unique_keys),))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The newest row of each key."""
        (rows,) = inputs
        origin = said("newest", "newest by ({key}) of ({input})", key=rows.keys(self.unique_keys), input=rows.rows)
        made = rows.made(self.output_type, rows.columns, origin)
        return replace(made, conditions=frozenset(expression_term(each, made) for each in self._conditions()))

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The newest row of each key, if it fits the condition; all of them will do, too."""
        from execnodes.state.state_meanings import row_columns, state_meanings
        from execnodes.stream.changelog_normalize.v2_kernel import STATE

        (rows,) = inputs
        columns = {STATE: row_columns(rows)}
        operator, parts = self._operator(rows.type), {"input": rows.rows}
        whole = state_meanings(operator, self.metadata, inputs, parts, columns)
        if self.filter_condition is None:
            return whole
        parts["filter"] = every(expression_term(each, rows) for each in self._conditions())
        fitting = state_meanings(operator, self.metadata, inputs, parts, columns)
        return tuple(replace(each, earlier=whole) for each in fitting)

    def _conditions(self) -> tuple[Expression, ...]:
        return conditions_of(self.filter_condition) if self.filter_condition is not None else ()

    def _operator(self, type: LogicalType) -> Operator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.changelog_normalize.v2_kernel import NormalizeOperator

        return NormalizeOperator(
            self.uid("changelog-normalize"),
            tuple(Column(each.name, each.type) for each in type.fields),
            self.unique_keys,
            self.generate_update_before,
            self.filter_condition,
            parse_duration(self.state_ttl(), "ttl"),
        )

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """There is a key, of columns that the input has; the condition reads such columns, and can be evaluated."""
        width = len(inputs[0].fields)
        if not self.unique_keys or max(self.unique_keys) >= width:
            raise self.fail(f"its key {self.unique_keys} is not made of columns of the input, which has {width}")
        if len(self.output_type.fields) != width:
            raise self.fail("its output must have the columns of its input")
        if self.filter_condition is None:
            return
        if max(input_indexes(self.filter_condition), default=0) >= width:
            raise self.fail(f"its condition reads a column that its input of {width} columns does not have")
        if not supported(self.filter_condition):
            raise self.fail(
                "its condition cannot be evaluated inside a stateful operator", "Put it into a calc behind."
            )

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """No condition: a calc behind it filters, as it did."""
        return old
