"""EXTRACT and its short forms, FLOOR and CEIL of times (and of numbers)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import BIGINT, DOUBLE, INTERVALS, NUMERICS, TIMESTAMPS, LogicalType, Root, char
from execnodes.functions.cast_times import DAY, local_millis, to_local
from execnodes.functions.conversion import convert
from execnodes.functions.families import TEMPORAL
from execnodes.functions.function import Binding, Function, Invocation, Operands
from execnodes.functions.mathematics import lower_whole, whole
from execnodes.functions.scope import Scope
from execnodes.functions.temporal_arithmetic import MILLIS, unit
from execnodes.lowering.spark_sql import spark_type

_OF_DATE = {
    "YEAR": "year({0})",
    "QUARTER": "quarter({0})",
    "MONTH": "month({0})",
    "WEEK": "weekofyear({0})",
    "DAY": "day({0})",
    "DOW": "dayofweek({0})",
    "ISODOW": "(weekday({0}) + 1)",
    "DOY": "dayofyear({0})",
    "ISOYEAR": "extract(YEAROFWEEK FROM {0})",
    "DECADE": "(year({0}) div 10)",
    "CENTURY": "((year({0}) + 99) div 100)",
    "MILLENNIUM": "((year({0}) + 999) div 1000)",
}
_OF_CLOCK = {
    "HOUR": f"(({{0}} % {DAY}) div 3600000)",
    "MINUTE": "(({0} % 3600000) div 60000)",
    "SECOND": "(({0} % 60000) div 1000)",
    "MILLISECOND": "({0} % 1000)",
    "MICROSECOND": "({0} % 1000 * 1000)",
    "NANOSECOND": "({0} % 1000 * 1000000)",
}
_FINER = {"MICROSECOND": 1, "NANOSECOND": 1000}
_OF_LENGTH = {"DAY": f"({{0}} div {DAY})", **_OF_CLOCK}
_OF_MONTHS = {"YEAR": "({0} div 12)", "QUARTER": "({0} % 12 div 3 + 1)", "MONTH": "({0} % 12)"}
"""Of intervals: of milliseconds, of months."""
_UNITS = (*_OF_DATE, *_OF_CLOCK, "EPOCH")


def _bind_extract(call: Invocation) -> Binding | None:
    if len(call.operands) != 2 or unit(call.operands[0]) not in _UNITS:
        return None
    time = call.operands[1]
    name = unit(call.operands[0])
    if time.type.root in INTERVALS:
        known = _OF_MONTHS if time.type.root is Root.INTERVAL_YEAR_MONTH else _OF_LENGTH
        return Binding(call.operands, BIGINT.with_nullable(time.type.nullable)) if name in known else None
    if time.type.root not in TEMPORAL or (time.type.root is Root.TIME and name not in (*_OF_CLOCK, "EPOCH")):
        return None
    finer = name in _FINER and time.type.root in TIMESTAMPS
    if name in _FINER and not finer:
        return None
    return Binding(call.operands, BIGINT.with_nullable(time.type.nullable), "EXTRACT_FRACTION" if finer else None)


def _lower_fraction(scope: Scope, call: Call) -> str:
    """All digits of the fraction, of which EXTRACT up to 1.2 took three."""
    symbol, time = call.operands
    text = f"CAST({scope.text(time)} AS TIMESTAMP)"
    return f"(unix_micros({text}) % 1000000 * {_FINER[unit(symbol)]}L)"


def _lower_extract(scope: Scope, call: Call) -> str:
    """Fields of the clock of the session zone; before 1970 days and times are cut toward 1970, as Flink does."""
    symbol, time = call.operands
    name, text = unit(symbol), scope.text(time)
    if time.type.root in INTERVALS:
        fields = _OF_MONTHS if time.type.root is Root.INTERVAL_YEAR_MONTH else _OF_LENGTH
        return f"CAST({fields[name].format(text)} AS BIGINT)"
    if time.type.root is Root.DATE:
        if name in _OF_CLOCK:
            return f"if({text} IS NULL, NULL, 0L)"
        found = f"unix_date({text}) * 86400L" if name == "EPOCH" else _OF_DATE[name].format(text)
        return f"CAST({found} AS BIGINT)"
    millis = text if time.type.root is Root.TIME else shown_millis(scope, text, time.type)
    if name == "EPOCH":
        return f"CAST({millis} div 1000 AS BIGINT)"
    if name in _OF_CLOCK:
        return f"CAST({_OF_CLOCK[name].format(millis)} AS BIGINT)"
    day = f"date_from_unix_date(CAST({millis} div {DAY} AS INT))"
    return scope.share(day, lambda d: f"CAST({_OF_DATE[name].format(d)} AS BIGINT)")


def shown_millis(scope: Scope, text: str, t: LogicalType) -> str:
    """Milliseconds since 1970-01-01 00:00 of the clock that shows a TIMESTAMP or an instant."""
    return f"unix_millis({to_local(scope, text)})" if t.root is Root.TIMESTAMP_LTZ else local_millis(text)


EXTRACT = Function("EXTRACT", ("EXTRACT(unit FROM DATE, TIME, timestamp or INTERVAL)",), _bind_extract, _lower_extract)
EXTRACT_FRACTION = Function(
    "EXTRACT_FRACTION",
    ("EXTRACT(MICROSECOND or NANOSECOND FROM timestamp)",),
    _bind_extract,
    _lower_fraction,
    since="1.3",
)

_SHORT = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
}


def _short(name: str, field: str) -> Function:
    symbol = Literal(value=field, type=char(len(field)).not_null())

    def bind(call: Invocation) -> Binding | None:
        if len(call.operands) != 1:
            return None
        extract = _bind_extract(Invocation("EXTRACT", (symbol, *call.operands), call.position))
        return None if extract is None else Binding(extract.operands, extract.type, "EXTRACT")

    return Function(name, (f"{name}(DATE, TIME or timestamp)",), bind, _lower_extract)


SHORT_FORMS = tuple(_short(name, field) for name, field in _SHORT.items())

_FLOORS = {
    "DAY": "{0}",
    "WEEK": "date_sub({0}, dayofweek({0}) - 1)",
    "MONTH": "trunc({0}, 'MONTH')",
    "QUARTER": "trunc({0}, 'QUARTER')",
    "YEAR": "trunc({0}, 'YEAR')",
    "DECADE": "make_date(year({0}) div 10 * 10, 1, 1)",
    "CENTURY": "make_date((year({0}) + 99) div 100 * 100 - 99, 1, 1)",
    "MILLENNIUM": "make_date((year({0}) + 999) div 1000 * 1000 - 999, 1, 1)",
}
_CEILINGS = {
    "DAY": "{0}",
    "WEEK": "date_add({0}, (8 - dayofweek({0})) % 7)",
    "MONTH": "if(day({0}) > 1, add_months(trunc({0}, 'MONTH'), 1), {0})",
    "QUARTER": "if(dayofyear({0}) > 1, add_months(trunc({0}, 'QUARTER'), 3), {0})",
    "YEAR": "if(dayofyear({0}) > 1, add_months(trunc({0}, 'YEAR'), 12), {0})",
    "DECADE": "make_date(year({0}) div 10 * 10 + 10, 1, 1)",
    "CENTURY": "make_date((year({0}) + 99) div 100 * 100 + 1, 1, 1)",
    "MILLENNIUM": "make_date((year({0}) + 999) div 1000 * 1000 + 1, 1, 1)",
}


def _bind_rounding(call: Invocation) -> Binding | None:
    """Of a number, or of a time to a unit."""
    if len(call.operands) == 1:
        number = call.operands[0]
        if number.type.root is Root.NULL:
            number = convert(number, DOUBLE)
        if number.type.root not in NUMERICS:
            return None
        return Binding((number,), whole(number.type).with_nullable(number.type.nullable))
    if len(call.operands) != 2:
        return None
    time, symbol = call.operands
    name = unit(symbol)
    dates = () if time.type.root is Root.TIME else tuple(_FLOORS)
    clocks = () if time.type.root is Root.DATE else tuple(MILLIS)
    if time.type.root not in TEMPORAL or name not in (*dates, *clocks):
        return None
    return Binding(call.operands, time.type.regular())


def _lower_rounding(up: bool) -> Function:
    name = "CEIL" if up else "FLOOR"
    numeric = lower_whole(name.lower())

    def lower(scope: Scope, call: Call) -> str:
        if len(call.operands) == 1:
            return numeric(scope, call.operands[0], call.type)
        time, symbol = call.operands
        return _time(scope, time, unit(symbol), up)

    return Function(name, (f"{name}(NUMERIC)", f"{name}(DATE, TIME or timestamp TO unit)"), _bind_rounding, lower)


def _time(scope: Scope, time: Expression, name: str, up: bool) -> str:
    text = scope.text(time)
    dates = _CEILINGS if up else _FLOORS
    if time.type.root is Root.DATE:
        return scope.share(text, lambda d: dates[name].format(d))
    step = MILLIS.get(name, 0) if name not in ("WEEK", "QUARTER", "MONTH", "YEAR") else 0
    if time.type.root is Root.TIME:
        return scope.share(text, lambda t: f"CAST({_step(t, step, up)} AS INT)")

    def body(t: Sequence[str]) -> str:
        instant, shown = t
        rounded = _step(shown, step, up) if step else _days(scope, shown, dates[name])
        # the offset of the instant itself is taken off again, not that of the result
        offset = f" - ({shown} - unix_millis({instant}))" if time.type.root is Root.TIMESTAMP_LTZ else ""
        return f"CAST(timestamp_millis({rounded}{offset}) AS {spark_type(time.type)})"

    return scope.share_some((text, shown_millis(scope, text, time.type)), [0, 1], body)


def _step(millis: str, step: int, up: bool) -> str:
    return f"({millis} + pmod(- {millis}, {step}L))" if up else f"({millis} - pmod({millis}, {step}L))"


def _days(scope: Scope, millis: str, rounded: str) -> str:
    day = f"date_from_unix_date(CAST({millis} div {DAY} AS INT))"
    return scope.share(day, lambda d: f"(unix_date({rounded.format(d)}) * {DAY}L)")


FLOOR = _lower_rounding(up=False)
CEIL = _lower_rounding(up=True)
CEILING = Function("CEILING", CEIL.signatures, _bind_rounding, CEIL.lower)


def _has_finer_digits(operands: Operands) -> bool:
    """Whether it is a timestamp with more digits than the milliseconds it is rounded up to."""
    if len(operands) != 2 or unit(operands[1]) != "MILLISECOND":
        return False
    time = operands[0].type
    return time.root is Root.TIMESTAMP and time.precision > 3


def _lower_ceiling_of_digits(scope: Scope, call: Call) -> str:
    def body(moment: str) -> str:
        micros = f"unix_micros(CAST({moment} AS TIMESTAMP))"
        return f"CAST(timestamp_micros({micros} + pmod(- {micros}, 1000L)) AS {spark_type(call.type)})"

    return scope.share(scope.text(call.operands[0]), body)


# Versions 1 cut the digits beyond milliseconds off.
ROUNDED_UP = tuple(
    replace(each, lower=_lower_ceiling_of_digits, version=2, since="1.5", only=_has_finer_digits)
    for each in (CEIL, CEILING)
)
