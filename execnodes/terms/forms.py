"""One form for terms that mean the same: what they are compared by. It is never stored, so it may get to know more.

What is not known to be equal counts as different, which is safe.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from execnodes.terms.term import Order, Part, Term, below, leaf

_FUNCTION = re.compile(r"\$(\S+)\$(\d+)")
_EITHER_WAY = frozenset({"+", "*", "=", "<>"})
_NESTED = frozenset({"AND", "OR"})
_MIRRORED = {">": "<", ">=": "<="}
_ALL_TRUE = frozenset({"filter", "condition"})
"""Roles of conditions that must all be TRUE."""
_AND = leaf("function", "$AND$1")
_EVERY_ROW = leaf("rows", "*")
_MOST = 100_000
"""Forms that are kept."""


def same(one: Term, other: Term) -> bool:
    """Whether two terms mean the same, as far as can be told.

    A column that is not NULL in one plan may be in the other: COUNT of it is COUNT(*), and COUNT of what it is there.
    """
    return one == other or form(one) == form(other) or form(one, counted=True) == form(other, counted=True)


def form(term: Term, *, counted: bool = False) -> Term:
    """The form of a term: no order of operands where it does not count, comparisons one way, no AND in an AND, no NOT
    of NOT, no idle casts; COUNT of a constant is COUNT(*), and `counted` that of a column that is never NULL, too.
    """
    known = _KNOWN[counted]
    if term.digest in known:
        return known[term.digest]
    if len(known) > _MOST:
        known = _KNOWN[counted] = {}
    for each in below(term, lambda term: term.digest not in known):
        known[each.digest] = _formed(each, known, counted)
    return known[term.digest]


_KNOWN: dict[bool, dict[str, Term]] = {False: {}, True: {}}
"""Digests of terms to their forms, without and with what is `counted`."""


def function_of(term: Term) -> str:
    """Name of the function of a call, without its version; empty for what is none."""
    match = _FUNCTION.fullmatch(term["function"][0].says) if term["function"] else None
    return match[1] if match else ""


def _formed(term: Term, known: dict[str, Term], counted: bool) -> Term:
    """The form of a term whose parts have theirs."""
    if not term.parts:
        return term
    parts = tuple(_part(each, known) for each in term.parts)
    changed = any(a is not b for old, new in zip(term.parts, parts, strict=True) for a, b in _pairs(old, new))
    made = Term(term.kind, term.says, parts) if changed else term
    if term.kind == "call":
        return _call(made)
    if term.kind == "idle cast":
        return made["operand"][0]
    if term.kind == "aggregate":
        return _aggregate(made, counted)
    if term.kind == "not null" and not counted:
        return made["value"][0]
    return made


def _pairs(old: Part, new: Part) -> Iterator[tuple[Term, Term | None]]:
    if len(old.terms) != len(new.terms):
        yield old.terms[0], None
    yield from zip(old.terms, new.terms, strict=False)


def _part(part: Part, known: dict[str, Term]) -> Part:
    terms = [known[each.digest] for each in part.terms]
    if part.role in _ALL_TRUE and part.order is Order.SET:
        terms = [inner for each in terms for inner in _flat(_AND, each)]
    if part.order is Order.SET:
        terms = sorted(dict.fromkeys(terms), key=lambda each: each.digest)
    return Part(part.role, tuple(terms), part.order)


def _call(call: Term) -> Term:
    name, operands = function_of(call), call["operand"]
    if name == "NOT" and len(operands) == 1 and operands[0]["function"] == call["function"]:
        return operands[0]["operand"][0]
    if name in _NESTED:
        flat = dict.fromkeys(inner for each in operands for inner in _flat(call["function"][0], each))
        if len(flat) == 1:
            return next(iter(flat))
        return _with(call, "operand", Part("operand", tuple(sorted(flat, key=_digest)), Order.SET))
    if len(operands) == 2 and name in _MIRRORED:
        function = call["function"][0].says.replace(f"${name}$", f"${_MIRRORED[name]}$")
        turned = _with(call, "operand", Part("operand", operands[::-1]))
        return _with(turned, "function", Part("function", (leaf("function", function),)))
    if len(operands) == 2 and name in _EITHER_WAY:
        return _with(call, "operand", Part("operand", tuple(sorted(operands, key=_digest)), Order.BAG))
    return call


def _flat(function: Term, term: Term) -> tuple[Term, ...]:
    """Operands of an AND in an AND are its own; they have their form, so that there is no third one inside."""
    return term["operand"] if term.kind == "call" and term["function"] == (function,) else (term,)


def _aggregate(call: Term, counted: bool) -> Term:
    arguments = call["argument"]
    if function_of(call) != "COUNT" or len(arguments) != 1 or call["distinct"]:
        return call
    argument = arguments[0]
    if argument.kind == "not null" and not counted:
        argument = argument["value"][0]
    constant = argument.kind == "literal" and argument["value"][0].says != "null"
    return _with(
        call, "argument", Part("argument", (_EVERY_ROW if constant or argument.kind == "not null" else argument,))
    )


def _with(term: Term, role: str, part: Part) -> Term:
    return Term(term.kind, term.says, tuple(part if each.role == role else each for each in term.parts))


def _digest(term: Term) -> str:
    return term.digest
