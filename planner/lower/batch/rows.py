"""Lowers what looks at each row alone: projections, filters, unions, expansions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.expressions import Expression, digest
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from planner.algebra import Expand, Filter, Logical, Project, SetOperation
from planner.algebra.columns import references
from planner.algebra.single_evaluation import needs_single_evaluation
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.context import NEW
from planner.lower.describe import CalcTitle, calc_title, described, listed, names_of, selected

if TYPE_CHECKING:
    from execnodes.batch.calc import BatchCalc
    from execnodes.batch.python_async_calc import BatchPythonAsyncCalc
    from execnodes.batch.python_calc import BatchPythonCalc

    CalcClass = type[BatchCalc] | type[BatchPythonCalc] | type[BatchPythonAsyncCalc]


@lower_batch_node.register
def _(node: Project, context: BatchContext) -> ExecNode:
    """A filter directly below goes into the same node."""
    if isinstance(node.input, Filter) and not needs_single_evaluation(node.input):
        return _calc(context, node.input.input, node.expressions, node.input.condition, node.type)
    return _calc(context, node.input, node.expressions, None, node.type)


@lower_batch_node.register
def _(node: Filter, context: BatchContext) -> ExecNode:
    return _calc(context, node.input, references(node.type), node.condition, node.type)


def _calc(
    context: BatchContext,
    source: Logical,
    projection: tuple[Expression, ...],
    condition: Expression | None,
    type: LogicalType,
) -> ExecNode:
    below = context.lower_batch(source)
    names = names_of(below.output_type)
    title = calc_title(projection if condition is None else (*projection, condition))
    description = described(
        title,
        ("select", selected(projection, type, names)),
        ("where", None if condition is None else listed([digest(condition, names)])),
    )
    return context.add(
        calc_class(title)(
            id=NEW,
            output_type=type,
            description=description,
            projection=projection,
            condition=condition,
        ),
        [below],
    )


def calc_class(title: CalcTitle) -> CalcClass:
    """The node of a title."""
    from execnodes.batch.calc import BatchCalc
    from execnodes.batch.python_async_calc import BatchPythonAsyncCalc
    from execnodes.batch.python_calc import BatchPythonCalc

    classes: dict[CalcTitle, CalcClass] = {
        "Calc": BatchCalc,
        "PythonCalc": BatchPythonCalc,
        "PythonAsyncCalc": BatchPythonAsyncCalc,
    }
    return classes[title]


@lower_batch_node.register
def _(node: SetOperation, context: BatchContext) -> ExecNode:
    from execnodes.batch.union import BatchUnion

    below = [context.lower_batch(each) for each in node.inputs]
    description = described("Union", ("all", "[true]"), ("union", listed(names_of(node.type))))
    return context.add(
        BatchUnion(
            id=NEW,
            output_type=node.type,
            description=description,
        ),
        below,
    )


@lower_batch_node.register
def _(node: Expand, context: BatchContext) -> ExecNode:
    from execnodes.batch.expand import BatchExpand

    below = context.lower_batch(node.input)
    names = names_of(below.output_type)
    shown = (selected(each, node.type, names) for each in node.projects)
    description = described("Expand", ("projects", listed(f"{{{each[1:-1]}}}" for each in shown)))
    return context.add(
        BatchExpand(
            id=NEW,
            output_type=node.type,
            description=description,
            projects=node.projects,
        ),
        [below],
    )
