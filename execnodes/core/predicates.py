"""Which expressions a stateful operator can evaluate itself, asked when a plan is compiled; no Polars in here.

`execnodes.kernels.polars_predicates` evaluates them.
"""

from __future__ import annotations

import re

from execnodes.core.expressions import Call, Expression, InputRef, Literal, children
from execnodes.core.types import INTEGERS, NESTED, TEXTS, TIMESTAMPS, LogicalType, Root

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
LOGIC = ("AND", "OR", "NOT")
TESTS = ("IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE")
ARITHMETIC = ("+", "-", "*")
FLOATS = (Root.FLOAT, Root.DOUBLE)
MAX_DIGITS = 38
"""Decimal digits that a 128-bit integer always holds."""
_INTEGER_DIGITS = {Root.TINYINT: 3, Root.SMALLINT: 5, Root.INT: 10, Root.BIGINT: 19}
_NAME = re.compile(r"\$(.+)\$1|\$(=|<>|IS (?:NOT )?DISTINCT FROM)\$2")
"""Of functions in versions that are evaluated alike; version 2 of comparisons is for what holds maps besides."""


def function_name(call: Call) -> str | None:
    """``=`` of ``$=$1``; None for a version that is not known here."""
    match = _NAME.fullmatch(call.internal_name)
    return match[1] or match[2] if match else None


def holds_floats(t: LogicalType) -> bool:
    """Return whether values of a type are approximate numbers, or have some within them."""
    members = [each.type for each in t.fields] if t.root is Root.ROW else t.children
    return t.root in FLOATS or any(map(holds_floats, members))


def supported(expression: Expression) -> bool:
    """True if a kernel can evaluate the expression."""
    if isinstance(expression, InputRef):
        return True
    if isinstance(expression, Literal):
        return expression.type.root not in NESTED
    if not isinstance(expression, Call) or not all(map(supported, children(expression))):
        return False
    name, types = function_name(expression), tuple(each.type for each in expression.operands)
    if name in LOGIC or name in TESTS:
        return True
    if name in COMPARISONS:
        return len(types) == 2 and _comparable(*types)
    if name in ARITHMETIC:
        return len(types) == 2 and _computable(name, *types, expression.type)
    if name == "CAST":
        return len(types) == 1 and _castable(types[0], expression.type)
    if name == "COALESCE":
        return all(_castable(each, expression.type) for each in types)
    return name == "LIKE" and len(types) == 2 and isinstance(expression.operands[1], Literal)


def _exact(t: LogicalType) -> bool:
    return t.root in INTEGERS or t.root is Root.DECIMAL


def _digits(t: LogicalType) -> int:
    return t.precision if t.root is Root.DECIMAL else _INTEGER_DIGITS[t.root]


def _comparable(left: LogicalType, right: LogicalType) -> bool:
    if Root.NULL in (left.root, right.root):
        return True
    if _exact(left) and _exact(right):
        scale = max(left.scale, right.scale)
        return all(_digits(t) - t.scale + scale <= MAX_DIGITS for t in (left, right))
    for group in (FLOATS, TEXTS, (*INTEGERS, *FLOATS)):
        if left.root in group and right.root in group:
            return True
    # Nested values are texts in kernels; their order would not be that of their members.
    return left.root == right.root and left.root not in NESTED


def _computable(name: str, left: LogicalType, right: LogicalType, result: LogicalType) -> bool:
    roots = {left.root, right.root}
    if roots <= {*INTEGERS, *FLOATS} and result.root in (*INTEGERS, *FLOATS):
        return True
    if roots <= {*INTEGERS, Root.DECIMAL} and result.root is Root.DECIMAL:
        if name == "*":
            return result.scale == left.scale + right.scale and _digits(left) + _digits(right) <= MAX_DIGITS
        scale = max(left.scale, right.scale)
        return result.scale == scale and all(_digits(t) - t.scale + scale < MAX_DIGITS for t in (left, right))
    moment, interval = left.root, right.root
    return name != "*" and moment in TIMESTAMPS and interval is Root.INTERVAL_DAY_TIME and result.root is moment


def _castable(source: LogicalType, target: LogicalType) -> bool:
    if source.root is Root.NULL or (source.root, source.scale) == (target.root, target.scale):
        # A shorter text would have to be cut, a CHAR to be padded, a timestamp to be rounded down.
        return target.root is not Root.CHAR and target.length >= source.length and target.precision >= source.precision
    if target.root in FLOATS:
        return source.root in (*INTEGERS, *FLOATS, Root.DECIMAL)
    if target.root in INTEGERS:
        return source.root in INTEGERS
    if target.root is Root.DECIMAL:
        return (
            _exact(source)
            and target.scale >= source.scale
            and _digits(source) - source.scale + target.scale <= MAX_DIGITS
        )
    return target.root is Root.VARCHAR and source.root in TEXTS and target.length >= source.length
