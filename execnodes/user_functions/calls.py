"""Calls of scalar and table functions of the user, typed."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Call, Expression
from execnodes.user_functions.aggregate import AggregateDefinition
from execnodes.user_functions.scalar import ScalarDefinition
from execnodes.user_functions.table import TableDefinition


def bind(
    definition: ScalarDefinition | TableDefinition,
    operands: Sequence[Expression],
    position: Position | None,
    *,
    system_name: str = "",
    catalog_name: str = "",
    class_name: str = "",
) -> Call:
    """The typed call; SqlError if the function does not take these operands."""
    converted = definition.parameters.convert(operands)
    if converted is None:
        raise does_not_take(definition, operands, position)
    call = Call(
        system_name=system_name,
        catalog_name=catalog_name,
        class_name=class_name,
        non_deterministic=not definition.deterministic,
        operands=converted,
        type=definition.result,
    )
    return call.waiting() if isinstance(definition, ScalarDefinition) and definition.waits else call


def does_not_take(
    definition: ScalarDefinition | TableDefinition | AggregateDefinition,
    operands: Sequence[Expression],
    position: Position | None,
) -> SqlError:
    """The error of operands that do not fit."""
    types = ", ".join(str(each.type) for each in operands)
    return SqlError(
        f"{definition.name} does not take ({types})",
        position=position,
        hint=f"It takes {definition.name}{definition.parameters}. CAST the operands.",
    )
