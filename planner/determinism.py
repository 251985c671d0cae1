"""Which expressions give the same value for the same row each time they are computed."""

from __future__ import annotations

from execnodes.core.expressions import Call, Expression, walk
from planner.tree import function_name

_VOLATILE = frozenset({"RAND", "RAND_INTEGER", "UUID"})


def is_deterministic(expression: Expression) -> bool:
    """False if computing it twice may give two values."""
    return not any(isinstance(each, Call) and function_name(each) in _VOLATILE for each in walk(expression))
