"""Version 1 (1.0)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from execnodes.aggregates import accumulator_columns, accumulators, all_mergeable, argument, problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import NUMBER_OF_ROWS, RowsMeaning, accumulator, call_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Applied, Outputs, applied
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, Rows


@exec_node_metadata(
    name="stream-exec-local-group-aggregate",
    version=1,
    consumed_options=["table.exec.mini-batch.enabled", "table.exec.mini-batch.size"],
    produced_operators=["local-group-aggregate"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class LocalGroupAggregate(ExecNode):
    """First half of a GROUP BY: folds the rows of one task before the exchange, and keeps no state.

    Output: the keys, over retracting input the number of rows, and the accumulators of the calls; all insertions.
    """

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the input."""
    agg_calls: tuple[AggregateCall, ...]
    need_retraction: bool
    """The input retracts rows."""

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Accumulators, which are compared with those of the calls in `check`."""
        return iter(())

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, inputs[0], grouped=bool(self.grouping))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys and calls must fit the input, the calls must have partial results, the output must be those."""
        found = problem(self.grouping, self.agg_calls, inputs[0], self.need_retraction)
        if found is not None:
            raise self.fail(found)
        if not all_mergeable(self.agg_calls, self.need_retraction):
            raise self.fail("a call has no partial results", "Use one group aggregate behind the exchange.")
        behind = accumulator_columns(self.agg_calls, inputs[0], self.need_retraction)
        expected = [inputs[0].fields[index].type for index in self.grouping] + [field.type for field in behind]
        given = [field.type for field in self.output_type.fields]
        if len(given) != len(expected) or not all(a.same_values(b) for a, b in zip(given, expected, strict=True)):
            raise self.fail(f"its output must be the keys and {', '.join(field.name for field in behind)}")

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """A fold over the rows of each task."""
        from execnodes.stream.local_group_aggregate.v1_kernel import LocalGroupAggregateKernel

        kernel = LocalGroupAggregateKernel(
            input_type=inputs[0].type,
            output_type=self.output_type,
            grouping=self.grouping,
            calls=self.agg_calls,
            retract=self.need_retraction,
        )
        return lowering.pre_aggregate(self, kernel, inputs[0])

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Keys and accumulators; the rows are those of its input, since how they are folded says nothing."""
        (rows,) = inputs
        changes = [NUMBER_OF_ROWS] if self.need_retraction else []
        parts = [
            accumulator(call_term(call, rows), field.name.rpartition("$")[2])
            for call in self.agg_calls
            for field in accumulators(call, argument(call, rows.type), self.need_retraction)
        ]
        columns = (*rows.some(self.grouping), *changes, *parts)
        return replace(rows, type=self.output_type, columns=columns)
