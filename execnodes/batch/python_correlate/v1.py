"""Version 1 (1.3)."""

from __future__ import annotations

from typing import Literal as Tag

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.common.unnesting import correlated_outputs, correlated_rows, user_table_problem
from execnodes.core.expressions import Call
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Outputs
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-python-correlate",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["python-correlate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class BatchPythonCorrelate(BatchNode):
    """Joins each row to the table that a function of the user makes of it."""

    join_type: Tag["INNER", "LEFT"]
    """LEFT: a row whose table is empty or NULL is given once, with NULLs."""
    function_call: Call
    """Over the columns of the input; its type is an ARRAY of ROWs, whose fields are the columns behind these."""

    @property
    def keeps_rows(self) -> bool:
        """It looks at each row alone."""
        return True

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """The table of a row is a column first, then rows."""
        rows, call = inputs[0], self.function_call
        (table,) = self.texts([call], rows.columns)
        return correlated_rows(rows, self.output_type, table, call, is_left=self.join_type == "LEFT")

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and the fields of the function's rows."""
        return correlated_outputs(inputs[0], self.function_call, self.join_type)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The function is one of the user, and gives a table."""
        problem = user_table_problem(self.function_call)
        if problem is not None:
            raise self.fail(problem)
