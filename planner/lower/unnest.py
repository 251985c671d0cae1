"""Lowers UNNEST and table functions."""

from __future__ import annotations

from execnodes.core.expressions import digest
from execnodes.core.node import ExecNode
from planner.algebra import Unnest
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, listed, names_of


def described_unnest(node: Unnest) -> str:
    """For the node of a stream or of a batch query."""
    on = None if node.condition is None else f"[{digest(node.condition, names_of(node.type))}]"
    return described(
        "PythonCorrelate" if node.table.user_name else "Correlate",
        ("invocation", f"[{digest(node.table, names_of(node.input.type))}]"),
        ("select", listed(names_of(node.type))),
        ("joinType", f"[{'LEFT' if node.left else 'INNER'}]"),
        ("condition", on),
    )


@lower_node.register
def _(node: Unnest, context: Context, update_before: bool) -> ExecNode:
    """The input must carry -U: members of the collection as it was are taken back one by one."""
    from execnodes.stream.correlate import Correlate
    from execnodes.stream.python_correlate import PythonCorrelate

    below = context.lower(node.input, True)
    if node.table.user_name:
        made: ExecNode = PythonCorrelate(
            id=NEW,
            output_type=node.type,
            changelog_mode=below.changelog_mode,
            description=described_unnest(node),
            join_type="LEFT" if node.left else "INNER",
            function_call=node.table,
        )
    else:
        made = Correlate(
            id=NEW,
            output_type=node.type,
            changelog_mode=below.changelog_mode,
            description=described_unnest(node),
            join_type="LEFT" if node.left else "INNER",
            function_call=node.table,
            condition=node.condition,
        )
    return context.add(made, [below])
