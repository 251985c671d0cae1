"""Calls that Flink refuses where they stand or for their constants, though their operands fit."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import NUMERICS, TEXTS, Root
from planner import syntax as s

_FLOATS = (Root.FLOAT, Root.DOUBLE)


def refuse_json(node: s.Expr, inside: str | None = None) -> None:
    """SqlError for JSON(…) that is no value of the JSON_OBJECT or JSON_ARRAY `inside` of which it stands."""
    if isinstance(node, s.Call) and node.name.upper() == "JSON" and inside not in ("JSON_OBJECT", "JSON_ARRAY"):
        raise SqlError(
            "JSON() may only be a value of JSON_OBJECT or JSON_ARRAY",
            position=node.position,
            hint="Write e.g. JSON_OBJECT('k' VALUE JSON(doc)); a text that is JSON is what it is without JSON().",
        )


def refuse_division_by_zero(call: Expression, node: s.Call) -> None:
    """SqlError for a constant that is divided by a floating-point zero; columns give Infinity or NaN, as in Flink."""
    if not isinstance(call, Call) or node.name != "/" or call.type.root not in _FLOATS:
        return
    divided, by = map(_constant, call.operands)
    if divided is not None and by == 0:
        hint = "Write CAST('Infinity' AS DOUBLE) if you mean that."
        raise SqlError("division by zero", position=node.position, hint=hint)


def _constant(expression: Expression) -> float | None:
    """The value of a number, or of one that is cast or has a sign; None of all else."""
    if isinstance(expression, Literal):
        known = expression.type.root in (*NUMERICS, *TEXTS) and expression.value is not None
        return _number(str(expression.value)) if known else None
    if not isinstance(expression, Call) or len(expression.operands) != 1:
        return None
    name = expression.internal_name.strip("$").partition("$")[0]
    if name in ("CAST", "PLUS_PREFIX"):
        return _constant(expression.operands[0]) if expression.type.root in NUMERICS else None
    found = _constant(expression.operands[0]) if name == "MINUS_PREFIX" else None
    return None if found is None else -found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
