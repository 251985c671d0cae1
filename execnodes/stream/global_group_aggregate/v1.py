"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.core.aggregates import accumulator_columns, all_mergeable, problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.lowering import Lowering, OperatorInput, Rows
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.types import LogicalType


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

    grouping: tuple[int, ...]
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
        from execnodes.stream.global_group_aggregate.v1_kernel import GlobalGroupAggregateOperator

        operator = GlobalGroupAggregateOperator(
            uid=self.uids()[0],
            input_type=inputs[0].type,
            output_type=self.output_type,
            local_input_type=self.local_agg_input_row_type,
            grouping=self.grouping,
            calls=self.agg_calls,
            retract=self.need_retraction,
            update_before=self.generate_update_before,
            ttl_ms=parse_duration(self.state_ttl()),
        )
        return lowering.operator(self, operator, (OperatorInput(inputs[0], self.grouping),))
