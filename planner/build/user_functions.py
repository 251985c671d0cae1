"""Calls of functions of the user: which one a name means, and the typed call."""

from __future__ import annotations

from execnodes.core.errors import FunctionError, SqlError
from execnodes.core.expressions import Call, Expression
from execnodes.core.functions.registry import newest
from execnodes.core.user_functions.calls import bind
from planner import syntax as s
from planner.catalog import Catalog, FoundFunction


def find_function(catalog: Catalog, node: s.Call) -> FoundFunction | None:
    """The function of the user that a call means; None if it is one of the system, or unknown."""
    if not node.name[:1].isalpha() and node.name[:1] != "_":
        return None
    path = tuple(node.name.split("."))
    if len(path) > 3:
        return None
    return catalog.find_function(path, is_system=newest(node.name.upper()) is not None)


def bind_scalar(found: FoundFunction, operands: tuple[Expression, ...], node: s.Call) -> Call:
    """The typed call; SqlError with its place if the function cannot be loaded or does not take the operands."""
    try:
        definition = found.definition
    except FunctionError as error:
        raise SqlError(error.message, position=node.position, hint=error.hint) from error
    return bind(
        definition,
        operands,
        node.position,
        system_name=found.system_name,
        catalog_name=found.catalog_name,
        class_name=found.class_name,
    )
