"""Lowers VALUES, for streams and batch alike: constant rows, and rows that are computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from execnodes.core.expressions import Expression, Literal, digest
from execnodes.core.node import ExecNode
from execnodes.core.types import BOOLEAN, Field, LogicalType, row
from planner.algebra import Values
from planner.lower.context import NEW, Context
from planner.lower.describe import CalcTitle, calc_title, described, listed, names_of, selected

if TYPE_CHECKING:
    from execnodes.batch.union import BatchUnion
    from execnodes.batch.values import BatchValues
    from execnodes.stream.union import Union
    from execnodes.stream.values import Values as ExecValues
    from planner.lower.batch.rows import CalcClass as BatchCalc
    from planner.lower.rows import CalcClass as StreamCalc


class RowNodes(NamedTuple):
    """The nodes of one mode that VALUES is made of."""

    values: type[ExecValues] | type[BatchValues]
    calc: Callable[[CalcTitle], StreamCalc | BatchCalc]
    union: type[Union] | type[BatchUnion]


def lower_values(node: Values, context: Context, nodes: RowNodes) -> ExecNode:
    """Rows that hold more than literals are computed, each from a row without content."""
    literals = [tuple(each for each in values if isinstance(each, Literal)) for values in node.rows]
    if [len(each) for each in literals] == [len(each) for each in node.rows]:
        return _constants(context, nodes, tuple(literals), node.type)
    true = Literal(value=True, type=BOOLEAN.not_null())
    one = _constants(context, nodes, ((true,),), row(Field("ZERO", BOOLEAN.not_null())))
    computed = [_computed(context, nodes, one, values, node.type) for values in node.rows]
    if len(computed) == 1:
        return computed[0]
    description = described("Union", ("all", "[true]"), ("union", listed(names_of(node.type))))
    return context.add(nodes.union(id=NEW, output_type=node.type, description=description), computed)


def _constants(
    context: Context, nodes: RowNodes, tuples: tuple[tuple[Literal, ...], ...], type: LogicalType
) -> ExecNode:
    shown = listed(f"{{{', '.join(digest(each, ()) for each in values)}}}" for values in tuples)
    description = described("Values", ("tuples", f"[{shown}]"))
    return context.add(nodes.values(id=NEW, output_type=type, description=description, tuples=tuples), [])


def _computed(
    context: Context, nodes: RowNodes, one: ExecNode, values: tuple[Expression, ...], type: LogicalType
) -> ExecNode:
    title = calc_title(values)
    description = described(title, ("select", selected(values, type, names_of(one.output_type))))
    return context.add(nodes.calc(title)(id=NEW, output_type=type, description=description, projection=values), [one])
