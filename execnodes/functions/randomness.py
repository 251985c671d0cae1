"""RAND, RAND_INTEGER and UUID: computed once a row for each place where they are written."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Call, Literal
from execnodes.core.types import DOUBLE, INT, char
from execnodes.functions.folding import evaluate_constant
from execnodes.functions.function import Lower, Operands, form, function
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


def _has_seed_of_row(operands: Operands, others: int) -> bool:
    """Whether a seed, which stands before so many `others`, differs from row to row."""
    return len(operands) > others and evaluate_constant(operands[0]) is None


_MASK = (1 << 48) - 1
_MOST_REJECTED = 64
"""Numbers that may be rejected before one is taken; each is with less than an even chance."""


def _first_state(seed: str) -> str:
    """State of Java's `Random` of a seed after one step."""
    return _next_state(f"((CAST({seed} AS BIGINT) ^ 25214903917L) & {_MASK}L)")


def _next_state(state: str) -> str:
    return f"(({state} * 25214903917L + 11L) & {_MASK}L)"


def _lower_rand_of_row(scope: Scope, call: Call) -> str:
    """Return the first double of Java's `Random` of the row's seed."""
    (seed,) = scope.texts(call.operands)

    def number(state: str) -> str:
        high, low = f"shiftleft(shiftright({state}, 22), 27)", f"shiftright({_next_state(state)}, 21)"
        return f"(({high} + {low}) / {1 << 53}D)"

    return scope.share(_first_state(seed), number)


def _lower_integer_of_row(scope: Scope, call: Call) -> str:
    """Return the first integer below the bound of Java's `Random` of the row's seed."""
    seed, bound = scope.texts(call.operands)
    wrong = scope.failure("RAND_INTEGER: the bound must be positive, not ", f"CAST({bound} AS STRING)")
    state, turn = scope.fresh(), scope.fresh()

    def integer(most: str) -> str:
        drawn = f"shiftright({state}, 17)"
        rejected = f"{drawn} - {drawn} % {most} + {most} - 1 > {(1 << 31) - 1}L"
        step = f"if({rejected}, {_next_state(state)}, {state})"
        draws = f"aggregate(sequence(1, {_MOST_REJECTED}), {_first_state(seed)}, ({state}, {turn}) -> {step})"
        return scope.share(
            f"shiftright({draws}, 17)",
            lambda taken: (
                f"CAST(if(({most} & ({most} - 1)) = 0, shiftright({taken} * {most}, 31), {taken} % {most}) AS INT)"
            ),
        )

    checked = f"CAST(if({bound} <= 0, {wrong}, {bound}) AS BIGINT)"
    return f"if({seed} IS NULL, NULL, {scope.share(checked, integer)})"


# Version 1 gave other numbers for each use of one seed.
RAND_2 = replace(
    RAND, lower=_lower_rand_of_row, version=2, since="1.5", only=lambda operands: _has_seed_of_row(operands, 0)
)
RAND_INTEGER_2 = replace(
    RAND_INTEGER,
    lower=_lower_integer_of_row,
    version=2,
    since="1.5",
    only=lambda operands: _has_seed_of_row(operands, 1),
)
