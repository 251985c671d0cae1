"""TO_DATE, UNIX_TIMESTAMP, DATE_FORMAT and CONVERT_TZ since 2.0: texts are read as Java's `SimpleDateFormat` does.

Versions before read them as Spark does: a text had to end where the pattern does, and have its numbers of digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import BIGINT, DATE, TEXTS
from execnodes.functions.cast_times import to_instant
from execnodes.functions.date_patterns import numbers, parts, shown
from execnodes.functions.families import Parameters
from execnodes.functions.function import Bind, Binding, Invocation, Operands
from execnodes.functions.lenient_dates import STANDARD_PATTERN, days, has_offset, read_lenient, readable
from execnodes.functions.read_times import read_date
from execnodes.functions.scope import Scope
from execnodes.functions.temporal_texts import (
    BAD_DATE,
    BAD_SECONDS,
    CONVERT_TZ,
    DATE_FORMAT,
    STANDARD,
    TO_DATE,
    UNIX_TIMESTAMP,
)
from execnodes.functions.zones import java_zone

_MOST = 9_223_372_036_854_775
"""Milliseconds that a Spark TIMESTAMP can have, before and after 1970."""


def _pattern(operands: Operands) -> str | None:
    """A constant pattern; None if there is none."""
    value = operands[1].value if len(operands) > 1 and isinstance(operands[1], Literal) else None
    return value if isinstance(value, str) else None


def _reads(operands: Operands) -> bool:
    """Whether it is known how a text is read."""
    pattern = _pattern(operands)
    return bool(operands) and (len(operands) == 1 or (pattern is not None and readable(pattern)))


def _bind(otherwise: Bind, returns: Callable[[Operands], Binding]) -> Bind:
    """As `otherwise`, but a pattern by which texts can be read needs no check."""

    def bind(call: Invocation) -> Binding | None:
        operands = Parameters.parse("TEXT, TEXT?").convert(call.operands)
        return returns(operands) if operands is not None and _reads(operands) else otherwise(call)

    return bind


def moment(millis: str) -> str:
    """A Spark TIMESTAMP of milliseconds, which are repeated; NULL where there is none."""
    return f"if({millis} BETWEEN -{_MOST}L AND {_MOST}L, timestamp_millis({millis}), NULL)"


def _lower_to_date(scope: Scope, call: Call) -> str:
    text = scope.text(call.operands[0])
    pattern = _pattern(call.operands)
    if pattern is None:
        return scope.share(text, read_date)

    def body(t: str) -> str:
        read = scope.share(read_lenient(scope, t, pattern), days)
        return f"if({t} IS NULL, NULL, coalesce({read}, {BAD_DATE}))"

    return scope.share(text, body)


TO_DATE_2 = replace(
    TO_DATE,
    bind=_bind(TO_DATE.bind, lambda operands: Binding(operands, DATE)),
    lower=_lower_to_date,
    version=2,
    since="2.0",
    only=_reads,
)


def _lower_unix_timestamp(scope: Scope, call: Call) -> str:
    pattern = STANDARD_PATTERN if len(call.operands) == 1 else _pattern(call.operands) or ""

    def seconds(millis: str) -> str:
        instant = millis
        if scope.zone != "UTC" and not has_offset(pattern):
            instant = f"unix_millis({to_instant(scope, moment(millis))})"
        return f"{instant} div 1000"

    def body(t: str) -> str:
        read = scope.share(read_lenient(scope, t, pattern), seconds)
        return f"if({t} IS NULL, NULL, coalesce({read}, {BAD_SECONDS}))"

    return scope.share(scope.text(call.operands[0]), body)


UNIX_TIMESTAMP_2 = replace(
    UNIX_TIMESTAMP,
    bind=_bind(
        UNIX_TIMESTAMP.bind,
        lambda operands: Binding(operands, BIGINT.with_nullable(any(each.type.nullable for each in operands))),
    ),
    lower=_lower_unix_timestamp,
    version=2,
    since="2.0",
    only=_reads,
)


def _standard(scope: Scope, operand: Expression) -> str:
    """A text in the form ``yyyy-MM-dd HH:mm:ss`` as a Spark TIMESTAMP."""
    return scope.share(read_lenient(scope, scope.text(operand), STANDARD_PATTERN, julian=False), moment)


def _lower_date_format(scope: Scope, call: Call) -> str:
    time, pattern = call.operands
    found = parts(_pattern(call.operands) or "", simple=True)
    if found and numbers(found, simple=True):
        return scope.share(_standard(scope, time), lambda t: shown(found, t, simple=True))
    return f"date_format({_standard(scope, time)}, {scope.text(pattern)})"


DATE_FORMAT_3 = replace(
    DATE_FORMAT, lower=_lower_date_format, version=3, since="2.0", only=lambda t: t[0].type.root in TEXTS
)


def _lower_convert_tz(scope: Scope, call: Call) -> str:
    """A zone that `java.util.TimeZone` has not got is GMT."""
    text, source, target = call.operands
    utc = f"to_utc_timestamp({_standard(scope, text)}, {java_zone(scope, source)})"
    shown_there = f"date_format(from_utc_timestamp({utc}, {java_zone(scope, target)}), {STANDARD})"
    return f"regexp_replace({shown_there}, '^[+]', '')"


CONVERT_TZ_2 = replace(CONVERT_TZ, lower=_lower_convert_tz, version=2, since="2.0")
