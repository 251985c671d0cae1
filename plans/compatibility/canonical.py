"""Terms of savepoints of format 1, of which only texts may be known, are compared as texts, in one form.

What is not understood stays as it is: texts that differ then count as different, which is safe. Trees are compared by
`execnodes.terms.forms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from execnodes.core.meaning import accumulator, call_of
from execnodes.terms import forms
from execnodes.terms.shown import TEXT
from execnodes.terms.term import Term, leaf

_WHERE = " where "
_CALL = re.compile(r"\$([^\s$(]+)\$\d+\(")
_TYPE = re.compile(r"\{[^{}]*\}")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_COUNTED = re.compile(r'(?:-?\d[\d.eE+-]*|"(?:[^"\\]|\\.)*"|true|false)\{[^{}]*\}')
"""A literal that is not NULL: to count it is to count rows."""
_EITHER_WAY = frozenset({"+", "*", "=", "<>"})
_NESTED = frozenset({"AND", "OR"})
_MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_CASTS = frozenset({"CAST", "TRY_CAST"})


class _NotUnderstood(Exception):
    """The text is not made as these texts are."""


def same(one: Term, other: Term) -> bool:
    """Whether two terms mean the same, as far as can be told."""
    if TEXT not in (call_of(one).kind, call_of(other).kind):
        return forms.same(one, other)
    return one.text == other.text or canonical(one.text) == canonical(other.text)


def column_term(text: str, calls: Iterable[str]) -> Term:
    """What a column means of which only the text is known, and the texts of calls that it may be an accumulator of."""
    call = next((each for each in calls if text.startswith(f"{each}.")), None)
    return leaf(TEXT, text) if call is None else accumulator(leaf(TEXT, call), text.removeprefix(f"{call}."))


@lru_cache(maxsize=50_000)
def canonical(text: str) -> str:
    """The form of a text: operands of AND, OR, =, <>, + and * in order, comparisons too, no NOT of NOT, no idle casts.

    COUNT of a literal is COUNT(*).
    """
    try:
        origin, *conditions = _split(_formed(text), _WHERE)
    except (_NotUnderstood, RecursionError):
        return text
    return _WHERE.join([origin, *sorted(set(conditions))])


def _formed(text: str) -> str:
    parts, at = [], 0
    while at < len(text):
        match = _CALL.match(text, at)
        if match is None:
            string = _STRING.match(text, at)
            end = at + 1 if string is None else string.end()
            parts.append(text[at:end])
            at = end
            continue
        end = _closed(text, match.end())
        operands = [_formed(each) for each in _split(text[match.end() : end - 1])]
        kind = _TYPE.match(text, end)
        parts.append(_call(match, operands, kind[0] if kind else ""))
        at = kind.end() if kind else end
    return "".join(parts)


def _call(match: re.Match[str], operands: list[str], kind: str) -> str:
    name, head = match[1], match[0]
    if name == "COUNT" and len(operands) == 1 and _COUNTED.fullmatch(operands[0]):
        operands = ["*"]
    typed = bool(operands) and all(each.endswith("}") for each in operands)
    if typed and len(operands) == 1:
        (operand,) = operands
        inner = _CALL.match(operand)
        if name in _CASTS and operand.endswith(kind) and kind:
            return operand
        if name == "NOT" and inner is not None and inner[1] == "NOT":
            (twice,) = _split(operand[inner.end() : _closed(operand, inner.end()) - 1])
            return twice
    elif typed and name in _NESTED:
        operands = sorted(set(_flat(name, operands)))
    elif typed and len(operands) == 2:
        ordered = sorted(operands, key=_literals_last)
        if name in _MIRRORED and ordered != operands:
            head, operands = head.replace(f"${name}$", f"${_MIRRORED[name]}$"), ordered
        elif name in _EITHER_WAY:
            operands = ordered
    return f"{head}{', '.join(operands)}){kind}"


def _literals_last(operand: str) -> tuple[bool, str]:
    """Where an operand stands among others: reasons show these texts, and people write ``v > 1``."""
    return _COUNTED.fullmatch(operand) is not None, operand


def _flat(name: str, operands: list[str]) -> Iterator[str]:
    """Operands of an AND in an AND are its own."""
    for each in operands:
        inner = _CALL.match(each)
        end = _closed(each, inner.end()) if inner is not None else 0
        if inner is not None and inner[1] == name and _TYPE.fullmatch(each, end):
            yield from _flat(name, _split(each[inner.end() : end - 1]))
        else:
            yield each


def _closed(text: str, at: int) -> int:
    """Behind the parenthesis that ends a call whose operands begin at a place."""
    depth = 1
    while at < len(text):
        string = _STRING.match(text, at)
        if string is not None:
            at = string.end()
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
        if depth == 0:
            return at
    raise _NotUnderstood


def _split(text: str, between: str = ", ") -> list[str]:
    """Operands, by what stands between them; not those of what is inside."""
    parts, begun, at, depth = [], 0, 0, 0
    while at < len(text):
        string = _STRING.match(text, at)
        if string is not None:
            at = string.end()
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 and text.startswith(between, at):
            parts.append(text[begun:at])
            begun = at + len(between)
        at += 1
    if depth:
        raise _NotUnderstood
    return [*parts, text[begun:]]
