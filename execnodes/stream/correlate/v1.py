"""Version 1 (1.3)."""

from __future__ import annotations

from typing import Literal as Tag

from execnodes.core.expressions import Call
from execnodes.core.meaning import RowsMeaning, expression_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType, Root
from execnodes.lowering.stream import Lowering, Rows
from execnodes.lowering.unnesting import fields_of, members_or_nulls
from execnodes.terms.term import leaf, said


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
        # Scalar functions are looked up when a plan runs; compiling does not need them.
        from execnodes import functions

        zone = self.configuration.get("table.local-time-zone", lowering.zone)

        def table(columns: tuple[str, ...]) -> str:
            return functions.lower(self.function_call, columns, zone)

        def filled(array: str) -> str:
            return members_or_nulls(array, members) if self.join_type == "LEFT" else array

        members = self.function_call.type.element
        return inputs[0].unnested(self.output_type, table, filled, lambda name: fields_of(name, members))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Columns of the input are what they were; a member is one of the rows as they are joined here."""
        (rows,) = inputs
        table = expression_term(self.function_call, rows, self.configuration.get("table.local-time-zone", "UTC"))
        kind = leaf("join", self.join_type)
        origin = said("members", "{input} {join} JOIN {table}", input=rows.rows, join=kind, table=table).shortened()
        members = [
            said("member", "{name} of {rows}", name=leaf("name", str(at)), rows=origin)
            for at in range(len(self.function_call.type.element.fields))
        ]
        return rows.made(self.output_type, [*rows.columns, *members], origin)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The function gives a table."""
        type = self.function_call.type
        if type.root is not Root.ARRAY or type.element.root is not Root.ROW:
            raise self.fail(f"functionCall gives {type}, which is no table: it must be an ARRAY of ROWs")
