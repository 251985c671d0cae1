"""Lowers GROUP BY."""

from __future__ import annotations

from execnodes.aggregates.function import without_maps
from execnodes.core.errors import SqlError
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

    _check_values(node)
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
        [context.exchange(below, node.grouping, node.position)],
    )


def _check_values(node: Aggregate) -> None:
    """Lists without doubles are made by Spark, which compares no maps."""
    for call in node.calls:
        types = [node.input.type.fields[each].type for each in call.arg_list]
        if call.distinct and call.internal_name.startswith("$ARRAY_AGG") and not all(map(without_maps, types)):
            raise SqlError(
                f"ARRAY_AGG(DISTINCT …) of {types[0]} is not supported in batch mode",
                position=node.position,
                hint="Streams have it. Or list them all, without DISTINCT.",
            )
