"""PRINTF before 2.0: values as Java's Formatter prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import INT, NUMERICS, STRING, TEXTS, TIMESTAMPS, LogicalType, Root
from execnodes.functions.conversion import convert
from execnodes.functions.function import Binding, Function, Invocation
from execnodes.functions.printf import fits
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_DAY_AND_MINUTE = text_literal("yyyy-MM-dd'T'HH:mm")
_TIMES = (Root.DATE, Root.TIME, *TIMESTAMPS)


def _bind_printf(call: Invocation) -> Binding | None:
    """A pattern of Java's Formatter, which the values must fit; a NULL is printed as ``null``."""
    if not call.operands or call.types[0].root not in (*TEXTS, Root.NULL):
        return None
    pattern, *values = (convert(each, STRING) if each.type.root is Root.NULL else each for each in call.operands)
    if any(each.type.root not in (*TEXTS, *NUMERICS, Root.BOOLEAN) for each in values):
        return None
    # Decimals are printed with %s only, as Flink's are: they are no numbers to Java.
    texts = [convert(each, STRING) if each.type.root is Root.DECIMAL else each for each in values]
    return Binding((pattern, *texts), STRING)


def _lower_printf(scope: Scope, call: Call) -> str:
    """A constant pattern that the values do not fit gives NULL, or where they are NULL, which fit any, a text."""
    pattern, *values = call.operands
    if isinstance(pattern, Literal) and not fits(str(pattern.value), [each.type for each in values]):
        return "CAST(NULL AS STRING)"
    return f"format_string({', '.join(scope.texts(call.operands))})"


PRINTF = Function("PRINTF", ("PRINTF(TEXT, TEXT | NUMERIC | BOOLEAN, …)",), _bind_printf, _lower_printf, since="1.3")


def _has_times(operands: Sequence[Expression]) -> bool:
    return any(each.type.root in _TIMES for each in operands[1:])


def _bind_printf_2(call: Invocation) -> Binding | None:
    """DATE and TIME are the numbers that hold them, a timestamp is the text that Java has for it."""
    stand_in = Literal(value=None, type=INT)
    known = tuple(stand_in if at and each.type.root in _TIMES else each for at, each in enumerate(call.operands))
    binding = _bind_printf(replace(call, operands=known))
    if binding is None:
        return None
    pairs = zip(call.operands, binding.operands, strict=True)
    return Binding(tuple(given if bound is stand_in else bound for given, bound in pairs), STRING)


def _lower_printf_2(scope: Scope, call: Call) -> str:
    pattern, *values = call.operands
    if isinstance(pattern, Literal) and not fits(str(pattern.value), [printed_type(each.type) for each in values]):
        return "CAST(NULL AS STRING)"
    return f"format_string({', '.join([scope.text(pattern), *(printed(scope, each) for each in values)])})"


def printed_type(t: LogicalType) -> LogicalType:
    """The type of what is printed for a value of a type."""
    if t.root in TIMESTAMPS:
        return STRING
    return INT if t.root in _TIMES else t


def printed(scope: Scope, value: Expression) -> str:
    """What is printed for a value."""
    text = scope.text(value)
    if value.type.root is Root.DATE:
        return f"unix_date({text})"
    if value.type.root not in TIMESTAMPS:
        return text

    def java(moment: str) -> str:
        """Seconds, and digits in groups of three, only where they are not zero: LocalDateTime.toString."""
        micros = f"pmod(unix_micros(CAST({moment} AS TIMESTAMP)), 60000000L)"
        digits = f"if({micros} % 1000 <> 0, ':ss.SSSSSS', if({micros} % 1000000 <> 0, ':ss.SSS', ':ss'))"
        return f"date_format({moment}, concat({_DAY_AND_MINUTE}, if({micros} = 0, '', {digits})))"

    return scope.share(text, java)


PRINTF_2 = Function(
    "PRINTF",
    ("PRINTF(TEXT, TEXT | NUMERIC | BOOLEAN | DATE | TIME | timestamp, …)",),
    _bind_printf_2,
    _lower_printf_2,
    2,
    "1.5",
    only=_has_times,
)
