"""PRINTF since 2.1: NULL for whatever Java's Formatter does not take, in patterns of columns too.

Versions before ended the job for patterns of columns that do not fit, and for flags, digits and numbers of characters
that do not; milliseconds printed as parts of a time were NULL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import INTEGERS, Root
from execnodes.functions.function import Operands
from execnodes.functions.java_formats import ANY, CHARACTERS, fields, whole
from execnodes.functions.printed_values import PRINTF_3, length
from execnodes.functions.printf import fits
from execnodes.functions.printf_before import printed, printed_type
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_LAST_CHARACTER = 0x10FFFF
_MARK = "\0"


def _fields(value: Expression) -> str:
    return fields(length(printed_type(value.type)))


def _differs(operands: Operands) -> bool:
    """Whether a value of these types may be one that the pattern does not take, or that was not printed before."""
    pattern, *values = operands
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        return True
    taken = re.fullmatch(whole([_fields(each) for each in values]), pattern.value)
    return taken is None or not fits(pattern.value, [length(printed_type(each.type)) for each in values])


def _of_row(value: Expression, text: str) -> str:
    """The fields that take the value of a row, by the text that prints it."""
    taken = text_literal(_fields(value))
    if value.type.root in INTEGERS and value.type.root is not Root.BIGINT:
        taken = f"if({text} BETWEEN 0 AND {_LAST_CHARACTER}, {text_literal(CHARACTERS)}, {taken})"
    return f"if({text} IS NULL, {text_literal(ANY)}, {taken})"


def _expression(taken: Sequence[str]) -> str:
    """`whole` of what expressions give."""
    marked = whole([f"{_MARK}{at}{_MARK}" for at in range(len(taken))])
    parts = [taken[int(each)] if at % 2 else text_literal(each) for at, each in enumerate(marked.split(_MARK))]
    return f"concat('^(?:', {', '.join(parts)}, ')\\\\z')"


def _lower(scope: Scope, call: Call) -> str:
    pattern, *values = call.operands

    def made(texts: Sequence[str]) -> str:
        form, *known = texts
        taken = [_of_row(each, text) for each, text in zip(values, known, strict=True)]
        fits = scope.share_some(taken, range(len(taken)), lambda each: f"rlike({form}, {_expression(each)})")
        return f"if({fits}, format_string({', '.join(texts)}), NULL)"

    texts = [scope.text(pattern), *(printed(scope, each) for each in values)]
    return scope.share_some(texts, range(len(texts)), made)


PRINTF_4 = replace(PRINTF_3, lower=_lower, version=4, since="2.1", only=_differs)
