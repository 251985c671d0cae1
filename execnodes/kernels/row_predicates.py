"""Typed expressions as Python functions, for what is asked row by row.

They give what `polars_predicates` gives of the same values, which are those of kernels (`kernel_types`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ctypes import c_float
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from typing import Any

import polars as pl

from execnodes.core.expressions import Call, Expression, InputRef, Literal
from execnodes.core.predicates import COMPARISONS, FLOATS, function_name
from execnodes.core.types import INTEGERS, LogicalType, Root
from execnodes.kernels.polars_predicates import compile as compile_predicate

Evaluate = Callable[[Any], Any]
"""The value of an expression, or of an input column, for whatever stands for a row; None for NULL."""
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_COMPUTE: dict[str, Callable[[Any, Any], Any]] = {"+": add, "-": sub, "*": mul}
_TEST: dict[str, Callable[[Any], bool | None]] = {
    "NOT": lambda x: None if x is None else not x,
    "IS NULL": lambda x: x is None,
    "IS NOT NULL": lambda x: x is not None,
    "IS TRUE": lambda x: x is True,
    "IS NOT TRUE": lambda x: x is not True,
    "IS FALSE": lambda x: x is False,
    "IS NOT FALSE": lambda x: x is not False,
}
_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}


def compile(expression: Expression, columns: Sequence[Evaluate]) -> Evaluate:
    """The function of an expression that is `supported`, from those of its input columns; PlanError if it is not."""
    compile_predicate(expression, [f"c{at}" for at in range(len(columns))])
    return _function(expression, columns)


def _function(expression: Expression, columns: Sequence[Evaluate]) -> Evaluate:
    if isinstance(expression, InputRef):
        return columns[expression.input_index]
    if isinstance(expression, Literal):
        constant = pl.select(compile_predicate(expression, ())).item()
        return lambda row: constant
    assert isinstance(expression, Call)
    name = function_name(expression)
    types = [each.type for each in expression.operands]
    values = [_function(each, columns) for each in expression.operands]
    if name in ("AND", "OR"):
        return _connected(values, decisive=name == "OR")
    if name in _TEST:
        test, (value,) = _TEST[name], values
        return lambda row: test(value(row))
    if name in COMPARISONS:
        return _comparison(name, values, types)
    if name in _COMPUTE:
        return _computation(name, values, types, expression.type)
    if name == "CAST":
        return _cast(values[0], types[0], expression.type)
    if name == "COALESCE":
        casts = [_cast(value, t, expression.type) for value, t in zip(values, types, strict=True)]
        return lambda row: next((found for each in casts if (found := each(row)) is not None), None)
    text, pattern = values[0], expression.operands[1]
    assert name == "LIKE"
    assert isinstance(pattern, Literal)
    if pattern.value is None:
        return lambda row: None
    parts = (".*" if c == "%" else "." if c == "_" else re.escape(c) for c in str(pattern.value))
    matches = re.compile("".join(parts), re.S).fullmatch
    return _strict(lambda value: matches(value) is not None, text)


def _connected(values: list[Evaluate], *, decisive: bool) -> Evaluate:
    """AND, or OR: one value decides, and else one that is NULL."""

    def value(row: Any) -> bool | None:
        found: bool | None = not decisive
        for each in values:
            member = each(row)
            if member is decisive:
                return member
            if member is None:
                found = None
        return found

    return value


def _strict(function: Callable[..., Any], *operands: Evaluate) -> Evaluate:
    """NULL where one of one or two operands is."""
    if len(operands) == 1:
        (operand,) = operands

        def of_one(row: Any) -> Any:
            value = operand(row)
            return None if value is None else function(value)

        return of_one
    left, right = operands

    def of_two(row: Any) -> Any:
        first = left(row)
        if first is None:
            return None
        second = right(row)
        return None if second is None else function(first, second)

    return of_two


def _comparison(name: str, values: list[Evaluate], types: list[LogicalType]) -> Evaluate:
    if Root.DECIMAL in (types[0].root, types[1].root):
        scale = max(t.scale for t in types)
        values = [_rescaled(value, t, scale) for value, t in zip(values, types, strict=True)]
    left, right = values
    if name in _COMPARE:
        return _strict(_COMPARE[name], left, right)
    differ = name == "IS DISTINCT FROM"
    if all(t.root in FLOATS for t in types):
        return lambda row: _is_distinct(left(row), right(row)) is differ
    return lambda row: (left(row) != right(row)) is differ


def _is_distinct(first: float | None, second: float | None) -> bool:
    """Whether two numbers are: a NaN is not from another one."""
    both_nan = first != first and second != second
    return first != second and not both_nan


def _computation(name: str, values: list[Evaluate], types: list[LogicalType], result: LogicalType) -> Evaluate:
    compute = _COMPUTE[name]
    if result.root is Root.DECIMAL:
        if name != "*":
            values = [_rescaled(value, t, result.scale) for value, t in zip(values, types, strict=True)]
        return _strict(lambda a, b: fitting(compute(a, b), result), *values)
    if result.root is Root.FLOAT:
        return _strict(lambda a, b: c_float(compute(a, b)).value, *values)
    if result.root is Root.DOUBLE:
        return _strict(lambda a, b: float(compute(a, b)), *values)
    if types[1].root is Root.INTERVAL_DAY_TIME:
        return _strict(lambda a, b: compute(a, b * 1000), *values)
    return _strict(lambda a, b: wrapped(compute(a, b), result), *values)


def _cast(value: Evaluate, source: LogicalType, target: LogicalType) -> Evaluate:
    if source.root is Root.NULL:
        return lambda row: None
    if target.root is Root.DECIMAL:
        return _strict(lambda each: fitting(each, target), _rescaled(value, source, target.scale))
    if target.root in FLOATS:
        divisor = 10.0**source.scale if source.root is Root.DECIMAL else 1.0
        if target.root is Root.FLOAT:
            return _strict(lambda each: c_float(each / divisor).value, value)
        return _strict(lambda each: each / divisor, value)
    if target.root in INTEGERS and source.root in INTEGERS:
        return _strict(lambda each: wrapped(each, target), value)
    return value


def _rescaled(value: Evaluate, t: LogicalType, scale: int) -> Evaluate:
    """Unscaled number of that scale."""
    factor = 10 ** (scale - t.scale)
    return value if factor == 1 else _strict(lambda each: each * factor, value)


def fitting(value: int, t: LogicalType) -> int | None:
    """NULL where a DECIMAL has more digits than its type."""
    return value if -(10**t.precision) < value < 10**t.precision else None


def wrapped(value: int, t: LogicalType) -> int:
    """Integers overflow silently, each in its own width."""
    half = 1 << (_BITS[t.root] - 1)
    return (value + half) % (2 * half) - half
