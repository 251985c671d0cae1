"""Version 1 (1.3)."""

from __future__ import annotations

from execnodes.batch.correlate.v1 import BatchCorrelate
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-python-correlate",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["python-correlate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class BatchPythonCorrelate(BatchCorrelate):
    """Joins each row to the table that a function of the user makes of it."""

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The function is one of the user, and gives a table."""
        if not self.function_call.user_name:
            raise self.fail(f"functionCall is {self.function_call.internal_name}, which is no function of the user")
        super().check(inputs)
