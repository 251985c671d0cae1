"""Version 1 (1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from execnodes.aggregates import accumulator_columns, accumulators, all_mergeable, argument, problem
from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import RowsMeaning, accumulator, call_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Applied, Outputs, applied
from execnodes.core.types import LogicalType
from execnodes.core.windowing import Windowing, WindowSpec, step_problem
from execnodes.lowering.stream import Lowering, Rows


@exec_node_metadata(
    name="stream-exec-local-window-aggregate",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["local-window-aggregate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class LocalWindowAggregate(ExecNode):
    """First half of a GROUP BY over windows: folds the rows of one task by keys and slice, and keeps no state.

    A slice is as long as the step of the windows: each window is made of whole slices. The input only adds rows.
    Output: the keys, the accumulators of the calls, the end of the slice; all insertions.
    """

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the input, without those of the window."""
    agg_calls: tuple[AggregateCall, ...]
    windowing: Windowing
    """Strategy TimeAttribute; a TumblingWindow, HoppingWindow or CumulativeWindow."""

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Accumulators, which are compared with those of the calls in `check`."""
        return iter(())

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, inputs[0], grouped=True)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys, calls and window must fit the input, the calls must have partial results, the output must be those."""
        found = problem(self.grouping, self.agg_calls, inputs[0], False) or step_problem(self.windowing.window)
        if found is not None:
            raise self.fail(found)
        if not all_mergeable(self.agg_calls, False):
            raise self.fail("a call has no partial results", "Use one window aggregate behind the exchange.")
        index = self.windowing.time_attribute_index
        if index is None or not 0 <= index < len(inputs[0].fields):
            raise self.fail("it must name the input column of the time attribute")
        behind = accumulator_columns(self.agg_calls, inputs[0], False)
        expected = [inputs[0].fields[index].type for index in self.grouping] + [field.type for field in behind]
        given = [field.type for field in self.output_type.fields[:-1]]
        if len(given) != len(expected) or not all(a.same_values(b) for a, b in zip(given, expected, strict=True)):
            raise self.fail(f"its output must be keys, {', '.join(field.name for field in behind)} and a slice's end")

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """The end of the slice stands for the time."""
        if self.windowing.clocked:
            return frozenset()
        return frozenset({len(self.output_type.fields) - 1})

    @property
    def clocked(self) -> WindowSpec | None:
        """Its windows, by processing time."""
        return self.windowing.clocked

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time, or the end of the window, that a row is in."""
        return (self.windowing.required_times,)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """A fold over the rows of each task."""
        from execnodes.stream.local_window_aggregate.v1_kernel import LocalWindowAggregateKernel

        kernel = LocalWindowAggregateKernel(
            input_type=inputs[0].type,
            output_type=self.output_type,
            grouping=self.grouping,
            calls=self.agg_calls,
            windowing=self.windowing,
            zone=self.configuration.get("table.local-time-zone", lowering.zone),
        )
        return lowering.pre_aggregate(self, kernel, inputs[0])

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Keys, accumulators and the time; the rows are those of its input, since how they are folded says nothing."""
        (rows,) = inputs
        parts = [
            accumulator(call_term(call, rows), field.name.rpartition("$")[2])
            for call in self.agg_calls
            for field in accumulators(call, argument(call, rows.type), False)
        ]
        time = rows.columns[self.windowing.time_attribute_index or 0]
        return replace(rows, type=self.output_type, columns=(*rows.some(self.grouping), *parts, time))
