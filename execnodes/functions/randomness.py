"""RAND, RAND_INTEGER and UUID: computed once a row for each place where they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import DOUBLE, INT, char
from execnodes.functions.folding import evaluate_constant
from execnodes.functions.function import Lower, Operands, form, function
from execnodes.functions.scope import ROW_OF_TASK, UUID_TEXT, Scope

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


def _has_seed(others: int) -> Callable[[Operands], bool]:
    """Whether a seed stands before so many other operands."""
    return lambda operands: len(operands) > others


_MASK = (1 << 48) - 1
_MOST_REJECTED = 64
"""Numbers that may be rejected before one is taken; each is with less than an even chance."""


_MULTIPLIER, _INCREMENT = 25214903917, 11
_MOST_ROWS_BITS = 33
"""Bits of the number of a row within its task (Spark's `monotonically_increasing_id`)."""


def _initial_state(seed: str) -> str:
    return f"((CAST({seed} AS BIGINT) ^ {_MULTIPLIER}L) & {_MASK}L)"


def _next_state(state: str) -> str:
    return f"(({state} * {_MULTIPLIER}L + {_INCREMENT}L) & {_MASK}L)"


def _leaps(steps_a_row: int) -> tuple[str, str]:
    """Return factors and summands that go `steps_a_row * 2**i` steps ahead, for each bit i of a row's number.

    Source: F. Brown, "Random Number Generation with Arbitrary Stride", Trans. Am. Nucl. Soc. 71 (1994).
    """
    factor, summand = 1, 0
    for _ in range(steps_a_row):
        factor, summand = factor * _MULTIPLIER & _MASK, (summand * _MULTIPLIER + _INCREMENT) & _MASK
    factors, summands = [], []
    for _ in range(_MOST_ROWS_BITS):
        factors.append(f"{factor}L")
        summands.append(f"{summand}L")
        factor, summand = factor * factor & _MASK, (summand * factor + summand) & _MASK
    return f"array({', '.join(factors)})", f"array({', '.join(summands)})"


def _first_state(scope: Scope, seed: Expression, steps_a_row: int) -> str:
    """State of Java's `Random` of a seed after one step; of a constant seed, the n-th row of a task goes on from it."""
    initial = _initial_state(scope.text(seed))
    if evaluate_constant(seed) is None:
        return _next_state(initial)
    factors, summands = _leaps(steps_a_row)
    state, bit = scope.fresh(), scope.fresh()

    def reached(row: str) -> str:
        ahead = f"({state} * element_at({factors}, {bit} + 1) + element_at({summands}, {bit} + 1)) & {_MASK}L"
        step = f"if((shiftright({row}, {bit}) & 1L) = 0L, {state}, {ahead})"
        return f"aggregate(sequence(0, {_MOST_ROWS_BITS - 1}), {initial}, ({state}, {bit}) -> {step})"

    return _next_state(scope.share(f"({ROW_OF_TASK} & {(1 << _MOST_ROWS_BITS) - 1}L)", reached))


def _lower_seeded_rand(scope: Scope, call: Call) -> str:
    """Return a double of Java's `Random`: of the row's seed the first one, of a constant seed one after the other."""
    (seed,) = call.operands

    def number(state: str) -> str:
        high, low = f"shiftleft(shiftright({state}, 22), 27)", f"shiftright({_next_state(state)}, 21)"
        return f"(({high} + {low}) / {1 << 53}D)"

    return f"if({scope.text(seed)} IS NULL, NULL, {scope.share(_first_state(scope, seed, 2), number)})"


def _lower_seeded_integer(scope: Scope, call: Call) -> str:
    """Return an integer below the bound of Java's `Random`: of the row's seed the first, of a constant one the next.

    Numbers that Java rejects on the way (of bounds near 2**31 many) are not counted for the rows after them.
    """
    seed, bound = call.operands[0], scope.text(call.operands[1])
    wrong = scope.failure("RAND_INTEGER: the bound must be positive, not ", f"CAST({bound} AS STRING)")
    state, turn = scope.fresh(), scope.fresh()

    def integer(most: str) -> str:
        drawn = f"shiftright({state}, 17)"
        rejected = f"{drawn} - {drawn} % {most} + {most} - 1 > {(1 << 31) - 1}L"
        step = f"if({rejected}, {_next_state(state)}, {state})"
        draws = f"aggregate(sequence(1, {_MOST_REJECTED}), {_first_state(scope, seed, 1)}, ({state}, {turn}) -> {step})"
        return scope.share(
            f"shiftright({draws}, 17)",
            lambda taken: (
                f"CAST(if(({most} & ({most} - 1)) = 0, shiftright({taken} * {most}, 31), {taken} % {most}) AS INT)"
            ),
        )

    checked = f"CAST(if({bound} <= 0, {wrong}, {bound}) AS BIGINT)"
    return f"if({scope.text(seed)} IS NULL, NULL, {scope.share(checked, integer)})"


# Version 1 gave other numbers for each use of a seed that differs from row to row, and Spark's for a constant one.
RAND_2 = replace(RAND, lower=_lower_seeded_rand, version=2, since="1.5", only=_has_seed(0))
RAND_INTEGER_2 = replace(RAND_INTEGER, lower=_lower_seeded_integer, version=2, since="1.5", only=_has_seed(1))
