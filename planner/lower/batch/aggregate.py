"""Lowers GROUP BY."""

from __future__ import annotations

from execnodes.core.node import ExecNode
from planner.algebra import Aggregate
from planner.algebra.columns import uniquely_named
from planner.lower.aggregate import named, regular
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.context import NEW
from planner.lower.describe import aggregated, described, grouped, listed, names_of


@lower_batch_node.register
def _(node: Aggregate, context: BatchContext) -> ExecNode:
    from execnodes.batch.hash_aggregate import BatchHashAggregate
    from execnodes.batch.python_group_aggregate import BatchPythonGroupAggregate

    below = context.lower_batch(node.input)
    output = uniquely_named(regular(node.type))
    calls = named(node.calls, output, len(node.grouping))
    names = names_of(below.output_type)
    select = [*(names[each] for each in node.grouping), *(aggregated(call, names, False) for call in calls)]
    shown = ("groupBy", grouped(node.grouping, names)), ("select", listed(select))
    users = any(call.user_name for call in calls)
    title = "PythonGroupAggregate" if users else "HashAggregate"
    return context.add(
        (BatchPythonGroupAggregate if users else BatchHashAggregate)(
            id=NEW,
            output_type=output,
            description=described(title, *shown),
            grouping=node.grouping,
            agg_calls=calls,
        ),
        [context.exchange(below, node.grouping)],
    )
