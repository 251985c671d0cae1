"""TO_TIMESTAMP_LTZ since 1.5: digits by the pattern or the precision, bad patterns and zones.

Source: Flink's ToTimestampLtzTypeStrategy, ToTimestampLtzFunction and DateTimeUtils.
"""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import INT, INTEGERS, TEXTS, Root, timestamp_ltz
from execnodes.core.zones import is_zone
from execnodes.functions.families import Parameters
from execnodes.functions.function import Binding, Invocation, Operands
from execnodes.functions.scope import Scope
from execnodes.functions.temporal_texts import TO_TIMESTAMP_LTZ, check_pattern, read_standard
from execnodes.lowering.spark_sql import text_literal

_MOST = 9
KNOWN_PATTERN = text_literal("^(?:[yMdDaHhKkmsS]|'[^']*'|[^A-Za-z'])*$")
"""Patterns of columns that can be read; others are taken to be none, so that they do not fail the job."""
_HOURS, _FULL_OFFSET = text_literal(r"^(?:GMT|UTC|UT)?([+-])(\d)$"), text_literal("$10$2:00")
_EARLIEST, _LATEST = -62_167_219_200, 253_402_300_799
"""Seconds of the years 0 to 9999; NULL outside."""


def _bind(call: Invocation) -> Binding | None:
    if not call.operands:
        return None
    if call.types[0].root in TEXTS:
        return _bind_text(call)
    if len(call.operands) == 1:
        return _bind_number(replace(call, operands=(*call.operands, Literal(value=3, type=INT.not_null()))), written=1)
    return _bind_number(call, written=2)


def _bind_number(call: Invocation, *, written: int) -> Binding | None:
    operands = Parameters.parse("NUMERIC, INTEGER").convert(call.operands)
    if operands is None:
        return None
    precision = operands[1]
    if not isinstance(precision, Literal) or (precision.value is not None and not 0 <= int(precision.value) <= _MOST):
        raise SqlError(
            f"the precision of TO_TIMESTAMP_LTZ must be a constant from 0 to {_MOST}",
            position=call.position,
            hint="0 is for seconds, 3 for milliseconds, 6 for microseconds.",
        )
    digits = 3 if precision.value is None else max(3, int(precision.value))
    return Binding(tuple(operands[:written]), timestamp_ltz(digits))


def _bind_text(call: Invocation) -> Binding | None:
    operands = Parameters.parse("TEXT, TEXT?, TEXT?").convert(call.operands)
    if operands is None:
        return None
    checked = check_pattern(call, operands)
    if len(checked) == 3:
        _check_zone(checked[2], call)
    pattern = checked[1].value if len(checked) > 1 and isinstance(checked[1], Literal) else None
    return Binding(tuple(checked), timestamp_ltz(_digits(str(pattern or ""))))


def _digits(pattern: str) -> int:
    """Digits of a second at the end of a pattern, milliseconds at least; elsewhere Flink does not count them."""
    return max(3, len(pattern) - len(pattern.rstrip("S")))


def _check_zone(zone: Expression, call: Invocation) -> None:
    value = zone.value if isinstance(zone, Literal) else None
    if value is None or is_zone(str(value)):
        return
    raise SqlError(
        f"time zone {value!r} does not exist",
        position=call.position,
        hint="Write a region such as 'Europe/Berlin', or an offset such as '+01:00'.",
    )


def _lower(scope: Scope, call: Call) -> str:
    text_is_read = call.operands[0].type.root in TEXTS
    return _lower_text(scope, call) if text_is_read else _lower_number(scope, call)


def _lower_text(scope: Scope, call: Call) -> str:
    """A text that does not fit the pattern is read in the standard form, as TO_TIMESTAMP does."""
    text, pattern, *zone = scope.texts(call.operands)
    is_fixed = isinstance(call.operands[1], Literal)

    def moment(t: str) -> str:
        made = f"coalesce(try_to_timestamp({t}, {pattern}), {read_standard(t, call.type.precision > 3)})"
        if call.type.precision <= 3:
            made = f"date_trunc('MILLISECOND', {made})"
        return made if is_fixed else f"if(rlike({pattern}, {KNOWN_PATTERN}), {made}, NULL)"

    def instant(z: str) -> str:
        local = scope.share(text, moment)
        if not zone or isinstance(call.operands[2], Literal):
            return f"to_utc_timestamp({local}, {z})"
        # A zone that does not exist would fail the job; read with the time, it makes a text that is none.
        digits = "yyyy-MM-dd HH:mm:ss.SSSSSS"
        zoned = f"concat(date_format({local}, '{digits}'), ' ', regexp_replace({z}, {_HOURS}, {_FULL_OFFSET}))"
        return f"if(rlike({z}, '^[A-Z+-]'), try_to_timestamp({zoned}, '{digits} VV'), NULL)"

    unknown = f"{pattern} IS NULL" + "".join(f" OR {each} IS NULL" for each in zone)
    return f"if({unknown}, NULL, {scope.share(zone[0] if zone else scope.zone_text, instant)})"


def _lower_number(scope: Scope, call: Call) -> str:
    """Approximate numbers are rounded down to milliseconds, or to units of the precision if they are finer."""
    value, precision = call.operands[0], _precision(call.operands)
    if precision is None:
        return "CAST(NULL AS TIMESTAMP)"
    number = scope.text(value)
    if value.type.root in (Root.FLOAT, Root.DOUBLE):
        factor = 10 ** max(0, 3 - precision)
        number, precision = f"CAST(floor(CAST({number} AS DOUBLE) * {factor}) AS BIGINT)", max(3, precision)
    elif value.type.root not in INTEGERS:
        number = f"CAST({number} AS BIGINT)"
    scale = 10**precision
    step, factor = 10 ** max(0, precision - 6), 10 ** max(0, 6 - precision)

    def instant(n: str) -> str:
        micros = f"({n} - pmod({n}, {step}L)) div {step}L" if step > 1 else f"{n} * {factor}L"
        within = f"{n} BETWEEN {_least(scale)}L AND {_most(scale)}L"
        return f"if({within}, timestamp_micros({micros}), NULL)"

    return scope.share(f"CAST({number} AS BIGINT)", instant)


def _least(scale: int) -> int:
    return max(_EARLIEST * scale, -(2**63) + 1)


def _most(scale: int) -> int:
    return min((_LATEST + 1) * scale - 1, 2**63 - 1)


def _precision(operands: Operands) -> int | None:
    if len(operands) == 1:
        return 3
    return int(operands[1].value) if isinstance(operands[1], Literal) and operands[1].value is not None else None


def _differs(operands: Operands) -> bool:
    """Whether versions before gave another value, or refused it."""
    if operands[0].type.root in TEXTS:
        return len(operands) > 1
    precision = _precision(operands)
    if operands[0].type.root in (Root.FLOAT, Root.DOUBLE):
        return precision != 3
    return precision not in (0, 3)


# Versions before had milliseconds at most, and cut the fraction off seconds.
TO_TIMESTAMP_LTZ_3 = replace(
    TO_TIMESTAMP_LTZ,
    signatures=(f"TO_TIMESTAMP_LTZ(NUMERIC, 0 to {_MOST})", "TO_TIMESTAMP_LTZ(TEXT, TEXT?, TEXT?)"),
    bind=_bind,
    lower=_lower,
    version=3,
    since="1.5",
    only=_differs,
)
