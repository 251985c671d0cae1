"""Types of what terms stand for, as far as terms tell them."""

from __future__ import annotations

import re
from functools import lru_cache

from execnodes.aggregates.registry import BY_INTERNAL_NAME
from execnodes.core.types import LogicalType, Root, parse_type
from execnodes.core.widening import holds
from execnodes.terms.term import Term

_FUNCTION = re.compile(r"\$(.+)\$\d+")
CASTS = frozenset({"CAST", "TRY_CAST"})
_AS_INSIDE = {"left": "column", "right": "column", "branch": "value", "zoned": "value", "not null": "value"}
"""Kinds that have the type of what is in a role of theirs."""


def type_of(term: Term) -> LogicalType | None:
    """The type of a value; None where it is not known, or where the term stands for no value."""
    while term.kind in _AS_INSIDE and term[_AS_INSIDE[term.kind]]:
        term = term[_AS_INSIDE[term.kind]][0]
    if term["type"] and term["type"][0].kind == "type":
        return parsed(term["type"][0])
    match term.kind:
        case "field":
            of = type_of(term["of"][0])
            fields = of.fields if of is not None and of.root is Root.ROW else ()
            return next((each.type for each in fields if each.name == term["name"][0].says), None)
        case "union column":
            return type_of(term["of"][0])
        case "aggregate":
            function = BY_INTERNAL_NAME.get(term["function"][0].says)
            argument = type_of(term["argument"][0])
            return function.result(argument) if function is not None and argument is not None else None
        case _:
            # Rows, and what is computed of several of them.
            return None


@lru_cache(maxsize=1000)
def parsed(leaf: Term) -> LogicalType:
    """The type that a leaf of that kind names."""
    return parse_type(leaf.says[1:-1])


def function_name(term: Term) -> str:
    """Name of the function of a call, without its version; empty for one of the user."""
    match = _FUNCTION.fullmatch(term["function"][0].says) if term["function"] else None
    return match[1] if match else ""


def is_cast(term: Term) -> bool:
    """Whether a term is a CAST of something."""
    return term.kind == "call" and function_name(term) in CASTS and len(term["operand"]) == 1


def without_casts(term: Term) -> Term:
    """What is below CASTs that keep every value."""
    while is_cast(term):
        inner = type_of(term["operand"][0])
        target = type_of(term)
        if inner is None or target is None or not holds(inner, target):
            break
        term = term["operand"][0]
    return term
