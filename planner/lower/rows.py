"""Lowers what looks at each row alone: projections, filters, unions, expansions."""

from __future__ import annotations

from execnodes.core.expressions import Expression, digest
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from planner.algebra import Expand, Filter, Logical, Project, SetOperation
from planner.columns import references
from planner.describe import described, listed, names_of, selected
from planner.lower.context import Context, lower_node


@lower_node.register
def _(node: Project, context: Context, update_before: bool) -> ExecNode:
    """A filter directly below goes into the same node."""
    if isinstance(node.input, Filter):
        return _calc(context, node.input.input, node.expressions, node.input.condition, node.type, update_before)
    return _calc(context, node.input, node.expressions, None, node.type, update_before)


@lower_node.register
def _(node: Filter, context: Context, update_before: bool) -> ExecNode:
    return _calc(context, node.input, references(node.type), node.condition, node.type, update_before)


def _calc(
    context: Context,
    source: Logical,
    projection: tuple[Expression, ...],
    condition: Expression | None,
    type: LogicalType,
    update_before: bool,
) -> ExecNode:
    return calc(context, context.lower(source, update_before), projection, condition, type)


def calc(
    context: Context,
    below: ExecNode,
    projection: tuple[Expression, ...],
    condition: Expression | None,
    type: LogicalType,
) -> ExecNode:
    """A node that projects, and filters if there is a condition."""
    names = names_of(below.output_type)
    return context.make(
        "stream-exec-calc",
        [below],
        type,
        below.changelog_mode,
        described(
            "Calc",
            ("select", selected(projection, type, names)),
            ("where", None if condition is None else listed([digest(condition, names)])),
        ),
        projection=projection,
        condition=condition,
    )


@lower_node.register
def _(node: SetOperation, context: Context, update_before: bool) -> ExecNode:
    below = [context.lower(each, update_before) for each in node.inputs]
    description = described("Union", ("all", "[true]"), ("union", listed(names_of(node.type))))
    mode = node.mode(update_before)
    return context.make("stream-exec-union", below, node.type, mode, description)


@lower_node.register
def _(node: Expand, context: Context, update_before: bool) -> ExecNode:
    below = context.lower(node.input, update_before)
    names = names_of(below.output_type)
    shown = (selected(each, node.type, names) for each in node.projects)
    return context.make(
        "stream-exec-expand",
        [below],
        node.type,
        below.changelog_mode,
        described("Expand", ("projects", listed(f"{{{each[1:-1]}}}" for each in shown))),
        projects=node.projects,
    )
