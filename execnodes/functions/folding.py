"""Constants computed at compile time: casts of literals, signs and simple arithmetic."""

from __future__ import annotations

import decimal
from decimal import Decimal

from execnodes.core.constants import fits
from execnodes.core.expressions import Call, Expression, Literal, Value
from execnodes.core.types import BIGINT, INTEGERS, INTERVALS, MAX_LENGTH, TEXTS, LogicalType, Root
from execnodes.functions.conversion import wrap_around

_CONTEXT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)


def evaluate_constant(expression: Expression) -> Literal | None:
    """The value of an expression over literals (casts, signs, + - * /); None if it is not that simple."""
    if isinstance(expression, Literal):
        return expression
    if not isinstance(expression, Call):
        return None
    operands = [evaluate_constant(each) for each in expression.operands]
    known = [each for each in operands if each is not None]
    if len(known) < len(operands):
        return None
    name = expression.internal_name.strip("$").partition("$")[0]
    if name in ("CAST", "TRY_CAST"):
        return _cast(known[0], expression.type)
    if name in ("MINUS_PREFIX", "PLUS_PREFIX", "+", "-", "*", "/"):
        return _arithmetic(name, known, expression.type)
    return None


def _cast(given: Literal, target: LogicalType) -> Literal | None:
    value = given.value
    if value is None or given.type.same_values(target):
        return Literal(value=value, type=target)
    if given.type.root in TEXTS and target.root in TEXTS and isinstance(value, str):
        cut = value if target.length == MAX_LENGTH else value[: target.length]
        return Literal(value=cut.ljust(target.length) if target.root is Root.CHAR else cut, type=target)
    number = _number(given)
    if number is not None:
        return _from_number(number, given.type, target)
    return _from_text(value, target) if given.type.root in TEXTS and isinstance(value, str) else None


def _number(given: Literal) -> Decimal | None:
    """The exact value of a number or interval; floating point numbers are left to the engine."""
    if given.type.root in (*INTEGERS, Root.DECIMAL, *INTERVALS) and given.value is not None:
        return Decimal(str(given.value))
    return None


def _from_number(number: Decimal, source: LogicalType, target: LogicalType) -> Literal | None:
    if target.root in INTEGERS:
        return Literal(value=wrap_around(wrap_around(int(number), BIGINT), target), type=target)
    if target.root is Root.DECIMAL:
        return Literal(value=_quantized(number, target), type=target.with_nullable(True))
    if target.root is Root.DOUBLE:
        return Literal(value=repr(float(number)), type=target)
    if target.root in TEXTS and target.length == MAX_LENGTH and source.root in (*INTEGERS, Root.DECIMAL):
        return Literal(value=f"{number:f}", type=target)
    return None


def _quantized(number: Decimal, target: LogicalType) -> str | None:
    """Rounded half up to the scale; NULL if the digits before the point do not fit."""
    rounded = number.quantize(Decimal(1).scaleb(-target.scale), context=_CONTEXT)
    return f"{rounded:f}" if abs(rounded) < Decimal(10) ** (target.precision - target.scale) else None


def _from_text(value: str, target: LogicalType) -> Literal | None:
    """Only what is certainly well formed; anything else is left to the engine, which may fail."""
    text = value.strip(" ")
    if target.root in INTEGERS and text.lstrip("+-").isdecimal() and text.isascii() and fits(int(text), target):
        return Literal(value=int(text), type=target)
    return None


def _arithmetic(name: str, operands: list[Literal], target: LogicalType) -> Literal | None:
    if any(each.value is None for each in operands):
        return Literal(value=None, type=target.with_nullable(True))
    numbers = [number for each in operands if (number := _number(each)) is not None]
    if len(numbers) < len(operands):
        return None
    result = _calculate(name, numbers, whole=target.root is not Root.DECIMAL)
    return None if result is None else _made(result, target)


def _calculate(name: str, numbers: list[Decimal], *, whole: bool) -> Decimal | None:
    first, second = numbers[0], numbers[-1]
    match name:
        case "MINUS_PREFIX":
            return _CONTEXT.minus(first)
        case "PLUS_PREFIX":
            return first
        case "+":
            return _CONTEXT.add(first, second)
        case "-":
            return _CONTEXT.subtract(first, second)
        case "*":
            return _CONTEXT.multiply(first, second)
        case "/" if second != 0:
            return _CONTEXT.divide_int(first, second) if whole else _CONTEXT.divide(first, second)
        case _:
            # Left to the engine, which fails or gives NULL.
            return None


def _made(result: Decimal, target: LogicalType) -> Literal | None:
    value: Value
    if target.root is Root.DECIMAL:
        value = _quantized(result, target)
    elif target.root in INTEGERS:
        value = wrap_around(int(result), target)
    elif target.root in INTERVALS and fits(int(result), target):
        value = int(result)
    else:
        return None
    return Literal(value=value, type=target if value is not None else target.with_nullable(True))
