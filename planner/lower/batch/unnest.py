"""Lowers UNNEST and table functions."""

from __future__ import annotations

from execnodes.core.node import ExecNode
from planner.algebra import Unnest
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.context import NEW
from planner.lower.unnest import described_unnest


@lower_batch_node.register
def _(node: Unnest, context: BatchContext) -> ExecNode:
    from execnodes.batch.correlate import BatchCorrelate
    from execnodes.batch.python_correlate import BatchPythonCorrelate

    below = context.lower_batch(node.input)
    if node.table.user_name:
        made: ExecNode = BatchPythonCorrelate(
            id=NEW,
            output_type=node.type,
            description=described_unnest(node),
            join_type="LEFT" if node.left else "INNER",
            function_call=node.table,
        )
    else:
        made = BatchCorrelate(
            id=NEW,
            output_type=node.type,
            description=described_unnest(node),
            join_type="LEFT" if node.left else "INNER",
            function_call=node.table,
            condition=node.condition,
        )
    return context.add(made, [below])
