"""Version 1 (1.0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.lowering import Lowering, OperatorInput, Rows
from execnodes.core.meaning import RowsMeaning, StateMeaning, set_text
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.types import LogicalType

if TYPE_CHECKING:
    from execnodes.state.operator import Operator


@exec_node_metadata(
    name="stream-exec-changelog-normalize",
    version=1,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["changelog-normalize"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class ChangelogNormalize(ExecNode):
    """Turns an upsert stream, or one that repeats its messages, into a regular changelog: it knows each key's row."""

    unique_keys: tuple[int, ...]
    """Columns of the key that identifies a row."""
    generate_update_before: bool
    """True if -U comes with an update."""

    def uids(self) -> tuple[str, ...]:
        """One operator."""
        return (self.uid("changelog-normalize"),)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator, spread by the keys."""
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], self.unique_keys),))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The newest row of each key."""
        (rows,) = inputs
        keys = set_text(rows.texts(self.unique_keys))
        return rows.made(self.output_type, rows.columns, f"newest by {keys} of ({rows.rows})")

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The newest row of each key."""
        from execnodes.state.meaning import row_texts, state_meanings
        from execnodes.stream.changelog_normalize.v1_kernel import STATE

        (rows,) = inputs
        texts = {STATE: row_texts(rows)}
        return state_meanings(self._operator(rows.type), self.metadata, inputs, {"input": rows.rows}, texts)

    def _operator(self, type: LogicalType) -> Operator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.changelog_normalize.v1_kernel import NormalizeOperator

        return NormalizeOperator(
            self.uid("changelog-normalize"),
            tuple(Column(each.name, each.type) for each in type.fields),
            self.unique_keys,
            self.generate_update_before,
            parse_duration(self.state_ttl(), "ttl"),
        )

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """There is a key, of columns that the input has."""
        width = len(inputs[0].fields)
        if not self.unique_keys or max(self.unique_keys) >= width:
            raise self.fail(f"its key {self.unique_keys} is not made of columns of the input, which has {width}")
        if len(self.output_type.fields) != width:
            raise self.fail("its output must have the columns of its input")
