"""Version 2 (1.4): members that a LEFT JOIN does not want; version 1 joins all."""

from __future__ import annotations

from typing import Any

from execnodes.common.unnesting import condition_problem, correlated, correlated_meaning, members_scope
from execnodes.core.expressions import Expression
from execnodes.core.indexes import Scope
from execnodes.core.meaning import RowsMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, Rows
from execnodes.stream.correlate.v1 import Correlate as Version1


@exec_node_metadata(
    name="stream-exec-correlate",
    version=2,
    consumed_options=["table.local-time-zone"],
    produced_operators=["correlate"],
    min_plan_version="1.4",
    min_state_version="1.3",
)
class Correlate(Version1):
    """Joins each row to the table that a function makes of it, as UNNEST does; every row has the kind of its input."""

    condition: Expression | None = None
    """Over the columns of the input and of the table: rows of the table for which it is not TRUE are not there; None
    keeps all."""

    def scope(self, name: str, around: Scope) -> Scope:
        """The condition reads both sides."""
        return members_scope(around, self.function_call) if name == "condition" else around

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """Rows stay on their way: Spark makes several of one."""
        zone, is_left = self.configuration.get("table.local-time-zone", lowering.zone), self.join_type == "LEFT"
        return correlated(
            inputs[0], self.output_type, self.function_call, zone, self.id, self.condition, is_left=is_left
        )

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Columns of the input are what they were; a member is one of the rows as they are joined here."""
        zone = self.configuration.get("table.local-time-zone", "UTC")
        return correlated_meaning(inputs[0], self.output_type, self.function_call, self.join_type, zone, self.condition)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The function gives a table; the condition is one that Spark itself computes."""
        super().check(inputs)
        problem = condition_problem(self.condition)
        if problem is not None:
            raise self.fail(problem)

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """All members are joined, as they were."""
        return {**old, "condition": None}
