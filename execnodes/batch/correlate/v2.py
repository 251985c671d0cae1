"""Version 2 (1.4): members that a LEFT JOIN does not want; version 1 joins all."""

from __future__ import annotations

from typing import Any

from execnodes.batch.correlate.v1 import BatchCorrelate as Version1
from execnodes.common.batch import BatchLowering, BatchRows
from execnodes.common.unnesting import EACH, condition_problem, correlated_rows, fields_of, members_scope
from execnodes.core.expressions import Expression
from execnodes.core.indexes import Scope
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-correlate",
    version=2,
    consumed_options=["table.local-time-zone"],
    produced_operators=["correlate"],
    min_plan_version="1.4",
    min_state_version="1.3",
)
class BatchCorrelate(Version1):
    """Joins each row to the table that a function makes of it, as UNNEST does."""

    condition: Expression | None = None
    """Over the columns of the input and of the table: rows of the table for which it is not TRUE are not there; None
    keeps all."""

    def scope(self, name: str, around: Scope) -> Scope:
        """The condition reads both sides."""
        return members_scope(around, self.function_call) if name == "condition" else around

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """The table of a row is a column first, then rows."""
        rows, call, is_left = inputs[0], self.function_call, self.join_type == "LEFT"
        members = fields_of(EACH, call.type.element)
        conditions = [] if self.condition is None else [self.condition]
        (table,), kept = self.texts([call], rows.columns), self.texts(conditions, [*rows.columns, *members])
        return correlated_rows(rows, self.output_type, table, call, *kept, is_left=is_left)

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
