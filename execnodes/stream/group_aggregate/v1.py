"""Version 1 (1.0)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from execnodes.aggregates import problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import RowsMeaning, StateMeaning, call_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.outputs import Applied, Outputs, applied, grouped
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import leaf, said

if TYPE_CHECKING:
    from execnodes.stream.group_aggregate.v1_kernel import GroupAggregateOperator


@exec_node_metadata(
    name="stream-exec-group-aggregate",
    version=1,
    consumed_options=["table.exec.mini-batch.enabled", "table.exec.mini-batch.size", "table.exec.uid.format"],
    produced_operators=["group-aggregate"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class GroupAggregate(ExecNode):
    """GROUP BY over a changelog: a row a group, updated as its rows come and go; without keys one group in all.

    Output: the keys, then the results.
    """

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the input."""
    agg_calls: tuple[AggregateCall, ...]
    generate_update_before: bool
    """Emit -U before +U."""
    need_retraction: bool
    """The input retracts rows."""

    def uids(self) -> tuple[str, ...]:
        """The aggregate's own."""
        return (self.uid("group-aggregate"),)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Keys and results."""
        return grouped(inputs[0], self.grouping, self.agg_calls)

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, inputs[0], grouped=bool(self.grouping))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys and calls must fit the input and the output."""
        found = problem(self.grouping, self.agg_calls, inputs[0], self.need_retraction)
        width = len(self.grouping) + len(self.agg_calls)
        if found is None and len(self.output_type.fields) != width:
            found = f"{len(self.output_type.fields)} output columns for {width} keys and results"
        if found is not None:
            raise self.fail(found)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One stateful operator over the key groups of the keys."""
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], self.grouping),))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """A row a group."""
        (rows,) = inputs
        keys = rows.some(self.grouping)
        columns = (*keys, *(call_term(call, rows) for call in self.agg_calls))
        origin = said("groups", "groups by ({key}) of ({input})", key=frozenset(keys), input=rows.rows)
        return rows.made(self.output_type, columns, origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Accumulators of each group, and the values behind some of them."""
        from execnodes.kernels.aggregates.column_meanings import aggregation_columns
        from execnodes.state.state_meanings import state_meanings

        (rows,) = inputs
        operator = self._operator(rows.type)
        columns = aggregation_columns(operator.aggregation, rows.some(self.grouping), rows)
        changes = leaf("changes", "also taken back" if self.need_retraction else "only added")
        parts = {"input": rows.rows, "changes": changes}
        return state_meanings(operator, self.metadata, inputs, parts, columns)

    def _operator(self, input_type: LogicalType) -> GroupAggregateOperator:
        from execnodes.stream.group_aggregate.v1_kernel import GroupAggregateOperator

        return GroupAggregateOperator(
            uid=self.uids()[0],
            input_type=input_type,
            output_type=self.output_type,
            grouping=self.grouping,
            calls=self.agg_calls,
            retract=self.need_retraction,
            update_before=self.generate_update_before,
            ttl_ms=parse_duration(self.state_ttl()),
        )
