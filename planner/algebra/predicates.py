"""Expressions as conditions: calls by name, the parts of a conjunction."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.expressions import Call, Expression, Literal, conditions_of
from execnodes.core.types import BOOLEAN
from execnodes.functions import is_deterministic

TRUE = Literal(value=True, type=BOOLEAN.not_null())
MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""How a comparison reads from its other side."""
OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
"""Which comparison is TRUE where one is FALSE; where one is NULL, so is the other."""


def is_call(expression: Expression, *names: str) -> bool:
    """True for a call of one of these functions, whatever their version."""
    return isinstance(expression, Call) and function_name(expression) in names


def function_name(call: Call) -> str:
    """The name alone, without version: ``=`` of ``$=$1``."""
    return call.internal_name[1:].rpartition("$")[0]


def conjuncts(condition: Expression) -> list[Expression]:
    """The parts of nested ANDs, without TRUE; a BETWEEN counts as two comparisons."""
    parts: list[Expression] = []
    for each in conditions_of(condition):
        if isinstance(each, Call) and function_name(each) == "BETWEEN" and is_deterministic(each):
            value, low, high = each.operands
            parts += [_compared(">=", value, low), _compared("<=", value, high)]
        elif not (isinstance(each, Literal) and each.value is True):
            parts.append(each)
    return parts


def _compared(operator: str, value: Expression, bound: Expression) -> Call:
    nullable = value.type.nullable or bound.type.nullable
    return Call(internal_name=f"${operator}$1", operands=(value, bound), type=BOOLEAN.with_nullable(nullable))


def conjunction(parts: Sequence[Expression]) -> Expression | None:
    """All parts together; None for none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    nullable = any(each.type.nullable for each in parts)
    return Call(internal_name="$AND$1", operands=tuple(parts), type=BOOLEAN.with_nullable(nullable))
