"""Lowers GROUP BY: one group aggregate, or a local one before the exchange and a global one behind it."""

from __future__ import annotations

from execnodes.aggregates import accumulator_columns, all_mergeable
from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import SqlError
from execnodes.core.expressions import AggregateCall
from execnodes.core.node import ExecNode
from execnodes.core.types import Field, LogicalType, row
from execnodes.user_functions.partial import partial_columns
from planner.algebra import Aggregate, WindowAggregate
from planner.algebra.columns import uniquely_named
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import aggregated, described, grouped, listed, names_of


@lower_node.register
def _(node: Aggregate, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.group_aggregate import GroupAggregate

    below = context.lower(node.input, True)
    retract = not below.changelog_mode.insert_only
    mode = node.mode(update_before)
    output = uniquely_named(regular(node.type))
    calls = named(node.calls, output, len(node.grouping))
    if any(call.user_name for call in calls):
        return _python(node, context, below, calls, output, mode, retract)
    if _strategy(context) != "ONE_PHASE" and all_mergeable(calls, retract):
        return _two_phases(node, context, below, calls, output, mode, retract)
    names = names_of(below.output_type)
    return context.add(
        GroupAggregate(
            id=NEW,
            output_type=output,
            changelog_mode=mode,
            description=description("GroupAggregate", node.grouping, calls, names, retract),
            grouping=node.grouping,
            agg_calls=calls,
            generate_update_before=mode.retract,
            need_retraction=retract,
            state=(context.state("groupAggregateState", node.ttl),),
        ),
        [context.exchange(below, node.grouping)],
    )


def _python(
    node: Aggregate, context: Context, below: ExecNode, calls: tuple[AggregateCall, ...], output: LogicalType,
    mode: ChangelogMode, retract: bool,
) -> ExecNode:  # fmt: skip
    from execnodes.stream.local_python_group_aggregate import LocalPythonGroupAggregate
    from execnodes.stream.python_group_aggregate import PythonGroupAggregate

    refuse_retraction(node, retract)
    names = names_of(below.output_type)
    local, keys = below, node.grouping
    own = tuple(call for call in calls if not call.user_name)
    users = [call for call in calls if call.user_name]
    merging = all(call.user_name in node.merging and not call.distinct for call in users)
    two_phases = merging and all_mergeable(own, retract) and not retract and _strategy(context) != "ONE_PHASE"
    if two_phases:
        keys = tuple(range(len(node.grouping)))
        fields = (Field(output.fields[at].name, output.fields[at].type) for at in keys)
        local = context.add(
            LocalPythonGroupAggregate(
                id=NEW,
                output_type=row(*fields, *partial_columns(calls, below.output_type)),
                description=description("LocalPythonGroupAggregate", node.grouping, calls, names, retract),
                grouping=node.grouping,
                agg_calls=calls,
            ),
            [below],
        )
    return context.add(
        PythonGroupAggregate(
            id=NEW,
            output_type=output,
            changelog_mode=mode,
            description=description("PythonGroupAggregate", node.grouping, calls, names, retract),
            local_agg_input_row_type=below.output_type if two_phases else None,
            grouping=keys,
            agg_calls=calls,
            generate_update_before=mode.retract,
            need_retraction=retract,
            state=(context.state("pythonGroupAggregateState", node.ttl),),
        ),
        [context.exchange(local, keys)],
    )


def _strategy(context: Context) -> str:
    return context.configuration.get_option("table.optimizer.agg-phase-strategy")


def refuse_retraction(node: Aggregate | WindowAggregate, retract: bool) -> None:
    """SqlError for a function of the user that cannot take rows back, if the input does."""
    for call in node.calls:
        if call.user_name and retract and not call.retractable:
            raise SqlError(
                f"{call.title} cannot take rows back, and its input is updated or deletes rows",
                position=node.position,
                hint="Give the function a method retract(self, accumulator, …).",
            )


def _two_phases(
    node: Aggregate, context: Context, below: ExecNode, calls: tuple[AggregateCall, ...], output: LogicalType,
    mode: ChangelogMode, retract: bool,
) -> ExecNode:  # fmt: skip
    from execnodes.stream.global_group_aggregate import GlobalGroupAggregate
    from execnodes.stream.local_group_aggregate import LocalGroupAggregate

    names = names_of(below.output_type)
    keys = tuple(range(len(node.grouping)))
    key_fields = [Field(output.fields[at].name, output.fields[at].type) for at in keys]
    partial = row(*key_fields, *accumulator_columns(calls, below.output_type, retract))
    local = context.add(
        LocalGroupAggregate(
            id=NEW,
            output_type=partial,
            description=description("LocalGroupAggregate", node.grouping, calls, names, retract),
            grouping=node.grouping,
            agg_calls=calls,
            need_retraction=retract,
        ),
        [below],
    )
    return context.add(
        GlobalGroupAggregate(
            id=NEW,
            output_type=output,
            changelog_mode=mode,
            description=description("GlobalGroupAggregate", node.grouping, calls, names, retract),
            grouping=keys,
            agg_calls=calls,
            local_agg_input_row_type=below.output_type,
            generate_update_before=mode.retract,
            need_retraction=retract,
            state=(context.state("globalGroupAggregateState", node.ttl),),
        ),
        [context.exchange(local, keys)],
    )


def description(
    operator: str, grouping: tuple[int, ...], calls: tuple[AggregateCall, ...], names: tuple[str, ...], retract: bool
) -> str:
    """Keys and calls, as nodes tell them."""
    select = [*(names[each] for each in grouping), *(aggregated(call, names, retract) for call in calls)]
    return described(operator, ("groupBy", grouped(grouping, names)), ("select", listed(select)))


def named(calls: tuple[AggregateCall, ...], output: LogicalType, first: int) -> tuple[AggregateCall, ...]:
    """Calls named as their result columns, which are unique, since accumulators are named after them."""
    return tuple(
        call.model_copy(update={"name": field.name})
        for call, field in zip(calls, output.fields[first : first + len(calls)], strict=True)
    )


def regular(type: LogicalType) -> LogicalType:
    """Without time attributes: what changes later cannot be event time."""
    return row(*(Field(each.name, each.type.regular()) for each in type.fields))
