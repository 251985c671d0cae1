"""Lowers GROUP BY in parts: an incremental aggregate by part of a group, and a global one behind it."""

from __future__ import annotations

from execnodes.aggregates import accumulator_columns
from execnodes.core.node import ExecNode
from execnodes.core.types import Field, row
from planner.algebra import SplitAggregate
from planner.algebra.columns import uniquely_named
from planner.lower.aggregate import description, named, regular
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import aggregated, described, grouped, listed, names_of


@lower_node.register
def _(node: SplitAggregate, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.global_group_aggregate import GlobalGroupAggregate
    from execnodes.stream.incremental_group_aggregate import IncrementalGroupAggregate

    below = context.lower(node.input, True)
    retract = not below.changelog_mode.insert_only
    mode = node.mode(update_before)
    output = uniquely_named(regular(node.type))
    calls, parts = (named(each, output, len(node.grouping)) for each in (node.calls, node.partial_calls))
    merging = tuple(each.model_copy(update={"distinct": False}) for each in calls)
    names = names_of(below.output_type)
    keys = tuple(range(len(node.grouping)))
    key_fields = [Field(output.fields[at].name, output.fields[at].type) for at in keys]
    by = (*node.grouping, *node.parts_by)
    incremental = context.add(
        IncrementalGroupAggregate(
            id=NEW,
            output_type=row(*key_fields, *accumulator_columns(parts, below.output_type, retract)),
            description=described(
                "IncrementalGroupAggregate",
                ("partialAggGrouping", grouped(by, names)),
                ("finalAggGrouping", grouped(node.grouping, names)),
                ("select", listed(aggregated(each, names, retract) for each in parts)),
            ),
            partial_agg_grouping=by,
            final_agg_grouping=node.grouping,
            partial_original_agg_calls=parts,
            partial_agg_need_retraction=retract,
            state=(context.state("incrementalGroupAggregateState", node.ttl),),
        ),
        [context.exchange(below, by)],
    )
    return context.add(
        GlobalGroupAggregate(
            id=NEW,
            output_type=output,
            changelog_mode=mode,
            description=description("GlobalGroupAggregate", node.grouping, merging, names, retract),
            grouping=keys,
            agg_calls=merging,
            local_agg_input_row_type=below.output_type,
            generate_update_before=mode.retract,
            need_retraction=retract,
            state=(context.state("globalGroupAggregateState", node.ttl),),
        ),
        [context.exchange(incremental, keys)],
    )
