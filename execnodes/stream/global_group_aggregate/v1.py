"""Version 1 (1.0)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from execnodes.aggregates import accumulator_columns, accumulators, all_mergeable, argument, problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex, Scope
from execnodes.core.meaning import RowsMeaning, StateMeaning, call_of
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.outputs import Applied, Outputs, applied, grouped
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.global_group_aggregate.v1_kernel import GlobalGroupAggregateOperator


@exec_node_metadata(
    name="stream-exec-global-group-aggregate",
    version=1,
    consumed_options=["table.exec.mini-batch.enabled", "table.exec.mini-batch.size", "table.exec.uid.format"],
    produced_operators=["global-group-aggregate"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class GlobalGroupAggregate(ExecNode):
    """Second half of a GROUP BY: merges the accumulators that local aggregates send.

    Output: the keys, then the results.
    """

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the local output."""
    agg_calls: tuple[AggregateCall, ...]
    """As in the local node: their columns are those of `local_agg_input_row_type`."""
    local_agg_input_row_type: LogicalType
    generate_update_before: bool
    """Emit -U before +U."""
    need_retraction: bool
    """The local node's input retracts rows."""

    def uids(self) -> tuple[str, ...]:
        """The aggregate's own."""
        return (self.uid("global-group-aggregate"),)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Keys and results."""
        return grouped(inputs[0], self.grouping, self.agg_calls)

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, self.local_agg_input_row_type, grouped=bool(self.grouping))

    def scope(self, name: str, around: Scope) -> Scope:
        """Calls read what the local node has read."""
        read = self.local_agg_input_row_type
        return around.over(read.fields, "localAggInputRowType") if name == "agg_calls" else around

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The input must be what the local node sends, and the output keys and results."""
        found = problem((), self.agg_calls, self.local_agg_input_row_type, self.need_retraction)
        if found is None and not all_mergeable(self.agg_calls, self.need_retraction):
            found = "a call has no partial results"
        if found is not None:
            raise self.fail(found)
        expected = accumulator_columns(self.agg_calls, self.local_agg_input_row_type, self.need_retraction)
        behind = inputs[0].fields[len(inputs[0].fields) - len(expected) :] if expected else ()
        fits = len(behind) == len(expected) and all(
            a.type.same_values(b.type) for a, b in zip(behind, expected, strict=True)
        )
        if not fits:
            names = ", ".join(field.name for field in expected)
            raise self.fail(f"its input must end in the accumulators {names}")
        if any(not 0 <= index < len(inputs[0].fields) - len(expected) for index in self.grouping):
            raise self.fail(f"its keys {self.grouping} are not all before the accumulators of its input")
        if len(self.output_type.fields) != len(self.grouping) + len(self.agg_calls):
            raise self.fail("its output must be keys and results")

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One stateful operator over the key groups of the keys."""
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], self.grouping),))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """A row a group."""
        (rows,) = inputs
        keys = rows.some(self.grouping)
        columns = self._accumulators(rows)
        results = []
        for call in self.agg_calls:
            # Accumulators are called after their call: ``total$sum`` means ``$SUM$1(t.v).sum``.
            first = accumulators(call, argument(call, self.local_agg_input_row_type), self.need_retraction)[0].name
            results.append(call_of(columns[first]))
        origin = said("groups", "groups by ({key}) of ({input})", key=frozenset(keys), input=rows.rows)
        return rows.made(self.output_type, (*keys, *results), origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Accumulators of each group."""
        from execnodes.kernels.aggregates.column_meanings import aggregation_columns
        from execnodes.state.state_meanings import state_meanings

        (rows,) = inputs
        operator = self._operator(rows.type)
        keys, results = rows.some(self.grouping), self._accumulators(rows)
        columns = aggregation_columns(operator.aggregation, keys, rows, results)
        changes = leaf("changes", "also taken back" if self.need_retraction else "only added")
        parts = {"input": rows.rows, "changes": changes}
        return state_meanings(operator, self.metadata, inputs, parts, columns)

    def _accumulators(self, rows: RowsMeaning) -> dict[str, Term]:
        """By the names that accumulators have in state; the local node's may be others."""
        columns = accumulator_columns(self.agg_calls, self.local_agg_input_row_type, self.need_retraction)
        behind = rows.columns[len(rows.columns) - len(columns) :]
        return {column.name: term for column, term in zip(columns, behind, strict=True)}

    def _operator(self, input_type: LogicalType) -> GlobalGroupAggregateOperator:
        from execnodes.stream.global_group_aggregate.v1_kernel import GlobalGroupAggregateOperator

        return GlobalGroupAggregateOperator(
            uid=self.uids()[0],
            input_type=input_type,
            output_type=self.output_type,
            local_input_type=self.local_agg_input_row_type,
            grouping=self.grouping,
            calls=self.agg_calls,
            retract=self.need_retraction,
            update_before=self.generate_update_before,
            ttl_ms=parse_duration(self.state_ttl()),
        )
