"""REGEXP_EXTRACT and REGEXP_EXTRACT_ALL of groups that take no part in a match: NULL, as in Flink.

Spark's functions give an empty text for such a group. One that did match an empty text is found by a reference to it
after the pattern: the reference matches no characters if the group took part, and fails if it did not. The pattern is
in an atomic group, so that it matches there as it does alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call, Literal
from execnodes.functions.function import Operands
from execnodes.functions.patterns import GROUPS_IN_COLUMNS, WITH_GROUPS
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_UNCLOSED = text_literal(r"\\Q(?!(?s:.)*\\E)|\(\?[a-zA-Z]*x")
"""Patterns that nothing can be written behind: a quotation without end, or comments. Their empty texts stay."""

_OPTIONAL = "|?*{"
"""Characters of patterns whose groups need not take part."""
_HEAD, _ATOMIC_HEAD = text_literal(r"\A(?s:.{"), text_literal(r"\A(?>(?s:.{")
_SKIPPED, _REFERENCE = text_literal("}.*?)(?:"), text_literal("))\\")


def absent(text: str, pattern: str, group: str, begin: str) -> str:
    """Whether a group has no part in the first match at or after `begin` (characters), where its text is empty."""
    tested = f"concat({_ATOMIC_HEAD}, {begin}, {_SKIPPED}, {pattern}, {_REFERENCE}, {group})"
    return f"({group} > 0 AND NOT rlike({pattern}, {_UNCLOSED}) AND NOT rlike({text}, {tested}))"


def _lower_extract(scope: Scope, call: Call) -> str:
    before = _of_earlier_version(0, scope, call)

    def body(t: Sequence[str]) -> str:
        text, pattern, group, value = t
        return f"if({value} = '' AND {absent(text, pattern, group, '0')}, CAST(NULL AS STRING), {value})"

    return scope.share_some([*scope.texts(call.operands), before], [0, 1, 2, 3], body)


def _lower_extract_all(scope: Scope, call: Call) -> str:
    """Where a text is empty, matches are gone through one by one, from the end of the one before."""
    before = _of_earlier_version(1, scope, call)
    at, state = scope.fresh(), scope.fresh()

    def body(t: Sequence[str]) -> str:
        text, pattern, group, values, wholes = t
        value, whole = (f"element_at({each}, {at})" for each in (values, wholes))
        missing = absent(text, pattern, group, f"{state}.e")
        checked = f"if({value} = '' AND {missing}, CAST(NULL AS STRING), {value})"
        head = f"concat({_HEAD}, {state}.e, {_SKIPPED}, {pattern}, ')')"
        end = f"char_length(regexp_extract({text}, {head}, 0)) + if({whole} = '', 1, 0)"
        made = f"named_struct('e', {end}, 'v', concat({state}.v, array({checked})))"
        start = "named_struct('e', 0, 'v', CAST(array() AS ARRAY<STRING>))"
        walked = f"aggregate(sequence(1, size({values})), {start}, ({state}, {at}) -> {made}).v"
        return f"if(array_contains({values}, '') AND {group} > 0, {walked}, {values})"

    texts = scope.texts(call.operands)
    wholes = f"regexp_extract_all({texts[0]}, {texts[1]}, 0)"
    return scope.share_some([*texts, before, wholes], [0, 1, 2, 3, 4], body)


def _of_earlier_version(index: int, scope: Scope, call: Call) -> str:
    """The text of versions 2 (constant patterns and groups) and 3: NULL for what is no pattern, or no group of it."""
    versions = (WITH_GROUPS, GROUPS_IN_COLUMNS)
    fixed = isinstance(call.operands[1], Literal) and isinstance(call.operands[2], Literal)
    return versions[not fixed][index].lower(scope, call)


def _may_be_absent(operands: Operands) -> bool:
    """Whether a group may be asked for that takes no part in a match: not the whole, nor one that has to be there."""
    _, pattern, group = operands
    if isinstance(group, Literal) and group.value in (0, None):
        return False
    return not isinstance(pattern, Literal) or any(each in str(pattern.value) for each in _OPTIONAL)


# Versions before gave an empty text for a group that took no part.
ABSENT_GROUPS = tuple(
    replace(old, lower=lower, version=4, since="1.5", only=_may_be_absent)
    for old, lower in zip(GROUPS_IN_COLUMNS, (_lower_extract, _lower_extract_all), strict=True)
)
