"""Lowers GROUP BY."""

from __future__ import annotations

from execnodes.core.node import ExecNode
from planner.algebra import Aggregate
from planner.algebra.columns import uniquely_named
from planner.lower.aggregate import named, refuse_python, regular
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.context import NEW
from planner.lower.describe import aggregated, described, grouped, listed, names_of


@lower_batch_node.register
def _(node: Aggregate, context: BatchContext) -> ExecNode:
    from execnodes.batch.hash_aggregate import BatchHashAggregate

    refuse_python(node, "in batch mode")
    below = context.lower_batch(node.input)
    output = uniquely_named(regular(node.type))
    calls = named(node.calls, output, len(node.grouping))
    names = names_of(below.output_type)
    select = [*(names[each] for each in node.grouping), *(aggregated(call, names, False) for call in calls)]
    return context.add(
        BatchHashAggregate(
            id=NEW,
            output_type=output,
            description=described(
                "HashAggregate", ("groupBy", grouped(node.grouping, names)), ("select", listed(select))
            ),
            grouping=node.grouping,
            agg_calls=calls,
        ),
        [context.exchange(below, node.grouping)],
    )
