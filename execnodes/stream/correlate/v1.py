"""Version 1 (1.3)."""

from __future__ import annotations

from typing import Literal as Tag

from execnodes.common.unnesting import correlated, correlated_meaning, correlated_outputs, table_problem
from execnodes.core.expressions import Call
from execnodes.core.meaning import RowsMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Outputs
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, Rows


@exec_node_metadata(
    name="stream-exec-correlate",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["correlate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class Correlate(ExecNode):
    """Joins each row to the table that a function makes of it, as UNNEST does; every row has the kind of its input."""

    join_type: Tag["INNER", "LEFT"]
    """LEFT: a row whose table is empty or NULL is given once, with NULLs."""
    function_call: Call
    """Over the columns of the input; its type is an ARRAY of ROWs, whose fields are the columns behind these."""

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input, where they were."""
        return inputs[0]

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """Rows stay on their way: Spark makes several of one."""
        zone = self.configuration.get("table.local-time-zone", lowering.zone)
        return correlated(
            inputs[0], self.output_type, self.function_call, zone, self.id, is_left=self.join_type == "LEFT"
        )

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Columns of the input are what they were; a member is one of the rows as they are joined here."""
        zone = self.configuration.get("table.local-time-zone", "UTC")
        return correlated_meaning(inputs[0], self.output_type, self.function_call, self.join_type, zone)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and the fields of the function's rows."""
        return correlated_outputs(inputs[0], self.function_call, self.join_type)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The function gives a table."""
        problem = table_problem(self.function_call)
        if problem is not None:
            raise self.fail(problem)
