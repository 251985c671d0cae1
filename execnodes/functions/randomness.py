"""RAND, RAND_INTEGER and UUID: computed once a row for each place where they are written."""

from __future__ import annotations

from execnodes.core.expressions import Call, Literal
from execnodes.core.types import DOUBLE, INT, char
from execnodes.functions.function import Lower, form, function
from execnodes.functions.scope import UUID_TEXT, Scope

_UNIFORM = f"(CAST(conv(right({UUID_TEXT}, 12), 16, 10) AS BIGINT) / 281474976710656D)"
"""From 48 random bits: Spark's own rand() begins anew in each micro-batch."""


def _random(scope: Scope, call: Call) -> str:
    """In [0, 1): with a constant seed the same numbers in each run, for each task and micro-batch."""
    seed = call.operands[0] if call.operands else None
    if isinstance(seed, Literal) and seed.value is not None:
        return f"rand({seed.value})"
    return _UNIFORM if seed is None else f"if({scope.text(seed)} IS NULL, NULL, {_UNIFORM})"


def _integer() -> Lower:
    """From 0 up to the bound, which must be positive."""

    def lower(scope: Scope, call: Call) -> str:
        *seed, bound = call.operands
        number = _random(scope, call.model_copy(update={"operands": tuple(seed)}))
        wrong = scope.failure("RAND_INTEGER: the bound must be positive, not ", f"CAST({scope.text(bound)} AS STRING)")
        return scope.share(
            scope.text(bound), lambda most: f"CAST(floor({number} * if({most} <= 0, {wrong}, {most})) AS INT)"
        )

    return lower


RAND = function("RAND", form("INT?", DOUBLE), sql=_random, deterministic=False, repeatable=False, since="1.3")
RAND_INTEGER = function(
    "RAND_INTEGER",
    form("INT", INT),
    form("INT, INT", INT),
    sql=_integer(),
    deterministic=False,
    repeatable=False,
    since="1.3",
)
UUID = function(
    "UUID", form("", char(36), nullable=False), sql=UUID_TEXT, deterministic=False, repeatable=False, since="1.3"
)
