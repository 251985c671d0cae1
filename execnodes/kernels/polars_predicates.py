"""Typed expressions over the values of kernels, as Polars expressions; SQL's three-valued logic is Polars' own."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from functools import reduce
from operator import add, and_, eq, ge, gt, le, lt, mul, ne, or_, sub

import polars as pl

from execnodes.core.errors import PlanError
from execnodes.core.expressions import Call, Expression, InputRef, Literal
from execnodes.core.predicates import COMPARISONS, FLOATS, function_name, supported
from execnodes.core.types import BINARIES, INTEGERS, LogicalType, Root
from execnodes.state.kernel_types import kernel_dtype

Binary = Callable[[pl.Expr, pl.Expr], pl.Expr]
_COMPARE: dict[str, Binary] = {
    "=": eq,
    "<>": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "IS DISTINCT FROM": lambda a, b: a.ne_missing(b),
    "IS NOT DISTINCT FROM": lambda a, b: a.eq_missing(b),
}
_OF_NAN = ("=", "<>", "<", "<=", ">", ">=")
_COMPUTE: dict[str, Binary] = {"+": add, "-": sub, "*": mul}
_TEST: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "NOT": lambda x: ~x,
    "IS NULL": lambda x: x.is_null(),
    "IS NOT NULL": lambda x: x.is_not_null(),
    "IS TRUE": lambda x: x.fill_null(False),
    "IS NOT TRUE": lambda x: ~x.fill_null(False),
    "IS FALSE": lambda x: ~x.fill_null(True),
    "IS NOT FALSE": lambda x: x.fill_null(True),
}
_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32}
_EXACT = Context(prec=60)
_EPOCH = dt.datetime(1970, 1, 1)


def compile(expression: Expression, columns: Sequence[str]) -> pl.Expr:
    """The value of an expression whose input columns have these names; PlanError if it cannot be evaluated here."""
    if not supported(expression):
        raise PlanError(
            "an expression of the condition cannot be evaluated inside a stateful operator",
            hint="Compute it in a subquery below, as a column of its own.",
        )
    return _value(expression, columns)


def _value(expression: Expression, columns: Sequence[str]) -> pl.Expr:
    if isinstance(expression, InputRef):
        return pl.col(columns[expression.input_index])
    if isinstance(expression, Literal):
        return _literal(expression)
    assert isinstance(expression, Call)
    name = function_name(expression)
    types = [each.type for each in expression.operands]
    values = [_value(each, columns) for each in expression.operands]
    if name in ("AND", "OR"):
        return reduce(and_ if name == "AND" else or_, values)
    if name in _TEST:
        return _TEST[name](values[0])
    if name in COMPARISONS:
        return _compare(name, values, types)
    if name in _COMPUTE:
        return _compute(name, values, types, expression.type)
    if name == "CAST":
        return _cast(values[0], types[0], expression.type)
    if name == "COALESCE":
        return pl.coalesce(_cast(value, t, expression.type) for value, t in zip(values, types, strict=True))
    pattern = expression.operands[1]
    assert isinstance(pattern, Literal)
    return values[0].str.contains(_like(str(pattern.value))) if pattern.value is not None else _null(expression.type)


def _null(t: LogicalType) -> pl.Expr:
    return pl.lit(None, pl.Null() if t.root is Root.NULL else kernel_dtype(t))


def _compare(name: str, values: list[pl.Expr], types: list[LogicalType]) -> pl.Expr:
    left, right = values
    if Root.DECIMAL in (types[0].root, types[1].root):
        scale = max(t.scale for t in types)
        left, right = (_rescaled(value, t, scale) for value, t in zip(values, types, strict=True))
    elif any(t.root in FLOATS for t in types):
        left, right = left.cast(pl.Float64), right.cast(pl.Float64)
        if name in _OF_NAN:
            return _without_nan(name, left, right)
    return _COMPARE[name](left, right)


def _without_nan(name: str, left: pl.Expr, right: pl.Expr) -> pl.Expr:
    """A NaN equals nothing and is neither less nor greater, as in Java; to Polars it is the greatest number."""
    compared = _COMPARE[name](left, right)
    nan = compared.is_not_null() & (left.is_nan() | right.is_nan())
    return pl.when(nan).then(name == "<>").otherwise(compared)


def _compute(name: str, values: list[pl.Expr], types: list[LogicalType], result: LogicalType) -> pl.Expr:
    left, right = values
    if result.root is Root.DECIMAL:
        if name == "*":
            product = left.cast(pl.Int128) * right.cast(pl.Int128)
        else:
            product = _COMPUTE[name](*(_rescaled(v, t, result.scale) for v, t in zip(values, types, strict=True)))
        return _fitting(product, result)
    if result.root in FLOATS:
        dtype = kernel_dtype(result)
        return _COMPUTE[name](left.cast(dtype), right.cast(dtype))
    if types[1].root is Root.INTERVAL_DAY_TIME:
        return _COMPUTE[name](left, right * 1000)
    return _wrapped(_COMPUTE[name](left, right), result)


def _cast(value: pl.Expr, source: LogicalType, target: LogicalType) -> pl.Expr:
    if target.root is Root.DECIMAL and source.root is not Root.NULL:
        return _fitting(_rescaled(value, source, target.scale), target)
    if target.root in FLOATS and source.root is Root.DECIMAL:
        return (value.cast(pl.Float64) / 10.0**source.scale).cast(kernel_dtype(target))
    if target.root in INTEGERS and source.root in INTEGERS:
        return _wrapped(value, target)
    return value.cast(kernel_dtype(target))


def _rescaled(value: pl.Expr, t: LogicalType, scale: int) -> pl.Expr:
    """Unscaled number of that scale, in 128 bits."""
    return value.cast(pl.Int128) * pl.lit(10 ** (scale - t.scale), pl.Int128)


def _fitting(value: pl.Expr, t: LogicalType) -> pl.Expr:
    """NULL where a DECIMAL has more digits than its type."""
    limit = pl.lit(10**t.precision, pl.Int128)
    return pl.when((value < limit) & (value > -limit)).then(value).cast(kernel_dtype(t))


def _wrapped(value: pl.Expr, t: LogicalType) -> pl.Expr:
    """Integers overflow silently, each in its own width."""
    if t.root is Root.BIGINT:
        return value
    half = 1 << (_BITS[t.root] - 1)
    return (value + half).mod(2 * half) - half


def _like(pattern: str) -> str:
    """A LIKE pattern as a regular expression; both wildcards match line breaks."""
    parts = (".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern)
    return f"(?s)^{''.join(parts)}\\z"


def _literal(literal: Literal) -> pl.Expr:
    value, t = literal.value, literal.type
    if value is None:
        return _null(t)
    text = str(value)
    match t.root:
        case Root.DECIMAL:
            return pl.lit(int(Decimal(text).scaleb(t.scale, _EXACT)), kernel_dtype(t))
        case Root.FLOAT | Root.DOUBLE:
            return pl.lit(float(text), kernel_dtype(t))
        case Root.DATE:
            return pl.lit((dt.date.fromisoformat(text) - _EPOCH.date()).days, pl.Int64)
        case Root.TIME:
            return pl.lit(_micros(f"1970-01-01 {text}") // 1000, pl.Int64)
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return pl.lit(_micros(text), pl.Int64)
        case root if root in BINARIES:
            return pl.lit(bytes.fromhex(text), pl.Binary())
        case _:
            # Whole numbers, truth values and texts are what JSON has.
            return pl.lit(value, kernel_dtype(t))


def _micros(text: str) -> int:
    moment = dt.datetime.fromisoformat(text.removesuffix("Z"))
    return (moment - _EPOCH) // dt.timedelta(microseconds=1)
