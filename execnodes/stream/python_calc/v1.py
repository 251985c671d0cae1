"""Version 1 (1.3)."""

from __future__ import annotations

from execnodes.common.calculation import calculated, calculated_meaning, calculation_problem
from execnodes.core.expressions import Expression, taken_over
from execnodes.core.meaning import RowsMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Outputs, projected
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, Rows


@exec_node_metadata(
    name="stream-exec-python-calc",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["python-calc"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class PythonCalc(ExecNode):
    """A calc that calls functions of the user: it does what a calc does, and shows where Python runs."""

    projection: tuple[Expression, ...]
    """One for each output column."""
    condition: Expression | None = None
    """Rows for which it is TRUE are kept; None keeps all."""

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Columns that are taken over as they are."""
        return taken_over(self.projection, inputs[0])

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """As a calc."""
        zone = self.configuration.get("table.local-time-zone", lowering.zone)
        return calculated(inputs[0], self.output_type, self.projection, self.condition, zone, self.id)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Its expressions over what the input's columns are; conditions add up."""
        zone = self.configuration.get("table.local-time-zone", "UTC")
        return calculated_meaning(inputs[0], self.output_type, self.projection, self.condition, zone)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The projection."""
        return projected(self.projection)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """As many expressions as output columns; all read columns that the input has."""
        problem = calculation_problem(inputs[0], self.output_type, self.projection, self.condition)
        if problem is not None:
            raise self.fail(problem)
