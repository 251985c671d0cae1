"""Version 1 (1.0)."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Expression, conditions_of, input_indexes, taken_over
from execnodes.core.meaning import RowsMeaning, expression_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Branch, Lowering, Rows


@exec_node_metadata(
    name="stream-exec-calc",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["calc"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class Calc(ExecNode):
    """Projects and filters; looks at each row alone and keeps its kind."""

    projection: tuple[Expression, ...]
    """One for each output column."""
    condition: Expression | None = None
    """Rows for which it is TRUE are kept; None keeps all."""

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Columns that are taken over as they are."""
        return taken_over(self.projection, inputs[0])

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """The condition reads input columns, so it is put in before they are replaced."""
        # Scalar functions are looked up when a plan runs; compiling does not need them.
        from execnodes import functions

        zone = self.configuration.get("table.local-time-zone", lowering.zone)
        rows, condition = inputs[0], self.condition

        def project(columns: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(functions.lower(each, columns, zone) for each in self.projection)

        if condition is not None:
            kept = condition

            def keep(branch: Branch) -> str:
                return functions.lower(kept, branch.columns, zone)

            rows = rows.where(keep)
        return rows.project(self.output_type, project)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Its expressions over what the input's columns are; conditions add up."""
        (rows,) = inputs
        zone = self.configuration.get("table.local-time-zone", "UTC")
        parts = conditions_of(self.condition) if self.condition is not None else ()
        conditions = rows.conditions | {expression_term(each, rows, zone) for each in parts}
        columns = tuple(expression_term(each, rows, zone) for each in self.projection)
        return replace(rows, type=self.output_type, columns=columns, conditions=conditions)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """As many expressions as output columns; all read columns that the input has."""
        width = len(inputs[0].fields)
        read = set().union(*map(input_indexes, (*self.projection, *([self.condition] if self.condition else []))))
        if read and max(read) >= width:
            raise self.fail(f"it reads column {max(read)}, but its input has only {width} columns")
        if len(self.projection) != len(self.output_type.fields):
            raise self.fail(f"{len(self.projection)} expressions for {len(self.output_type.fields)} output columns")
