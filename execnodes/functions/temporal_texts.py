"""Times from texts and numbers, and to texts: DATE_FORMAT, TO_TIMESTAMP, TO_DATE, UNIX_TIMESTAMP and their kin."""

from __future__ import annotations

import re
from dataclasses import replace

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import (
    BIGINT,
    DATE,
    INTEGERS,
    STRING,
    TEXTS,
    LogicalType,
    Root,
    timestamp,
    timestamp_ltz,
)
from execnodes.functions.cast_times import read_date, read_timestamp, to_instant, to_local
from execnodes.functions.families import Parameters
from execnodes.functions.function import Binding, Function, Invocation, Lower, form, function
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

STANDARD = "'yyyy-MM-dd HH:mm:ss'"
_LENIENT = text_literal(r"^\s*(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)")
_FALLBACK = text_literal(r"^(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?$")
_BAD_DATE = "date_from_unix_date(622191233)"
"""What Flink's TO_DATE with a format gives for a text that does not fit: +1705471-09-27."""
_BAD_SECONDS = "-9223372036854775808L"
_QUOTED = re.compile(r"('(?:[^']|'')*')")
_UNSUPPORTED = frozenset("YWwecANnpBg")


def spark_format(pattern: str, position: Position | None) -> str:
    """A Java date pattern as Spark takes it; SqlError for letters Spark does not have."""
    made = []
    for part in _QUOTED.split(pattern):
        if part.startswith("'"):
            made.append(part)
            continue
        wrong = sorted(set(part) & _UNSUPPORTED)
        if wrong:
            raise SqlError(
                f"the date pattern {pattern!r} is not supported: letter {wrong[0]!r}",
                position=position,
                hint="Letters that work: y M d D E a H h K k m s S Q q.",
            )
        made.append(part.replace("u", "y"))
    return "".join(made)


def _formatted(name: str, *specs: str, returns: LogicalType, lower: Lower) -> Function:
    """A function whose second operand, if there is one, is a pattern; constant patterns are checked at once."""
    known = [Parameters.parse(spec) for spec in specs]

    def bind(call: Invocation) -> Binding | None:
        for parameters in known:
            operands = parameters.convert(call.operands)
            if operands is not None:
                made = (operands[0], *(_checked(each, call.position) for each in operands[1:]))
                return Binding(made, returns.with_nullable(True))
        return None

    return Function(name, tuple(f"{name}({spec})" for spec in specs), bind, lower)


def _checked(pattern: Expression, position: Position | None) -> Expression:
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        return pattern.model_copy(update={"value": spark_format(pattern.value, position)})
    return pattern


def _lower_date_format(scope: Scope, call: Call) -> str:
    root = call.operands[0].type.root
    text, shape = scope.texts(call.operands)
    if root in TEXTS:
        shown = scope.share(text, lambda t: _lenient(t, _LENIENT))
    elif root is Root.TIMESTAMP_LTZ:
        shown = to_local(scope, text)
    else:
        shown = f"CAST({text} AS TIMESTAMP)"
    return f"date_format({shown}, {shape})"


def _lenient(text: str, pattern: str) -> str:
    """A time of which months, days, hours … beyond their range count on, as a Spark TIMESTAMP; NULL if it is none."""

    def part(group: int) -> str:
        return f"coalesce(CAST(nullif(regexp_extract({text}, {pattern}, {group}), '') AS INT), 0)"

    day = f"date_add(add_months(make_date({part(1)}, 1, 1), {part(2)} - 1), {part(3)} - 1)"
    seconds = f"unix_date({day}) * 86400L + {part(4)} * 3600L + {part(5)} * 60 + {part(6)}"
    return f"if(rlike({text}, {pattern}), timestamp_seconds({seconds}), NULL)"


DATE_FORMAT = _formatted("DATE_FORMAT", "DATETIME, TEXT", "TEXT, TEXT", returns=STRING, lower=_lower_date_format)


