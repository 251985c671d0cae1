"""Calls of scalar functions of the user, typed."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Call, Expression
from execnodes.core.user_functions.scalar import ScalarDefinition


def bind(
    definition: ScalarDefinition,
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
        types = ", ".join(str(each.type) for each in operands)
        raise SqlError(
            f"{definition.name} does not take ({types})",
            position=position,
            hint=f"It takes {definition.name}{definition.parameters}. CAST the operands.",
        )
    return Call(
        system_name=system_name,
        catalog_name=catalog_name,
        class_name=class_name,
        non_deterministic=not definition.deterministic,
        operands=converted,
        type=definition.result,
    )
