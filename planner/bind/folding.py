"""Constants are computed while planning."""

from __future__ import annotations

from execnodes.core.expressions import Expression
from execnodes.functions import evaluate_constant


def fold(expression: Expression) -> Expression:
    """The constant an expression stands for, or the expression if it is none."""
    return evaluate_constant(expression) or expression
