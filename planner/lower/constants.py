"""Lowers VALUES, for streams and batch alike: constant rows, and rows that are computed."""

from __future__ import annotations

from collections.abc import Callable

from execnodes.core.expressions import Expression, Literal, digest
from execnodes.core.node import ExecNode
from execnodes.core.types import BOOLEAN, Field, LogicalType, row
from planner.algebra import Values
from planner.describe import described, listed, names_of, selected

Make = Callable[..., ExecNode]
"""Makes a node of a name without ``stream-exec-`` or ``batch-exec-``, its inputs, type, description and fields."""


def lower_values(node: Values, make: Make) -> ExecNode:
    """Rows that hold more than literals are computed, each from a row without content."""
    literals = [tuple(each for each in values if isinstance(each, Literal)) for values in node.rows]
    if [len(each) for each in literals] == [len(each) for each in node.rows]:
        return _constants(make, tuple(literals), node.type)
    one = _constants(make, ((Literal(value=True, type=BOOLEAN.not_null()),),), row(Field("ZERO", BOOLEAN.not_null())))
    computed = [_computed(make, one, values, node.type) for values in node.rows]
    if len(computed) == 1:
        return computed[0]
    description = described("Union", ("all", "[true]"), ("union", listed(names_of(node.type))))
    return make("union", computed, node.type, description)


def _constants(make: Make, tuples: tuple[tuple[Literal, ...], ...], type: LogicalType) -> ExecNode:
    shown = listed(f"{{{', '.join(digest(each, ()) for each in values)}}}" for values in tuples)
    return make("values", [], type, described("Values", ("tuples", f"[{shown}]")), tuples=tuples)


def _computed(make: Make, one: ExecNode, values: tuple[Expression, ...], type: LogicalType) -> ExecNode:
    description = described("Calc", ("select", selected(values, type, names_of(one.output_type))))
    return make("calc", [one], type, description, projection=values)
