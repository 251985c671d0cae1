"""Comparisons of one column with a constant, whichever side it stands on."""

from __future__ import annotations

from execnodes.core.expressions import Call, Expression, InputRef, Literal
from planner.algebra.predicates import MIRRORED, function_name


def compared(condition: Expression, index: int) -> tuple[str, Literal] | None:
    """Operator and constant of ``column <operator> constant``; None if `condition` is something else."""
    if not isinstance(condition, Call) or len(condition.operands) != 2:
        return None
    operator = function_name(condition)
    column, bound = map(uncast, condition.operands)
    if isinstance(column, Literal):
        column, bound, operator = bound, column, MIRRORED.get(operator, "")
    if not isinstance(column, InputRef) or column.input_index != index or not isinstance(bound, Literal):
        return None
    return operator, bound


def uncast(expression: Expression) -> Expression:
    """Without a cast around it: a comparison may have widened either side."""
    is_cast = isinstance(expression, Call) and function_name(expression) == "CAST"
    return expression.operands[0] if isinstance(expression, Call) and is_cast else expression
