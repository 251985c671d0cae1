"""Functions over one ARRAY. NULL counts as a value: it is found, removed and kept like others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call
from execnodes.core.types import BOOLEAN, INT, STRING
from execnodes.functions.collections import bind_member, lower_join, widened
from execnodes.functions.families import operand
from execnodes.functions.function import Function, form, function
from execnodes.functions.scope import Scope

ARRAY_CONTAINS = Function(
    "ARRAY_CONTAINS",
    ("ARRAY_CONTAINS(ARRAY, element)",),
    bind_member(lambda t, member: BOOLEAN.with_nullable(t.nullable)),
    lambda scope, call: _over_members(scope, call, "exists({0}, {2} -> {2} <=> {1})"),
)
ARRAY_REMOVE = Function(
    "ARRAY_REMOVE",
    ("ARRAY_REMOVE(ARRAY, element)",),
    bind_member(lambda t, member: t),
    lambda scope, call: _over_members(scope, call, "filter({0}, {2} -> NOT ({2} <=> {1}))"),
)
ARRAY_APPEND = Function(
    "ARRAY_APPEND",
    ("ARRAY_APPEND(ARRAY, element)",),
    bind_member(widened),
    lambda scope, call: _over_members(scope, call, "concat({0}, array({1}))"),
)
ARRAY_PREPEND = Function(
    "ARRAY_PREPEND",
    ("ARRAY_PREPEND(ARRAY, element)",),
    bind_member(widened),
    lambda scope, call: _over_members(scope, call, "concat(array({1}), {0})"),
)
ARRAY_POSITION = Function(
    "ARRAY_POSITION",
    ("ARRAY_POSITION(ARRAY, element)",),
    bind_member(lambda t, member: INT.with_nullable(t.nullable or member.nullable)),
    lambda scope, call: _over_members(scope, call, "CAST(array_position({0}, {1}) AS INT)"),
)


def _over_members(scope: Scope, call: Call, text: str) -> str:
    return text.format(*scope.texts(call.operands), scope.fresh())


_SAME = form("ARRAY", operand(0))
_ELEMENT = form("ARRAY", lambda types: types[0].element, nullable=True)
ARRAY_DISTINCT = function("ARRAY_DISTINCT", _SAME, sql="array_distinct({0})")
ARRAY_REVERSE = function("ARRAY_REVERSE", _SAME, sql="reverse({0})")
ARRAY_MAX = function("ARRAY_MAX", _ELEMENT, sql="array_max({0})")
ARRAY_MIN = function("ARRAY_MIN", _ELEMENT, sql="array_min({0})")
ARRAY_JOIN = function("ARRAY_JOIN", form("ARRAY, TEXT, TEXT?", STRING), sql=lower_join)


def _lower_sort(scope: Scope, call: Call) -> str:
    """Ascending with NULLs first, or descending with NULLs last, unless the operands say otherwise."""
    values, *flags = scope.texts(call.operands)
    if not flags:
        return f"sort_array({values})"
    ascending = f"if({flags[0]}, sort_array({values}), sort_array({values}, FALSE))"
    if len(flags) == 1:
        return ascending
    each = scope.fresh()
    known = f"filter({values}, {each} -> {each} IS NOT NULL)"
    absent = f"filter({values}, {each} -> {each} IS NULL)"
    ordered = f"if({flags[0]}, sort_array({known}), sort_array({known}, FALSE))"
    return f"if({flags[1]}, concat({absent}, {ordered}), concat({ordered}, {absent}))"


ARRAY_SORT = function("ARRAY_SORT", form("ARRAY, BOOLEAN?, BOOLEAN?", operand(0)), sql=_lower_sort)


def _lower_sort_2(scope: Scope, call: Call) -> str:
    """NULL if one of the flags is."""

    def body(t: Sequence[str]) -> str:
        unknown = " OR ".join(f"{flag} IS NULL" for flag in t)
        return f"if({unknown}, NULL, {_lower_sort(scope, call)})"

    _, *flags = scope.texts(call.operands)
    return scope.share_some(flags, range(len(flags)), body)


ARRAY_SORT_2 = replace(
    ARRAY_SORT,
    lower=_lower_sort_2,
    version=2,
    since="1.5",
    only=lambda operands: any(each.type.nullable for each in operands[1:]),
)


def _lower_slice(scope: Scope, call: Call) -> str:
    """Both ends belong to the slice; negative places count from the end."""
    values, start, *end = scope.texts(call.operands)

    def body(a: str) -> str:
        def place(text: str) -> str:
            return f"if({text} < 0, size({a}) + 1 + {text}, {text})"

        first = f"greatest({place(start)}, 1)"
        last = f"if({place(end[0])} = 0, 1, {place(end[0])})" if end else f"size({a})"
        missing = "".join(f" OR {text} IS NULL" for text in (start, *end))
        return f"if({a} IS NULL{missing}, NULL, slice({a}, {first}, greatest({last} - {first} + 1, 0)))"

    return scope.share(values, body)


ARRAY_SLICE = function("ARRAY_SLICE", form("ARRAY, INT, INT?", operand(0)), sql=_lower_slice)
