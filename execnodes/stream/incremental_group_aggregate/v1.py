"""Version 1 (1.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from execnodes.aggregates import accumulator_columns, accumulators, all_mergeable, argument, function_of, problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import NUMBER_OF_ROWS, RowsMeaning, StateMeaning, accumulator, call_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.outputs import Applied, Outputs, applied
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import leaf, said

if TYPE_CHECKING:
    from execnodes.stream.incremental_group_aggregate.v1_kernel import IncrementalGroupAggregateOperator

_EXTREMES = ("MIN", "MAX")
"""Functions to which DISTINCT says nothing."""


@exec_node_metadata(
    name="stream-exec-incremental-group-aggregate",
    version=1,
    consumed_options=["table.exec.mini-batch.enabled", "table.exec.mini-batch.size", "table.exec.uid.format"],
    produced_operators=["incremental-group-aggregate"],
    min_plan_version="1.4",
    min_state_version="1.4",
)
class IncrementalGroupAggregate(ExecNode):
    """Middle of a GROUP BY with DISTINCT in parts: each part knows its values, and sends what it adds to its group.

    Output: the keys of the group, over retracting input the number of rows, and the accumulators of the calls, as a
    local aggregate sends them; all insertions.
    """

    partial_agg_grouping: tuple[ColumnIndex, ...]
    """Columns of the input that tell the parts apart: those of the group, then buckets of the DISTINCT columns."""
    final_agg_grouping: tuple[ColumnIndex, ...]
    """Columns of the input that tell the groups apart, which begin `partial_agg_grouping`."""
    partial_original_agg_calls: tuple[AggregateCall, ...]
    partial_agg_need_retraction: bool
    """The input retracts rows."""

    def uids(self) -> tuple[str, ...]:
        """The aggregate's own."""
        return (self.uid("incremental-group-aggregate"),)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Accumulators, which are compared with those of the calls in `check`."""
        return iter(())

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        for each in applied(self.partial_original_agg_calls, inputs[0], grouped=bool(self.final_agg_grouping)):
            yield replace(each, path=each.path.replace("aggCalls", "partialOriginalAggCalls"))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys and calls must fit the input, the calls must be there to be merged, the output must be those."""
        calls, retract = self.partial_original_agg_calls, self.partial_agg_need_retraction
        found = problem(self.partial_agg_grouping, calls, inputs[0], retract)
        if found is None and self.partial_agg_grouping[: len(self.final_agg_grouping)] != self.final_agg_grouping:
            found = f"its parts {self.partial_agg_grouping} do not begin with its groups {self.final_agg_grouping}"
        if found is not None:
            raise self.fail(found)
        if not any(each.distinct and function_of(each.internal_name).name not in _EXTREMES for each in calls):
            raise self.fail("no call needs to know its values", "Use a local and a global aggregate.")
        if not all_mergeable([merged(each) for each in calls], retract):
            raise self.fail("a call has no partial results", "Use one group aggregate behind the exchange.")
        behind = accumulator_columns(calls, inputs[0], retract)
        expected = [inputs[0].fields[at].type for at in self.final_agg_grouping] + [field.type for field in behind]
        given = [field.type for field in self.output_type.fields]
        if len(given) != len(expected) or not all(a.same_values(b) for a, b in zip(given, expected, strict=True)):
            raise self.fail(f"its output must be the keys and {', '.join(field.name for field in behind)}")

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One stateful operator over the key groups of the parts."""
        rows = OperatorInput(inputs[0], self.partial_agg_grouping)
        return lowering.operator(self, self._operator(inputs[0].type), (rows,))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Keys and accumulators of parts: what is added to a group depends on the values that its parts know."""
        (rows,) = inputs
        changes = [NUMBER_OF_ROWS] if self.partial_agg_need_retraction else []
        sums = [
            accumulator(call_term(call, rows), field.name.rpartition("$")[2])
            for call in self.partial_original_agg_calls
            for field in accumulators(call, argument(call, rows.type), self.partial_agg_need_retraction)
        ]
        origin = said(
            "parts", "parts by ({key}) of ({input}) for ({call})", key=frozenset(rows.some(self.partial_agg_grouping)),
            input=rows.rows, call=frozenset(call_term(c, rows) for c in self.partial_original_agg_calls if c.distinct),
        )  # fmt: skip
        return rows.made(self.output_type, (*rows.some(self.final_agg_grouping), *changes, *sums), origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The values of each part."""
        from execnodes.kernels.aggregates.column_meanings import aggregation_columns
        from execnodes.state.state_meanings import state_meanings

        (rows,) = inputs
        operator = self._operator(rows.type)
        columns = aggregation_columns(operator.aggregation, rows.some(self.partial_agg_grouping), rows)
        changes = leaf("changes", "also taken back" if self.partial_agg_need_retraction else "only added")
        return state_meanings(operator, self.metadata, inputs, {"input": rows.rows, "changes": changes}, columns)

    def _operator(self, input_type: LogicalType) -> IncrementalGroupAggregateOperator:
        from execnodes.stream.incremental_group_aggregate.v1_kernel import IncrementalGroupAggregateOperator

        return IncrementalGroupAggregateOperator(
            uid=self.uids()[0],
            input_type=input_type,
            output_type=self.output_type,
            parts=self.partial_agg_grouping,
            groups=len(self.final_agg_grouping),
            calls=self.partial_original_agg_calls,
            retract=self.partial_agg_need_retraction,
            ttl_ms=parse_duration(self.state_ttl()),
        )


def merged(call: AggregateCall) -> AggregateCall:
    """The call as its partial results are merged: values that come twice do so in one part."""
    return call.model_copy(update={"distinct": False})
