"""Functions since 2.0 that refuse, by name, operands which have no order, or which are no texts, as Flink does.

What they take is computed by the version before, which plans name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.types import NESTED, TEXTS, LogicalType, Root
from execnodes.functions.arrays import ARRAY_JOIN, ARRAY_MAX, ARRAY_MIN, ARRAY_SORT_2
from execnodes.functions.comparison import BETWEEN, COMPARISONS
from execnodes.functions.conditional import GREATEST, LEAST
from execnodes.functions.function import Binding, Function, Invocation

_UNSORTED = (*NESTED, Root.BOOLEAN, Root.NULL, Root.INTERVAL_DAY_TIME, Root.INTERVAL_YEAR_MONTH)
"""Members that Flink does not put in order."""
Problem = Callable[[Invocation], str | None]


def _refusing(old: Function, find_problem: Problem, hint: str) -> Function:
    """As `old`, but operands in which there is a problem are refused."""

    def bind(call: Invocation) -> Binding | None:
        made = old.bind(call)
        problem = None if made is None else find_problem(call)
        if problem is not None:
            raise SqlError(f"{call.name} {problem}", position=call.position, hint=hint)
        return made

    return replace(old, bind=bind, version=old.version + 1, since="2.0", only=lambda operands: False)


def _find_unsorted(call: Invocation) -> str | None:
    members = _members(call)
    return f"does not compare members of type {members}" if members and members.root in _UNSORTED else None


def _find_other_members(call: Invocation) -> str | None:
    members = _members(call)
    return f"takes an ARRAY of texts, not of {members}" if members and members.root not in TEXTS else None


def _find_collection(call: Invocation) -> str | None:
    found = next((each for each in call.types if each.root in NESTED), None)
    return f"does not compare values of type {found}, which have no order" if found else None


def _members(call: Invocation) -> LogicalType | None:
    return call.types[0].element if call.operands and call.types[0].root is Root.ARRAY else None


_MEMBERS = "Members that are numbers, texts, bytes or times have an order."
ARRAYS = (
    *(_refusing(each, _find_unsorted, _MEMBERS) for each in (ARRAY_MIN, ARRAY_MAX, ARRAY_SORT_2)),
    _refusing(ARRAY_JOIN, _find_other_members, "Cast the ARRAY: CAST(… AS ARRAY<STRING>)."),
)
ORDERINGS = tuple(
    _refusing(each, _find_collection, "Compare fields or members, or texts: CAST(… AS STRING).")
    for each in (*(sign for sign in COMPARISONS if sign.name not in ("=", "<>")), *BETWEEN, GREATEST, LEAST)
)
