"""Lowers window table functions and window aggregates."""

from __future__ import annotations

from dataclasses import replace

from execnodes.aggregates import accumulator_columns, all_mergeable
from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import AggregateCall, InputRef
from execnodes.core.node import ExecNode, StateMetadata
from execnodes.core.types import Field, LogicalType, TimeKind, row, timestamp
from execnodes.core.windowing import NamedWindowProperty, SlicedWindowing, Windowing, WindowSpec
from planner.algebra import (
    Aggregate,
    Filter,
    Join,
    JoinType,
    Logical,
    Project,
    Window,
    WindowAggregate,
    WindowTableFunction,
)
from planner.algebra.columns import uniquely_named
from planner.algebra.lost_times import explain_lost_time
from planner.algebra.relation import Unary
from planner.lower.aggregate import named, refuse_retraction
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import aggregated, described, grouped, listed, names_of

SLICE_END = "$slice_end"
_SHOWN = {"WindowStart": "start('w$)", "WindowEnd": "end('w$)", "WindowTime": "rowtime('w$)"}


@lower_node.register
def _(node: WindowTableFunction, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.window_table_function import WindowTableFunction as ExecWindowTableFunction

    windowing = _by_time(node, node.window, node.time_index, node.position)
    if node.window.kind == "SESSION":
        # A change of a row's time takes it out of one session and puts it into another.
        below = context.exchange(context.lower(node.input, True), node.window.partition)
        state: tuple[StateMetadata, ...] = (StateMetadata(index=0, name="windowState"),)
    else:
        below, state = context.lower(node.input, update_before), ()
    return context.add(
        ExecWindowTableFunction(
            id=NEW,
            output_type=node.type,
            changelog_mode=below.changelog_mode,
            description=described("WindowTableFunction", ("window", f"[{shown_window(windowing, below)}]")),
            windowing=windowing,
            state=state,
        ).put(node.place),
        [below],
    )


@lower_node.register
def _(node: WindowAggregate, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.window_aggregate import WindowAggregate as ExecWindowAggregate

    for call in node.calls:
        if call.user_name and call.distinct:
            raise SqlError(
                f"{call.title}(DISTINCT …) is not supported in windows of GROUP BY",
                position=node.position,
                hint="Group by window_start and window_end of a table function such as TABLE(TUMBLE(…)), "
                "or remove duplicates in the function itself.",
            )
    if node.time_index is not None:
        # The keys of a session that the aggregate finds are its own; columns may have moved since SQL named them.
        partition = node.grouping if node.window.kind == "SESSION" else ()
        windowing = _by_time(node, replace(node.window, partition=partition), node.time_index, node.position)
    else:
        start, end = node.bounds or (0, 0)
        windowing = Windowing(
            strategy="WindowAttached",
            window=_spec(replace(node.window, partition=()), node.position),
            time_attribute_type=node.time_type,
            window_start=start,
            window_end=end,
        )
    below = context.lower(node.input, True)
    retract = not below.changelog_mode.insert_only
    refuse_retraction(node, retract)
    names, output = names_of(below.output_type), uniquely_named(node.type)
    calls = named(node.calls, output, len(node.grouping))
    first = len(node.grouping) + len(calls)
    properties = tuple(
        NamedWindowProperty.model_validate({"name": field.name, "property": each.property})
        for field, each in zip(output.fields[first:], node.properties, strict=True)
    )
    if node.window.updates or node.window.uneven:
        return _of_old(node, context, update_before, below, windowing, calls, properties, output)
    if node.time_index is not None and not retract and _folds_first(node, context):
        return _two_phases(node, context, below, windowing, calls, properties, output)
    select = [*(names[each] for each in node.grouping), *(aggregated(call, names, retract) for call in calls)]
    select += [f"{_SHOWN[each.property]} AS {each.name}" for each in properties]
    return context.add(
        ExecWindowAggregate(
            id=NEW,
            output_type=output,
            description=described(
                "WindowAggregate",
                ("groupBy", grouped(node.grouping, names)),
                ("window", f"[{shown_window(windowing, below)}]"),
                ("select", listed(select)),
            ),
            grouping=node.grouping,
            agg_calls=calls,
            windowing=windowing,
            named_window_properties=properties,
            need_retraction=retract,
            state=(StateMetadata(index=0, name="windowAggregateState"),),
        ).put(node.place),
        [context.exchange(below, node.grouping)],
    )


def _of_old(
    node: WindowAggregate, context: Context, update_before: bool, below: ExecNode, windowing: Windowing,
    calls: tuple[AggregateCall, ...], properties: tuple[NamedWindowProperty, ...], output: LogicalType,
) -> ExecNode:  # fmt: skip
    from execnodes.stream.group_window_aggregate import GroupWindowAggregate

    if windowing.strategy != "TimeAttribute":
        raise SqlError("such a window is found by the time of rows alone", position=node.position)
    names, retract = names_of(below.output_type), not below.changelog_mode.insert_only
    mode = node.mode(update_before)
    select = [*(names[each] for each in node.grouping), *(aggregated(call, names, retract) for call in calls)]
    select += [f"{_SHOWN[each.property]} AS {each.name}" for each in properties]
    fields = (Field(each.name, each.type.regular() if node.window.updates else each.type) for each in output.fields)
    return context.add(
        GroupWindowAggregate(
            id=NEW,
            output_type=row(*fields),
            changelog_mode=mode,
            description=described(
                "GroupWindowAggregate",
                ("groupBy", grouped(node.grouping, names)),
                ("window", f"[{shown_window(windowing, below)}]"),
                ("select", listed(select)),
            ),
            grouping=node.grouping,
            agg_calls=calls,
            windowing=windowing,
            named_window_properties=properties,
            need_retraction=retract,
            generate_update_before=mode.retract,
            state=(StateMetadata(index=0, name="groupWindowAggregateState"),),
        ).put(node.place),
        [context.exchange(below, node.grouping)],
    )


def _folds_first(node: WindowAggregate, context: Context) -> bool:
    """Whether rows are folded by slices before the exchange: where it is asked for.

    Slices keep other state than one phase does, so a query that runs would lose its own if it were compiled again.
    """
    strategy = context.configuration.get_option("table.optimizer.agg-phase-strategy")
    return strategy == "TWO_PHASE" and node.window.kind != "SESSION" and _all_fold(node.calls)


def _all_fold(calls: tuple[AggregateCall, ...]) -> bool:
    return not any(call.user_name for call in calls) and all_mergeable(calls, False)


def _two_phases(
    node: WindowAggregate, context: Context, below: ExecNode, windowing: Windowing, calls: tuple[AggregateCall, ...],
    properties: tuple[NamedWindowProperty, ...], output: LogicalType,
) -> ExecNode:  # fmt: skip
    from execnodes.stream.global_window_aggregate import GlobalWindowAggregate
    from execnodes.stream.local_window_aggregate import LocalWindowAggregate

    names, keys = names_of(below.output_type), tuple(range(len(node.grouping)))
    partial = row(
        *(Field(output.fields[at].name, output.fields[at].type) for at in keys),
        *accumulator_columns(calls, below.output_type, False),
        Field(SLICE_END, timestamp(3).not_null()),
    )
    select = [*(names[each] for each in node.grouping), *(aggregated(call, names, False) for call in calls)]
    local = context.add(
        LocalWindowAggregate(
            id=NEW,
            output_type=uniquely_named(partial),
            description=described(
                "LocalWindowAggregate",
                ("groupBy", grouped(node.grouping, names)),
                ("window", f"[{shown_window(windowing, below)}]"),
                ("select", listed([*select, f"slice_end('w$) AS {SLICE_END}"])),
            ),
            grouping=node.grouping,
            agg_calls=calls,
            windowing=windowing,
        ).put(node.place),
        [below],
    )
    select += [f"{_SHOWN[each.property]} AS {each.name}" for each in properties]
    window = f"{windowing.window.kind}(slice_end=[{SLICE_END}], {windowing.window})"
    return context.add(
        GlobalWindowAggregate(
            id=NEW,
            output_type=output,
            description=described(
                "GlobalWindowAggregate",
                ("groupBy", grouped(node.grouping, names)),
                ("window", f"[{window}]"),
                ("select", listed(select)),
            ),
            grouping=keys,
            agg_calls=calls,
            local_agg_input_row_type=below.output_type,
            windowing=SlicedWindowing(
                window=windowing.window,
                time_attribute_type=windowing.time_attribute_type,
                slice_end=len(partial.fields) - 1,
            ),
            named_window_properties=properties,
            state=(StateMetadata(index=0, name="globalWindowAggregateState"),),
        ).put(node.place),
        [context.exchange(local, keys)],
    )


def _by_time(
    node: WindowTableFunction | WindowAggregate, window: Window, index: int, position: Position | None
) -> Windowing:
    column = node.input.type.fields[index]
    is_time = index in node.input.event_times or (window.emission is not None and _is_of_group(node.input, index))
    if not is_time and column.type.kind is not TimeKind.PROCTIME:
        raise SqlError(
            f"a window function needs a time attribute, but {column.name!r} is {column.type.regular()}",
            position=position,
            hint=f"{explain_lost_time(node.input, index)}Declare WATERMARK FOR the column, and use it before it is "
            "cast, joined or aggregated.",
        )
    if column.type.kind is TimeKind.PROCTIME and _is_of_join(node.input, index):
        raise SqlError(
            f"a window function needs a time attribute, but {column.name!r} is of a row that a join has kept",
            position=position,
            hint="Take the time behind the join: SELECT *, PROCTIME() AS pt FROM (…).",
        )
    return Windowing(
        strategy="TimeAttribute",
        window=_spec(window, position),
        time_attribute_type=column.type,
        time_attribute_index=index,
    )


def _is_of_group(node: Logical, column: int) -> bool:
    """Whether a column is an event time that rows were grouped by: the windows of old go by it, as in Flink.

    So they do behind DISTINCT, UNION, INTERSECT and EXCEPT, which are groups, too.
    """
    while column not in node.event_times:
        if isinstance(node, Project):
            expression = node.expressions[column]
            if not isinstance(expression, InputRef):
                return False
            column = expression.input_index
        elif isinstance(node, Aggregate) and not node.grouping_sets and column < len(node.grouping):
            column = node.grouping[column]
        elif not isinstance(node, Filter) and not (
            isinstance(node, Join) and node.kind in (JoinType.SEMI, JoinType.ANTI)
        ):
            return False
        node = node.inputs[0]
    return True


def _is_of_join(node: Logical, column: int) -> bool:
    """Whether a column comes from below a join, whose rows may be older than what it gives."""
    while not isinstance(node, Join):
        if isinstance(node, Project):
            expression = node.expressions[column]
            if not isinstance(expression, InputRef):
                return False
            column = expression.input_index
        if not isinstance(node, Unary) or column >= len(node.input.type.fields):
            return False
        node = node.input
    return True


def _spec(window: Window, position: Position | None) -> WindowSpec:
    if window.kind in ("HOP", "CUMULATE") and (window.step <= 0 or (window.uneven and window.emission is None)):
        raise SqlError(
            f"the size of {window.kind} windows ({window.size} ms) must be a multiple of their step ({window.step} ms)",
            position=position,
            hint="Choose a step that divides the size, write GROUP BY HOP(time, slide, size), or run in batch mode.",
        )
    return window_spec(window)


def window_spec(window: Window) -> WindowSpec:
    """The windows of a plan for those of SQL."""
    offset = window.offset or None
    match window.kind:
        case "TUMBLE":
            return WindowSpec(type="TumblingWindow", size=window.size, offset=offset)
        case "HOP":
            return WindowSpec(type="HoppingWindow", size=window.size, slide=window.step, offset=offset)
        case "CUMULATE":
            return WindowSpec(type="CumulativeWindow", max_size=window.size, step=window.step, offset=offset)
        case "SESSION":
            return WindowSpec(type="SessionWindow", gap=window.size, partition_key_indices=window.partition)
        case other:
            raise SqlError(f"{other} windows are not supported yet", hint="Use TUMBLE, HOP, CUMULATE or SESSION.")


def shown_window(windowing: Windowing, below: ExecNode) -> str:
    """``TUMBLE(time_col=[ts], size=[10 s])``."""
    names = names_of(below.output_type)
    columns = (
        ("time_col", windowing.time_attribute_index),
        ("win_start", windowing.window_start),
        ("win_end", windowing.window_end),
    )
    shown = [f"{title}=[{names[at]}]" for title, at in columns if at is not None]
    return f"{windowing.window.kind}({', '.join((*shown, str(windowing.window)))})"
