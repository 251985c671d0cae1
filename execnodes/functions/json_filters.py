"""Filters of JSON paths since 2.1: either side may be a path, also of the document, in parentheses too.

``[?((@.k < $.most || @.t.length() > 1) && @.v != null)]``, as Flink's Jayway reads it: values of unlike kinds are
unlike, but a number equals the text of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from execnodes.functions.json_scans import OTHER_MARK, TEXT_MARK, length_of
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_OPEN, _CLOSE = re.compile(r"\[\s*\?\s*\("), re.compile(r"\s*\)\s*\]")
_INNER, _INNER_END = re.compile(r"\s*\("), re.compile(r"\s*\)\s*")
_NAME = r"\.[^.\[\]*()?@\s'\"=!<>&|]++(?!\()"
_OPERAND = re.compile(
    rf"\s*(?:([@$])((?:{_NAME}|\[(?:'[^']*'|\d+)\])*)(\.(?:length|size)\(\))?"
    r"|(-?\d+(?:\.\d+)?|true|false)(?![\w.])|'([^'\\]*)'|\"([^\"\\]*)\"|(null)\b)\s*"
)
_OPERATOR = re.compile(r"==|!=|<=|>=|<|>|contains\b")
Test = Callable[[Scope, str, str], str]
"""Spark SQL of a condition: of a member, and of the document that it is in."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison."""

    base: str
    """``@`` for the member, ``$`` for the document, nothing for a constant."""
    text: str
    """A path in Spark's notation, or a constant with its mark; nothing for ``null``."""
    counts: bool = False

    def variant(self, member: str, document: str) -> str:
        """What a path leads to."""
        return f"variant_get({document if self.base == '$' else member}, {text_literal(self.text)}, 'variant')"

    def marked(self, scope: Scope, member: str, document: str) -> str:
        """A text with its mark; NULL of what is not there."""
        if not self.base:
            return text_literal(self.text)
        found = self.variant(member, document)
        return f"CAST({length_of(found) if self.counts else found} AS STRING)"


def read_filter(path: str, at: int) -> tuple[Test, int] | None:
    """The condition of a filter that stands at a place of a path, and where the filter ends."""
    start = _OPEN.match(path, at)
    found = None if start is None else _read_any(path, start.end())
    end = None if found is None else _CLOSE.match(path, found[1])
    return None if found is None or end is None else (found[0], end.end())


def _read_any(path: str, at: int) -> tuple[Test, int] | None:
    return _read_joined(path, at, "||", "OR", lambda p, a: _read_joined(p, a, "&&", "AND", _read_one))


def _read_joined(
    path: str, at: int, sign: str, word: str, part: Callable[[str, int], tuple[Test, int] | None]
) -> tuple[Test, int] | None:
    tests = list[Test]()
    while True:
        found = part(path, at)
        if found is None:
            return None
        tests.append(found[0])
        at = found[1]
        if not path.startswith(sign, at):
            break
        at += len(sign)
    return lambda scope, member, document: f"({f' {word} '.join(t(scope, member, document) for t in tests)})", at


def _read_one(path: str, at: int) -> tuple[Test, int] | None:
    inner = _INNER.match(path, at)
    if inner is not None:
        found = _read_any(path, inner.end())
        end = None if found is None else _INNER_END.match(path, found[1])
        return None if found is None or end is None else (found[0], end.end())
    left = _OPERAND.match(path, at)
    operator = None if left is None else _OPERATOR.match(path, left.end())
    right = None if operator is None else _OPERAND.match(path, operator.end())
    if left is None or operator is None or right is None:
        return None
    test = _comparison(_operand(left), operator[0], _operand(right))
    return None if test is None else (test, right.end())


def _operand(found: re.Match[str]) -> Operand:
    base, field, counts, other, single, double, null = found.groups()
    if base:
        return Operand(base, f"${field}", bool(counts))
    if null:
        return Operand("", "")
    return Operand("", f"{OTHER_MARK}{other}" if other else f"{TEXT_MARK}{double if single is None else single}")


def _comparison(left: Operand, operator: str, right: Operand) -> Test | None:
    """None for an order of null, and for two constants."""
    if not left.base and not right.base:
        return None
    nothing = next((each for each in (left, right) if not each.text), None)
    if nothing is not None:
        value = right if nothing is left else left
        if operator not in ("==", "!="):
            return None
        no = "NOT " if operator == "!=" else ""
        return lambda scope, member, document: (
            f"{no}coalesce(is_variant_null({value.variant(member, document)}), FALSE)"
        )

    def test(scope: Scope, member: str, document: str) -> str:
        sides = [each.marked(scope, member, document) for each in (left, right)]
        return scope.share_some(sides, [0, 1], lambda t: _test(t[0], t[1], operator))

    return test


def _test(left: str, right: str, operator: str) -> str:
    sides = (left, right)
    texts, others = (
        " AND ".join(f"left({each}, 1) = {text_literal(mark)}" for each in sides) for mark in (TEXT_MARK, OTHER_MARK)
    )
    bare = [f"substring({each}, 2)" for each in sides]
    numbers = [f"try_cast({each} AS DOUBLE)" for each in bare]
    if operator == "contains":
        test = f"CASE WHEN {texts} THEN contains({bare[0]}, {bare[1]}) END"
    elif operator in ("==", "!="):
        test = f"CASE WHEN {left} = {right} THEN TRUE WHEN NOT ({texts}) THEN {numbers[0]} = {numbers[1]} END"
    else:
        by_text, by_number = (f" {operator} ".join(each) for each in (bare, numbers))
        test = f"CASE WHEN {texts} THEN {by_text} WHEN {others} THEN {by_number} END"
    return f"{'NOT ' if operator == '!=' else ''}coalesce({test}, FALSE)"
