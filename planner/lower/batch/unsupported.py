"""Refuses what no batch node can run yet, with the place in the SQL text."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode
from planner.algebra import Unnest
from planner.lower.batch.context import BatchContext, lower_batch_node


@lower_batch_node.register
def _(node: Unnest, context: BatchContext) -> ExecNode:
    raise SqlError(
        "UNNEST is not supported yet",
        position=node.position,
        hint="Read members by index, e.g. xs[1], or unnest before the table is read.",
    )
