"""What [NOT] IN, EXISTS and comparisons with ALL or SOME say in an expression, from aggregates of the subquery's rows.

SQL's logic has three values: where no row decides and one is NULL, the answer is unknown.
"""

from __future__ import annotations

from execnodes.core.expressions import Expression, Literal
from execnodes.core.types import BIGINT, BOOLEAN
from execnodes.functions import resolve

_YES, _NO = (Literal(value=each, type=BOOLEAN.not_null()) for each in (True, False))
_UNKNOWN = Literal(value=None, type=BOOLEAN)
_ZERO = Literal(value=0, type=BIGINT.not_null())
BOUNDS = {"<": ("MAX",), "<=": ("MAX",), ">": ("MIN",), ">=": ("MIN",), "=": ("MIN", "MAX"), "<>": ("MIN", "MAX")}
"""Aggregates that decide a comparison with SOME."""


def some(count: Expression) -> Expression:
    """Whether there are rows; the count is NULL where a join has found none."""
    return resolve("IS TRUE", (resolve(">", (count, _ZERO)),))


def member(value: Expression, matches: Expression, rows: Expression, known: Expression) -> Expression:
    """Whether a value that may be NULL is in: rows that match, all rows, and those of them that are not NULL."""
    return _answer(some(matches), value, rows, known)


def compared(
    value: Expression, sign: str, bounds: list[Expression], rows: Expression, known: Expression, *, nullable: bool
) -> Expression:
    """``value sign SOME``; `bounds` as `BOUNDS` has them, `nullable` if the value or a row can be NULL."""
    found = resolve(sign, (value, bounds[0]))
    for bound in bounds[1:]:
        found = resolve("OR", (found, resolve(sign, (value, bound))))
    holds = resolve("IS TRUE", (found,))
    return _answer(holds, value, rows, known) if nullable else holds


def _answer(holds: Expression, value: Expression, rows: Expression, known: Expression) -> Expression:
    doubt = resolve("OR", (resolve("IS NULL", (value,)), resolve("<", (known, rows))))
    unknown = resolve("AND", (some(rows), resolve("IS TRUE", (doubt,))))
    return resolve("CASE", (holds, _YES, unknown, _UNKNOWN, _NO))
