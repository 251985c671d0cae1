"""Version 1 (1.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from execnodes.aggregates import all_mergeable, problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import RowsMeaning, accumulator, call_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Applied, Outputs, applied
from execnodes.core.types import LogicalType, row
from execnodes.lowering.stream import Lowering, Rows
from execnodes.user_functions.partial import partial_calls, partial_columns, same_columns


@exec_node_metadata(
    name="stream-exec-local-python-group-aggregate",
    version=1,
    produced_operators=["local-python-group-aggregate"],
    min_plan_version="1.2",
    min_state_version="1.2",
)
class LocalPythonGroupAggregate(ExecNode):
    """First half of a GROUP BY with functions of the user that merge: folds the rows of one task, and keeps no state.

    Its input only adds rows. Output: the keys, then the accumulators of the calls; all insertions.
    """

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the input."""
    agg_calls: tuple[AggregateCall, ...]

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Accumulators, which are compared with those of the calls in `check`."""
        return iter(())

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, inputs[0], grouped=bool(self.grouping))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys and calls must fit the input, the system's calls must have partial results, the output must be those."""
        own = tuple(call for call in self.agg_calls if not call.user_name)
        found = problem(self.grouping, own, inputs[0], False)
        if found is None and not all_mergeable(own, False):
            found = "a call has no partial results"
        if found is not None:
            raise self.fail(found)
        expected = self._produced(inputs[0]).fields
        if not same_columns(self.output_type.fields, expected):
            raise self.fail(f"its output must be {', '.join(each.name for each in expected)}")

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """A fold over the rows of each task."""
        from execnodes.stream.local_python_group_aggregate.v1_kernel import LocalPythonGroupAggregateKernel

        kernel = LocalPythonGroupAggregateKernel(
            input_type=inputs[0].type,
            output_type=self._produced(inputs[0].type),
            grouping=self.grouping,
            calls=self.agg_calls,
        )
        return lowering.pre_aggregate(self, kernel, inputs[0])

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Keys and accumulators; the rows are those of its input, since how they are folded says nothing."""
        (rows,) = inputs
        parts = [
            accumulator(call_term(call, rows), field.name.removeprefix(f"{call.name}$"))
            for call, field in zip(
                partial_calls(self.agg_calls, rows.type), partial_columns(self.agg_calls, rows.type), strict=True
            )
        ]
        return replace(rows, type=self._produced(rows.type), columns=(*rows.some(self.grouping), *parts))

    def _produced(self, input_type: LogicalType) -> LogicalType:
        """The output as accumulators are now, which functions may have changed since the plan was compiled."""
        keys = zip(self.output_type.fields, self.grouping, strict=False)
        return row(*(field for field, _ in keys), *partial_columns(self.agg_calls, input_type))