def _lower_to_timestamp(scope: Scope, call: Call) -> str:
    """A text that does not fit the pattern is read in the standard form."""
    text, *pattern = scope.texts(call.operands)
    if not pattern:
        return scope.share(text, lambda t: _millis(read_timestamp(t)))

    def body(t: str) -> str:
        fraction = f"CAST(rpad(regexp_extract(trim({t}), {_FALLBACK}, 7), 9, '0') AS BIGINT) div 1000000"
        standard = f"timestampadd(MILLISECOND, coalesce({fraction}, 0L), {_lenient(f'trim({t})', _FALLBACK)})"
        month, day = (f"CAST(regexp_extract(trim({t}), {_FALLBACK}, {group}) AS INT)" for group in (2, 3))
        valid = f"{month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND 31"
        return (
            f"coalesce({_millis(f'CAST(try_to_timestamp({t}, {pattern[0]}) AS TIMESTAMP_NTZ)')},"
            f" if({valid}, CAST({standard} AS TIMESTAMP_NTZ), NULL))"
        )

    return scope.share(text, body)


def _millis(ntz: str) -> str:
    return f"CAST(date_trunc('MILLISECOND', {ntz}) AS TIMESTAMP_NTZ)"


TO_TIMESTAMP = _formatted("TO_TIMESTAMP", "TEXT, TEXT?", returns=timestamp(3), lower=_lower_to_timestamp)


def _lower_to_date(scope: Scope, call: Call) -> str:
    text, *pattern = scope.texts(call.operands)
    if not pattern:
        return scope.share(text, read_date)
    return scope.share(
        text,
        lambda t: f"if({t} IS NULL, NULL, coalesce(CAST(try_to_timestamp({t}, {pattern[0]}) AS DATE), {_BAD_DATE}))",
    )


TO_DATE = _formatted("TO_DATE", "TEXT, TEXT?", returns=DATE, lower=_lower_to_date)


def _lower_to_ltz(scope: Scope, call: Call) -> str:
    """Numbers are epoch milliseconds, or seconds with precision 0; NULL outside the years 0 to 9999."""
    value, *more = call.operands
    text, *rest = scope.texts(call.operands)
    if value.type.root in TEXTS:
        zone = rest[1] if len(rest) == 2 else scope.zone_text
        read = f"try_to_timestamp({text}, {rest[0]})" if rest else f"CAST({read_timestamp(text)} AS TIMESTAMP)"
        return f"date_trunc('MILLISECOND', to_utc_timestamp({read}, {zone}))"
    seconds = bool(more) and isinstance(more[0], Literal) and more[0].value == 0
    whole = text if value.type.root in INTEGERS else f"CAST({text} * {1000 if seconds else 1} AS BIGINT)"
    factor = " * 1000L" if seconds and value.type.root in INTEGERS else ""
    return scope.share(
        f"({whole}{factor})",
        lambda t: f"if({t} BETWEEN -62167219200000 AND 253402300799999, timestamp_millis({t}), NULL)",
    )


def _lower_to_ltz_2(scope: Scope, call: Call) -> str:
    """Numbers with a fraction are rounded down first: to milliseconds, or seconds with precision 0.

    Version 1 kept the milliseconds of seconds, and cut toward zero.
    """
    value, *more = call.operands
    seconds = bool(more) and isinstance(more[0], Literal) and more[0].value == 0
    number = scope.text(value)
    whole = f"CAST(floor({number}) AS BIGINT)" if value.type.root is not Root.DECIMAL else f"CAST({number} AS BIGINT)"
    return scope.share(
        f"({whole} * {1000 if seconds else 1}L)",
        lambda t: f"if({t} BETWEEN -62167219200000 AND 253402300799999, timestamp_millis({t}), NULL)",
    )


