"""Mathematical functions."""

from __future__ import annotations

from collections.abc import Callable

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import DOUBLE, INT, INTEGERS, NUMERICS, STRING, LogicalType, Root
from execnodes.functions.families import operand
from execnodes.functions.folding import evaluate_constant
from execnodes.functions.function import Binding, Function, Invocation, by_count, form, function
from execnodes.functions.scope import Scope
from execnodes.functions.type_rules import decimal_rounded
from execnodes.lowering.spark_sql import spark_type

_NAN = "CAST('NaN' AS DOUBLE)"
_BELOW = "CAST('-Infinity' AS DOUBLE)"

SAME_IN_SPARK = tuple(
    function(name, form("DOUBLE", DOUBLE), sql=f"{name.lower()}({{0}})")
    for name in (
        "SQRT",
        "EXP",
        "SIN",
        "COS",
        "TAN",
        "COT",
        "ASIN",
        "ACOS",
        "ATAN",
        "SINH",
        "COSH",
        "TANH",
        "DEGREES",
        "RADIANS",
    )
)
POWER = function("POWER", form("DOUBLE, DOUBLE", DOUBLE), sql="power({0}, {1})")
ATAN2 = function("ATAN2", form("DOUBLE, DOUBLE", DOUBLE), sql="atan2({0}, {1})")
PI = function("PI", form("", DOUBLE, nullable=False), sql="pi()")
E = function("E", form("", DOUBLE, nullable=False), sql="e()")


def _logarithm(spark: str, place: str) -> str:
    """Spark gives NULL where the logarithm is minus infinity or no number."""
    return (
        f"CASE WHEN {place} > 0 THEN {spark}({place}) WHEN {place} = 0 THEN {_BELOW}"
        f" WHEN {place} IS NOT NULL THEN {_NAN} END"
    )


LN = function("LN", form("DOUBLE", DOUBLE), sql=_logarithm("ln", "{0}"))
LOG10 = function("LOG10", form("DOUBLE", DOUBLE), sql=_logarithm("log10", "{0}"))
LOG2 = function("LOG2", form("DOUBLE", DOUBLE), sql=f"({_logarithm('ln', '{0}')} / ln(2D))")
LOG = function(
    "LOG",
    form("DOUBLE, DOUBLE?", DOUBLE),
    sql=by_count(
        _logarithm("ln", "{0}"),
        f"if({{0}} = 1, {_logarithm('ln', '{1}')} * power(0D, -1D),"
        f" {_logarithm('ln', '{1}')} / {_logarithm('ln', '{0}')})",
    ),
)
ABS = function("ABS", form("NUMERIC", operand(0)), sql="abs({0})")
SIGN = function("SIGN", form("NUMERIC", operand(0)), sql="CAST(sign({0}) AS {type})")
BIN = function("BIN", form("BIGINT", STRING), sql="bin({0})")
HEX = function("HEX", form("BIGINT", STRING), form("TEXT", STRING), sql="hex({0})")


def _bind_rounding(call: Invocation) -> Binding | None:
    """A number and a constant number of digits, 0 if there is none."""
    if len(call.operands) not in (1, 2) or call.types[0].root not in (*NUMERICS, Root.NULL):
        return None
    number = call.operands[0]
    count = _digits(call)
    if count is None:
        return None
    t = decimal_rounded(number.type, int(count.value or 0)) if number.type.root is Root.DECIMAL else number.type
    t = INT if t.root is Root.NULL else t
    return Binding((number, count), t.regular().with_nullable(number.type.nullable or count.value is None))


def _digits(call: Invocation) -> Literal | None:
    if len(call.operands) == 1:
        return Literal(value=0, type=INT.not_null())
    if call.types[1].root not in (*INTEGERS, Root.NULL):
        return None
    found = evaluate_constant(call.operands[1])
    if found is None:
        raise SqlError(
            f"the number of digits of {call.name} must be a constant",
            position=call.position,
            hint="Write a number, or a CASE over the numbers that occur.",
        )
    return found


def _lower_round(scope: Scope, call: Call) -> str:
    """Half away from zero."""
    number, count = call.operands
    return f"CAST(round({scope.text(number)}, {scope.text(count)}) AS {spark_type(call.type)})"


def _lower_truncate(scope: Scope, call: Call) -> str:
    """Toward zero, over the decimal digits a number prints with."""
    number, count = call.operands
    digits, made = scope.text(count), spark_type(call.type)
    exact = number.type.root is Root.DECIMAL

    def body(x: str) -> str:
        d = x if exact else f"CAST({x} AS DECIMAL(38, 18))"
        text = f"CAST(if({x} < 0, - floor(- {d}, {digits}), floor({d}, {digits})) AS {made})"
        return text if exact else f"coalesce({text}, {x})"

    return scope.share(scope.text(number), body)


ROUND = Function("ROUND", ("ROUND(NUMERIC, INT?)",), _bind_rounding, _lower_round)
TRUNCATE = Function("TRUNCATE", ("TRUNCATE(NUMERIC, INT?)",), _bind_rounding, _lower_truncate)


def whole(t: LogicalType) -> LogicalType:
    """Type of FLOOR and CEIL of a number."""
    return LogicalType(Root.DECIMAL, precision=t.precision) if t.root is Root.DECIMAL else t


def lower_whole(name: str) -> Callable[[Scope, Expression, LogicalType], str]:
    """FLOOR or CEIL of a number; `name` is Spark's."""

    def lower(scope: Scope, number: Expression, made: LogicalType) -> str:
        text = scope.text(number)
        if made.root in (Root.DOUBLE, Root.FLOAT):
            return scope.share(text, lambda x: approximate(x, spark_type(made)))
        return text if made.root in INTEGERS else f"CAST({name}({text}) AS {spark_type(made)})"

    def approximate(x: str, made: str) -> str:
        # Spark's result is a BIGINT: large numbers are whole already, and a zero must keep its sign
        zero = f"{x} > -1 AND {x} <= 0" if name == "ceil" else f"{x} >= 0 AND {x} < 1"
        small = f"if({zero}, {x} * 0, CAST({name}({x}) AS {made}))"
        return f"CAST(if(abs({x}) < 4503599627370496, {small}, {x}) AS {made})"

    return lower
