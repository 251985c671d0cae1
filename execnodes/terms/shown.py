"""Terms for people: without types and versions, comparisons as they are written, and never longer than a sentence."""

from __future__ import annotations

import re

from execnodes.terms.forms import function_of
from execnodes.terms.term import Order, Part, Term, pieces

_ROOM = 240
"""Characters."""
_DEPTHS = (12, 8, 6, 5, 4, 3, 2)
"""How many levels are shown, as long as they take too much room; what is deeper is left out."""
_DEFAULT = "default_catalog.default_database."
_ELLIPSIS = "…"
TEXT = "text"
"""Kind of a leaf that is all that is known of a term: texts of savepoints of format 1 that no plan explains."""


def shown(term: Term, room: int = _ROOM) -> str:
    """A term in a sentence of at most so many characters."""
    text = ""
    for depth in _DEPTHS:
        text = _shown(term, depth, {})
        if len(text) <= room:
            return text
    return f"{text[: room - 1]}{_ELLIPSIS}"


def readable(text: str) -> str:
    """A term's whole text, for people: without types, versions of functions and default catalog."""
    short = re.sub(r"\{[^{}]*\}", "", text).replace(_DEFAULT, "")
    return re.sub(r"\$([^\s$(]+)\$\d+", r"\1", short)


def _shown(term: Term, depth: int, known: dict[tuple[str, int], str]) -> str:
    if not term.parts:
        return _leaf(term)
    if depth == 0:
        return _ELLIPSIS
    at = (term.digest, depth)
    if at not in known:
        parts = {each.role: each for each in term.parts}
        operands = [_shown(each, depth - 1, known) for each in term["operand"]]
        known[at] = _infix(term, operands) or "".join(
            literal + (_joined(parts[role], between, depth - 1, known) if role else "")
            for literal, role, between in pieces(term.says)
        )
    return known[at]


def _leaf(term: Term) -> str:
    if term.kind == "type":
        return ""
    if term.kind == "function":
        return re.sub(r"\$(\S+)\$\d+", r"\1", term.says)
    if term.kind == TEXT:
        return readable(term.says)
    return term.says.removeprefix(_DEFAULT) if term.kind == "table" else term.says


def _infix(term: Term, operands: list[str]) -> str:
    """``v > 1``; empty for what is no such call."""
    name = function_of(term)
    if not name or len(operands) < 2 or (name[0].isalpha() and name not in ("AND", "OR")):
        return ""
    inner = [function_of(each) for each in term["operand"]]
    atoms = [
        f"({text})" if each in ("AND", "OR") or (each and not each[0].isalpha() and name not in ("AND", "OR")) else text
        for text, each in zip(operands, inner, strict=True)
    ]
    return f" {name} ".join(sorted(atoms) if term.parts[1].order is Order.SET else atoms)


def _joined(part: Part, between: str, depth: int, known: dict[tuple[str, int], str]) -> str:
    texts = [_shown(each, depth, known) for each in part.terms]
    return between.join(sorted(set(texts)) if part.order is Order.SET else texts)