def _bind_to_ltz(call: Invocation) -> Binding | None:
    t = call.types[0] if call.types else None
    specs = ("TEXT", "TEXT, TEXT", "TEXT, TEXT, TEXT") if t and t.root in TEXTS else ("NUMERIC", "NUMERIC, INTEGER")
    for spec in specs:
        operands = Parameters.parse(spec).convert(call.operands)
        if operands is None:
            continue
        precision = operands[1] if len(operands) == 2 else None
        if "NUMERIC" in spec and precision is not None and not _is_precision(precision):
            raise SqlError(
                "the precision of TO_TIMESTAMP_LTZ must be the constant 0 or 3",
                position=call.position,
                hint="0 is for seconds, 3 for milliseconds.",
            )
        made = [_checked(each, call.position) if "TEXT" in spec and i == 1 else each for i, each in enumerate(operands)]
        return Binding(tuple(made), timestamp_ltz(3))
    return None


def _is_precision(operand: Expression) -> bool:
    return isinstance(operand, Literal) and operand.value in (0, 3)


TO_TIMESTAMP_LTZ = Function(
    "TO_TIMESTAMP_LTZ",
    ("TO_TIMESTAMP_LTZ(NUMERIC, 0 or 3)", "TO_TIMESTAMP_LTZ(TEXT, TEXT?, TEXT?)"),
    _bind_to_ltz,
    _lower_to_ltz,
)
TO_TIMESTAMP_LTZ_2 = replace(
    TO_TIMESTAMP_LTZ,
    lower=_lower_to_ltz_2,
    version=2,
    since="1.3",
    only=lambda t: t[0].type.root not in (*TEXTS, *INTEGERS),
)


def _lower_unix_timestamp(scope: Scope, call: Call) -> str:
    """Seconds since 1970 of a time of the session zone; the least BIGINT if the text is no time."""
    text, *pattern = scope.texts(call.operands)

    def body(t: str) -> str:
        local = f"try_to_timestamp({t}, {pattern[0]})" if pattern else _lenient(t, _LENIENT)
        seconds = f"unix_millis({to_instant(scope, local)}) div 1000"
        return f"if({t} IS NULL, NULL, coalesce({seconds}, {_BAD_SECONDS}))"

    return scope.share(text, body)


def _bind_unix_timestamp(call: Invocation) -> Binding | None:
    if not call.operands:
        return Binding((), BIGINT.not_null())
    operands = Parameters.parse("TEXT, TEXT?").convert(call.operands)
    if operands is None:
        return None
    made = (operands[0], *(_checked(each, call.position) for each in operands[1:]))
    return Binding(made, BIGINT.with_nullable(any(each.type.nullable for each in made)))


UNIX_TIMESTAMP = Function(
    "UNIX_TIMESTAMP",
    ("UNIX_TIMESTAMP()", "UNIX_TIMESTAMP(TEXT, TEXT?)"),
    _bind_unix_timestamp,
    lambda scope, call: _lower_unix_timestamp(scope, call) if call.operands else "unix_timestamp()",
)


def _lower_from_unixtime(scope: Scope, call: Call) -> str:
    seconds, *pattern = scope.texts(call.operands)
    shown = to_local(scope, f"timestamp_seconds({seconds})")
    return f"date_format({shown}, {pattern[0] if pattern else STANDARD})"


FROM_UNIXTIME = _formatted("FROM_UNIXTIME", "BIGINT, TEXT?", returns=STRING, lower=_lower_from_unixtime)


def _lower_convert_tz(scope: Scope, call: Call) -> str:
    text, source, target = scope.texts(call.operands)
    local = scope.share(text, lambda t: _lenient(t, _LENIENT))
    return f"date_format(from_utc_timestamp(to_utc_timestamp({local}, {source}), {target}), {STANDARD})"


CONVERT_TZ = function("CONVERT_TZ", form("TEXT, TEXT, TEXT", STRING, nullable=True), sql=_lower_convert_tz)
