"""Operators + - * / % and unary minus over numbers and times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import INT, INTEGERS, INTERVALS, NUMERICS, LogicalType, Root
from execnodes.functions import type_rules
from execnodes.functions.conversion import convert
from execnodes.functions.families import EXACT, TEMPORAL, operand
from execnodes.functions.function import Binding, Function, Invocation, form, function
from execnodes.functions.scope import Scope
from execnodes.functions.temporal_arithmetic import bind_minus_times, bind_plus_times, lower_time_plus
from execnodes.lowering.spark_sql import spark_type

DecimalRule = Callable[[LogicalType, LogicalType], LogicalType]


def _numbers(call: Invocation, rule: DecimalRule) -> Binding | None:
    """Two numbers, in their common type; exact ones with a DECIMAL among them by the rule of the operator."""
    operands = _nulls_as_int(call.operands)
    if len(operands) != 2 or any(each.type.root not in NUMERICS for each in operands):
        return None
    left, right = (each.type for each in operands)
    nullable = left.nullable or right.nullable
    if Root.DECIMAL in (left.root, right.root) and left.root in EXACT and right.root in EXACT:
        a, b = type_rules.as_decimal(left), type_rules.as_decimal(right)
        converted = (convert(operands[0], a), convert(operands[1], b))
        return Binding(converted, rule(a, b).with_nullable(nullable))
    common = type_rules.common_type((left, right))
    if common is None:
        return None
    return Binding(tuple(convert(each, common) for each in operands), common.regular().with_nullable(nullable))


def _nulls_as_int(operands: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """A bare NULL takes the type of the other operand."""
    known = next((each.type for each in operands if each.type.root is not Root.NULL), INT)
    wanted = known if known.root in NUMERICS else INT
    return tuple(convert(each, wanted) if each.type.root is Root.NULL else each for each in operands)


def _bind_plus(call: Invocation) -> Binding | None:
    return _numbers(call, type_rules.decimal_sum) or bind_plus_times(call)


def _bind_minus(call: Invocation) -> Binding | None:
    return _numbers(call, type_rules.decimal_sum) or bind_minus_times(call)


def _bind_times(call: Invocation) -> Binding | None:
    return _numbers(call, type_rules.decimal_product) or _scaled_interval(call)


def _bind_divide(call: Invocation) -> Binding | None:
    return _numbers(call, type_rules.decimal_quotient) or _scaled_interval(call)


def _bind_remainder(call: Invocation) -> Binding | None:
    """MOD of whole numbers has the type of the divisor."""
    binding = _numbers(call, type_rules.decimal_remainder)
    if binding is None or binding.type.root not in (*INTEGERS, Root.DECIMAL) or binding.type.scale:
        return binding
    divisor = call.operands[1].type
    if divisor.root not in INTEGERS:
        return binding
    operands = binding.operands if binding.type.root in INTEGERS else (binding.operands[0], call.operands[1])
    return Binding(operands, divisor.regular().with_nullable(binding.type.nullable))


def _scaled_interval(call: Invocation) -> Binding | None:
    """An interval times or by a whole number."""
    if len(call.operands) != 2:
        return None
    interval, number = call.operands
    if call.name == "*" and number.type.root in INTERVALS:
        interval, number = number, interval
    if interval.type.root not in INTERVALS or number.type.root not in INTEGERS:
        return None
    nullable = interval.type.nullable or number.type.nullable
    return Binding((interval, number), interval.type.with_nullable(nullable))


def _lower_infix(sign: str) -> Callable[[Scope, Call], str]:
    def lower(scope: Scope, call: Call) -> str:
        left, right = scope.texts(call.operands)
        text = f"({left} {sign} {right})"
        return f"CAST({text} AS {spark_type(call.type)})" if call.type.root in (Root.DECIMAL, *INTERVALS) else text

    return lower


def _lower_plus(scope: Scope, call: Call) -> str:
    return lower_time_plus(scope, call, 1) if call.type.root in TEMPORAL else _lower_infix("+")(scope, call)


def _lower_minus(scope: Scope, call: Call) -> str:
    return lower_time_plus(scope, call, -1) if call.type.root in TEMPORAL else _lower_infix("-")(scope, call)


def _lower_divide(scope: Scope, call: Call) -> str:
    """Exact division by zero fails; approximate gives infinity or NaN, with the sign of the zero."""
    left, right = call.operands
    if call.type.root in (Root.DOUBLE, Root.FLOAT):
        return scope.share_some(scope.texts((left, right)), [0, 1], lambda t: _approximate_quotient(t[0], t[1], call))
    sign = "div" if call.type.root in (*INTEGERS, *INTERVALS) else "/"
    return _checked(scope, call, lambda a, b: f"CAST({a} {sign} {b} AS {spark_type(call.type)})")


def _approximate_quotient(a: str, b: str, call: Call) -> str:
    return f"CAST(if({b} = 0, {a} * power({b}, -1D), {a} / {b}) AS {spark_type(call.type)})"


def _lower_remainder(scope: Scope, call: Call) -> str:
    if call.type.root in (Root.DOUBLE, Root.FLOAT):
        texts = scope.texts(call.operands)
        nan = "CAST('NaN' AS DOUBLE)"
        made = spark_type(call.type)
        return scope.share_some(
            texts, [0, 1], lambda t: f"CAST(if({t[1]} = 0, {t[0]} * {nan}, {t[0]} % {t[1]}) AS {made})"
        )
    return _checked(scope, call, lambda a, b: f"CAST({a} % {b} AS {spark_type(call.type)})")


def _checked(scope: Scope, call: Call, body: Callable[[str, str], str]) -> str:
    """A division that fails when the divisor is zero and the dividend is not NULL."""
    divisor = call.operands[1]
    texts = scope.texts(call.operands)
    if isinstance(divisor, Literal) and divisor.value is not None and float(divisor.value) != 0:
        return body(*texts)

    def check(t: Sequence[str]) -> str:
        a, b = t
        return body(a, f"if({b} = 0 AND {a} IS NOT NULL, {scope.failure('division by zero')}, {b})")

    return scope.share_some(texts, [0, 1], check)


def _operator(
    sign: str, bind: Callable[[Invocation], Binding | None], lower: Callable[[Scope, Call], str], *more: str
) -> Function:
    return Function(sign, (f"NUMERIC {sign} NUMERIC", *more), bind, lower)


PLUS = _operator("+", _bind_plus, _lower_plus, "time + INTERVAL", "INTERVAL + time", "INTERVAL + INTERVAL")
MINUS = _operator("-", _bind_minus, _lower_minus, "time - INTERVAL", "INTERVAL - INTERVAL")
TIMES = _operator("*", _bind_times, _lower_infix("*"), "INTERVAL * INTEGER")
DIVIDE = _operator("/", _bind_divide, _lower_divide, "INTERVAL / INTEGER")
PERCENT = _operator("%", _bind_remainder, _lower_remainder)
MOD = Function("MOD", ("MOD(NUMERIC, NUMERIC)",), _bind_remainder, _lower_remainder)
_SIGNED = (
    form("NUMERIC", operand(0)),
    form("INTERVAL SECOND", operand(0)),
    form("INTERVAL MONTH", operand(0)),
)
MINUS_PREFIX = function("MINUS_PREFIX", *_SIGNED, sql="(- {0})")
PLUS_PREFIX = function("PLUS_PREFIX", *_SIGNED, sql="{0}")
