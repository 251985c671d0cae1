"""Lowers what looks at each row alone: projections, filters, unions, expansions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.expressions import Expression, digest
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from planner.algebra import Expand, Filter, Logical, Project, SetOperation
from planner.algebra.columns import references
from planner.algebra.single_evaluation import needs_single_evaluation
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import CalcTitle, calc_title, described, listed, names_of, selected

if TYPE_CHECKING:
    from execnodes.stream.calc import Calc
    from execnodes.stream.python_async_calc import PythonAsyncCalc
    from execnodes.stream.python_calc import PythonCalc

    CalcClass = type[Calc] | type[PythonCalc] | type[PythonAsyncCalc]


@lower_node.register
def _(node: Project, context: Context, update_before: bool) -> ExecNode:
    """A filter directly below goes into the same node, unless another reader would then evaluate it again."""
    if isinstance(node.input, Filter) and not needs_single_evaluation(node.input):
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
    title = calc_title(projection if condition is None else (*projection, condition))
    return context.add(
        calc_class(title)(
            id=NEW,
            output_type=type,
            changelog_mode=below.changelog_mode,
            description=described(
                title,
                ("select", selected(projection, type, names)),
                ("where", None if condition is None else listed([digest(condition, names)])),
            ),
            projection=projection,
            condition=condition,
        ),
        [below],
    )


def calc_class(title: CalcTitle) -> CalcClass:
    """The node of a title."""
    from execnodes.stream.calc import Calc
    from execnodes.stream.python_async_calc import PythonAsyncCalc
    from execnodes.stream.python_calc import PythonCalc

    classes: dict[CalcTitle, CalcClass] = {"Calc": Calc, "PythonCalc": PythonCalc, "PythonAsyncCalc": PythonAsyncCalc}
    return classes[title]


@lower_node.register
def _(node: SetOperation, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.union import Union

    below = [context.lower(each, update_before) for each in node.inputs]
    description = described("Union", ("all", "[true]"), ("union", listed(names_of(node.type))))
    mode = node.mode(update_before)
    return context.add(
        Union(
            id=NEW,
            output_type=node.type,
            changelog_mode=mode,
            description=description,
        ),
        below,
    )


@lower_node.register
def _(node: Expand, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.expand import Expand as ExecExpand

    below = context.lower(node.input, update_before)
    names = names_of(below.output_type)
    shown = (selected(each, node.type, names) for each in node.projects)
    return context.add(
        ExecExpand(
            id=NEW,
            output_type=node.type,
            changelog_mode=below.changelog_mode,
            description=described("Expand", ("projects", listed(f"{{{each[1:-1]}}}" for each in shown))),
            projects=node.projects,
        ),
        [below],
    )
