"""GROUP BY window_start, window_end is an aggregate that fires with its windows instead of one that updates."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.expressions import AggregateCall, Expression, InputRef, input_indexes
from execnodes.core.places import Place
from execnodes.core.types import Field, row
from planner.algebra import (
    Aggregate,
    Filter,
    Logical,
    Project,
    Window,
    WindowAggregate,
    WindowColumn,
    WindowProperty,
    WindowTableFunction,
)
from planner.algebra.columns import pick, references
from planner.algebra.tree import Sinks, rewrite
from planner.algebra.windows import END, START


def form_window_aggregates(sinks: Sinks) -> Sinks:
    """Windows are computed inside the aggregate where nothing between asks for them; else it reads their columns."""
    return rewrite(sinks, _form)


def _form(node: Logical) -> Logical:
    if not isinstance(node, Aggregate):
        return node
    columns = _grouped_windows(node)
    found = {each.property: index for index, each in reversed(columns.items())}
    if START not in found or END not in found:
        return node
    about = next(iter(columns.values()))
    if about.window.emission is None and any(call.user_name and call.distinct for call in node.calls):
        # As in Flink, where no function of the user fires with the windows of table functions: they are plain keys.
        return node
    plain = tuple(each for each in node.grouping if each not in columns)
    names = {each: node.type.fields[at].name for at, each in enumerate(node.grouping)}
    types = {each: node.type.fields[at].type for at, each in enumerate(node.grouping)}
    properties = tuple(WindowProperty(names[at], each, types[at]) for each, at in sorted(found.items(), key=_by_column))
    fields = [Field(names[each], types[each]) for each in plain]
    results = node.type.fields[len(node.grouping) :]
    type = row(*fields, *results, *(Field(each.name, each.type) for each in properties))
    sets = tuple(tuple(each for each in some if each not in columns) for some in node.grouping_sets)
    inner = _without_table_function(node, plain)
    if inner is None:
        bounds = (found[START], found[END])
        made = WindowAggregate(
            node.input, plain, node.calls, about.window, about.time_type, None, bounds, properties, type, sets,
            node.position,
        )  # fmt: skip
    else:
        made = WindowAggregate(
            inner.input, inner.move_all(plain), tuple(map(inner.move_call, node.calls)), about.window, about.time_type,
            inner.time_index, None, properties, type, tuple(map(inner.move_all, sets)), node.position, inner.place,
        )  # fmt: skip
    width = len(plain) + len(results)
    at = {each.property: width + number for number, each in enumerate(properties)}
    order = [at[columns[each].property] if each in columns else plain.index(each) for each in node.grouping]
    restored = (*order, *range(len(plain), width))
    return Project(made, references(type, restored), pick(node.type, range(len(node.type.fields))))


def _by_column(item: tuple[str, int]) -> int:
    return (START, END).index(item[0]) if item[0] in (START, END) else 2


def _grouped_windows(node: Aggregate) -> dict[int, WindowColumn]:
    """Grouping columns (in all grouping sets) that tell of one window: that of the first whose two bounds are there."""
    below = node.input.window_columns
    sets = node.grouping_sets or (node.grouping,)
    grouped = {each: below[each] for each in node.grouping if each in below and all(each in some for some in sets)}
    for candidate in grouped.values():
        same = {
            index: each
            for index, each in grouped.items()
            if (each.window, each.time_type) == (candidate.window, candidate.time_type)
        }
        if {START, END} <= {each.property for each in same.values()}:
            return same
    return {}


@dataclass(frozen=True)
class _Inner:
    """Input of a window aggregate that finds the windows itself."""

    input: Logical
    time_index: int
    moved: dict[int, int]
    place: Place | None
    """Of the window."""

    def move_all(self, indexes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.moved[each] for each in indexes)

    def move_call(self, call: AggregateCall) -> AggregateCall:
        filter_arg = self.moved[call.filter_arg] if call.filter_arg >= 0 else -1
        return call.model_copy(update={"arg_list": self.move_all(call.arg_list), "filter_arg": filter_arg})


def _sessions_are_groups(
    node: Aggregate, plain: tuple[int, ...], expressions: tuple[Expression, ...], window: Window
) -> bool:
    """Whether rows are grouped by just what sessions are found by."""
    keys = [expressions[each] for each in plain]
    grouped = {each.input_index for each in keys if isinstance(each, InputRef)}
    return not node.grouping_sets and len(grouped) == len(keys) and grouped == set(window.partition)


def _without_table_function(node: Aggregate, plain: tuple[int, ...]) -> _Inner | None:
    """What the aggregate reads, taken from below the table function; None if something reads its window columns.

    A condition goes below with it, as in Flink: aggregated sessions are those of the rows that it lets through.
    """
    top: Logical = node.input
    expressions: tuple[Expression, ...] = references(top.type)
    if isinstance(top, Project):
        expressions, top = top.expressions, top.input
    condition = None
    if isinstance(top, Filter):
        condition, top = top.condition, top.input
    if not isinstance(top, WindowTableFunction):
        return None
    used = sorted({*plain, *(at for call in node.calls for at in (*call.arg_list, call.filter_arg) if at >= 0)})
    read = set().union(
        *(input_indexes(expressions[each]) for each in used), (input_indexes(condition) if condition else set())
    )
    if any(each >= len(top.input.type.fields) for each in read):
        return None
    if top.window.kind == "SESSION" and not _sessions_are_groups(node, plain, expressions, top.window):
        return None
    below = top.input if condition is None else Filter(top.input, condition)
    time = InputRef(input_index=top.time_index, type=top.input.type.fields[top.time_index].type)
    time_field = top.input.type.fields[top.time_index]
    type = row(*(node.input.type.fields[each] for each in used), time_field)
    moved = {each: at for at, each in enumerate(used)}
    return _Inner(Project(below, (*(expressions[each] for each in used), time), type), len(used), moved, top.place)
