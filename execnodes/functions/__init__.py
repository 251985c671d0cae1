"""Scalar functions: name and version, type inference, Spark SQL. The modules here are the list of functions."""

from execnodes.functions.folding import evaluate_constant
from execnodes.functions.lowering import can_fail, lower
from execnodes.functions.resolving import cast, is_deterministic, is_repeatable, known, may_vary, resolve, takes
from execnodes.functions.type_rules import can_cast_implicitly, common_type

__all__ = [
    "can_cast_implicitly",
    "can_fail",
    "cast",
    "common_type",
    "evaluate_constant",
    "is_deterministic",
    "is_repeatable",
    "known",
    "lower",
    "may_vary",
    "resolve",
    "takes",
]
