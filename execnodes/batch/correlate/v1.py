"""Version 1 (1.3)."""

from __future__ import annotations

from typing import Literal as Tag

from execnodes.core.expressions import Call
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType, Root
from execnodes.lowering.batch import BatchLowering, BatchNode, BatchRows, aliased
from execnodes.lowering.unnesting import fields_of, members_or_nulls


@exec_node_metadata(
    name="batch-exec-correlate",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["correlate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class BatchCorrelate(BatchNode):
    """Joins each row to the table that a function makes of it, as UNNEST does."""

    join_type: Tag["INNER", "LEFT"]
    """LEFT: a row whose table is empty or NULL is given once, with NULLs."""
    function_call: Call
    """Over the columns of the input; its type is an ARRAY of ROWs, whose fields are the columns behind these."""

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """The table of a row is a column first: functions of the user cannot stand in what makes rows."""
        rows, members = inputs[0], self.function_call.type.element
        (table,) = self.texts([self.function_call], rows.columns)
        frame = rows.frame.selectExpr("*", f"{table} AS rk_table")
        made = members_or_nulls("rk_table", members) if self.join_type == "LEFT" else "rk_table"
        frame = frame.selectExpr(*rows.columns, f"explode({made}) AS rk_member")
        texts = [*rows.columns, *fields_of("rk_member", members)]
        return BatchRows(self.output_type, frame.selectExpr(*aliased(texts)))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The function gives a table."""
        type = self.function_call.type
        if type.root is not Root.ARRAY or type.element.root is not Root.ROW:
            raise self.fail(f"functionCall gives {type}, which is no table: it must be an ARRAY of ROWs")
