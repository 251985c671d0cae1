"""Version 1 (1.3)."""

from __future__ import annotations

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.common.calculation import calculation_problem
from execnodes.core.async_options import OPTIONS, checked
from execnodes.core.expressions import Expression
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Outputs, projected
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-python-async-calc",
    version=1,
    consumed_options=["table.local-time-zone", *OPTIONS],
    produced_operators=["python-async-calc"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class BatchPythonAsyncCalc(BatchNode):
    """A calc that calls functions of the user which wait (`async def`): several rows wait at a time, in their order."""

    projection: tuple[Expression, ...]
    """One for each output column."""
    condition: Expression | None = None
    """Rows for which it is TRUE are kept; None keeps all."""

    @property
    def keeps_rows(self) -> bool:
        """It looks at each row alone."""
        return True

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """A projection behind a filter."""
        return self.calculated(inputs[0], self.projection, self.condition)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The projection."""
        return projected(self.projection)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """As many expressions as output columns; all read columns that the input has; the options can be followed."""
        problem = calculation_problem(inputs[0], self.output_type, self.projection, self.condition)
        if problem is not None:
            raise self.fail(problem)
        checked(self)
