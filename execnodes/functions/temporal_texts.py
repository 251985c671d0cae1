"""Times from texts and numbers, and to texts: DATE_FORMAT, TO_TIMESTAMP, TO_DATE, UNIX_TIMESTAMP and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from execnodes.core.errors import SqlError
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
from execnodes.functions.date_patterns import missing, numbers, parts, shown
from execnodes.functions.families import Parameters
from execnodes.functions.function import Binding, Function, Invocation, Lower, Operands, form, function
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

STANDARD = "'yyyy-MM-dd HH:mm:ss'"
_LENIENT = text_literal(r"^\s*(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)")
_FALLBACK = text_literal(r"^(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?$")
BAD_DATE = "date_from_unix_date(622191233)"
"""What Flink's TO_DATE with a format gives for a text that does not fit: +1705471-09-27."""
BAD_SECONDS = "-9223372036854775808L"
_SHOWING = ("DATE_FORMAT", "FROM_UNIXTIME")
_READ = "y M d D a H h K k m s S"
_SHOWN = "y M L d D E e Y w W F a H h K k m s S A n N Q q g G"
_SHOWN_SIMPLE = "y M L d D E u Y w W F a H h K k m s S G z Z X"


def check_pattern(call: Invocation, operands: Sequence[Expression], at: int = 1) -> list[Expression]:
    """The operands, a constant pattern among them as Spark takes it; as it is where a later version shows times by it.

    SqlError for a pattern that Java or Spark has not got.
    """
    return [_pattern(call, operands[0], each) if i == at else each for i, each in enumerate(operands)]


def _pattern(call: Invocation, time: Expression, pattern: Expression) -> Expression:
    value = _constant(pattern)
    if value is None:
        return pattern
    simple, read = _is_simple(call.name, time), call.name not in _SHOWING
    found = parts(value, simple=simple)
    if found is None and call.name == "TO_TIMESTAMP":
        return pattern
    if found is not None and not read and numbers(found, simple=simple):
        found_too = [each for each in found if not numbers([each], simple=simple)]
        lacking = missing(found_too, simple=simple, read=False)
    else:
        lacking = "Java has no such pattern" if found is None else missing(found, simple=simple, read=read)
    if lacking:
        raise SqlError(
            f"the date pattern {value!r} is not supported: {lacking}",
            position=call.position,
            hint=f"Letters that work: {_READ if read else _SHOWN_SIMPLE if simple else _SHOWN}.",
        )
    if found is None or numbers(found, simple=simple):
        return pattern
    made = "".join("y" * each.count if each.letter == "u" else each.text for each in found)
    return pattern.model_copy(update={"value": made})


def _is_simple(name: str, time: Expression) -> bool:
    """Whether Flink has a `SimpleDateFormat` for it; the others go by `DateTimeFormatter`."""
    return name in ("FROM_UNIXTIME", "TO_DATE", "UNIX_TIMESTAMP") or (name == "DATE_FORMAT" and time.type.root in TEXTS)


def _constant(pattern: Expression) -> str | None:
    return pattern.value if isinstance(pattern, Literal) and isinstance(pattern.value, str) else None


def _has_numbers(name: str) -> Callable[[Operands], bool]:
    """Whether a constant pattern shows times by letters that Spark has not got."""

    def has(operands: Operands) -> bool:
        value = _constant(operands[1]) if len(operands) == 2 else None
        simple = _is_simple(name, operands[0])
        found = parts(value, simple=simple) if value is not None else None
        return found is not None and bool(numbers(found, simple=simple))

    return has


def _formatted(name: str, *specs: str, returns: LogicalType, lower: Lower) -> Function:
    """A function whose second operand, if there is one, is a pattern; constant patterns are checked at once."""
    known = [Parameters.parse(spec) for spec in specs]

    def bind(call: Invocation) -> Binding | None:
        for parameters in known:
            operands = parameters.convert(call.operands)
            if operands is not None:
                return Binding(tuple(check_pattern(call, operands)), returns.with_nullable(True))
        return None

    return Function(name, tuple(f"{name}({spec})" for spec in specs), bind, lower)


def _lower_date_format(scope: Scope, call: Call) -> str:
    shape = scope.text(call.operands[1])
    return f"date_format({_shown_time(scope, call.operands[0])}, {shape})"


def _shown_time(scope: Scope, operand: Expression) -> str:
    """The time that DATE_FORMAT shows, as a Spark TIMESTAMP."""
    text = scope.text(operand)
    if operand.type.root in TEXTS:
        return scope.share(text, lambda t: _lenient(t, _LENIENT))
    return to_local(scope, text) if operand.type.root is Root.TIMESTAMP_LTZ else f"CAST({text} AS TIMESTAMP)"


def _lenient(text: str, pattern: str) -> str:
    """A time of which months, days, hours … beyond their range count on, as a Spark TIMESTAMP; NULL if it is none."""

    def part(group: int) -> str:
        return f"coalesce(CAST(nullif(regexp_extract({text}, {pattern}, {group}), '') AS INT), 0)"

    day = f"date_add(add_months(make_date({part(1)}, 1, 1), {part(2)} - 1), {part(3)} - 1)"
    seconds = f"unix_date({day}) * 86400L + {part(4)} * 3600L + {part(5)} * 60 + {part(6)}"
    return f"if(rlike({text}, {pattern}), timestamp_seconds({seconds}), NULL)"


def _lower_numbers(name: str, time: Callable[[Scope, Expression], str]) -> Lower:
    """By a constant pattern with letters that Spark has not got."""

    def lower(scope: Scope, call: Call) -> str:
        simple = _is_simple(name, call.operands[0])
        found = parts(_constant(call.operands[1]) or "", simple=simple) or ()
        return scope.share(time(scope, call.operands[0]), lambda t: shown(found, t, simple=simple))

    return lower


DATE_FORMAT = _formatted("DATE_FORMAT", "DATETIME, TEXT", "TEXT, TEXT", returns=STRING, lower=_lower_date_format)
# Version 1 has no letters beyond those of Spark.
DATE_FORMAT_2 = replace(
    DATE_FORMAT,
    lower=_lower_numbers("DATE_FORMAT", _shown_time),
    version=2,
    since="1.3",
    only=_has_numbers("DATE_FORMAT"),
)


def _lower_to_timestamp(scope: Scope, call: Call) -> str:
    """A text that does not fit the pattern is read in the standard form."""
    text, *pattern = scope.texts(call.operands)
    if not pattern:
        return scope.share(text, lambda t: _millis(read_timestamp(t)))

    def body(t: str) -> str:
        return (
            f"coalesce({_millis(f'CAST(try_to_timestamp({t}, {pattern[0]}) AS TIMESTAMP_NTZ)')},"
            f" CAST({read_standard(t)} AS TIMESTAMP_NTZ))"
        )

    return scope.share(text, body)


def read_standard(text: str, micros: bool = False) -> str:
    """A text in the form of java.sql.Timestamp as a Spark TIMESTAMP, in milliseconds or `micros`; NULL if none."""
    unit, step = ("MICROSECOND", 1000) if micros else ("MILLISECOND", 1000000)
    fraction = f"CAST(rpad(regexp_extract(trim({text}), {_FALLBACK}, 7), 9, '0') AS BIGINT) div {step}"
    standard = f"timestampadd({unit}, coalesce({fraction}, 0L), {_lenient(f'trim({text})', _FALLBACK)})"
    month, day = (f"CAST(regexp_extract(trim({text}), {_FALLBACK}, {group}) AS INT)" for group in (2, 3))
    return f"if({month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND 31, {standard}, NULL)"


def _millis(ntz: str) -> str:
    return f"CAST(date_trunc('MILLISECOND', {ntz}) AS TIMESTAMP_NTZ)"


def _is_impossible(operands: Operands) -> bool:
    value = _constant(operands[1]) if len(operands) == 2 else None
    return value is not None and parts(value, simple=False) is None


TO_TIMESTAMP = _formatted("TO_TIMESTAMP", "TEXT, TEXT?", returns=timestamp(3), lower=_lower_to_timestamp)
# Version 1 failed for a constant pattern that Java refuses.
TO_TIMESTAMP_2 = replace(
    TO_TIMESTAMP,
    lower=lambda scope, call: "CAST(NULL AS TIMESTAMP_NTZ)",
    version=2,
    since="1.3",
    only=_is_impossible,
)


def _lower_to_date(scope: Scope, call: Call) -> str:
    text, *pattern = scope.texts(call.operands)
    if not pattern:
        return scope.share(text, read_date)
    return scope.share(
        text,
        lambda t: f"if({t} IS NULL, NULL, coalesce(CAST(try_to_timestamp({t}, {pattern[0]}) AS DATE), {BAD_DATE}))",
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
    if value.type.root in INTEGERS:
        return _instant(scope, text, seconds=seconds)
    return _instant(scope, f"CAST({text} * {1000 if seconds else 1} AS BIGINT)", seconds=False)


def _instant(scope: Scope, number: str, *, seconds: bool) -> str:
    """The time that is so many seconds or milliseconds after 1970; NULL outside the years 0 to 9999."""
    if seconds:
        # Too many of them would wrap around as milliseconds.
        made = "if({t} BETWEEN -62167219200 AND 253402300799, timestamp_millis({t} * 1000L), NULL)"
    else:
        made = "if({t} BETWEEN -62167219200000 AND 253402300799999, timestamp_millis({t}), NULL)"
    return scope.share(number, lambda t: made.format(t=t))


def _lower_to_ltz_2(scope: Scope, call: Call) -> str:
    """Numbers with a fraction are rounded down first: to milliseconds, or seconds with precision 0.

    Version 1 kept the milliseconds of seconds, and cut toward zero.
    """
    value, *more = call.operands
    seconds = bool(more) and isinstance(more[0], Literal) and more[0].value == 0
    number = scope.text(value)
    whole = f"CAST(floor({number}) AS BIGINT)" if value.type.root is not Root.DECIMAL else f"CAST({number} AS BIGINT)"
    return _instant(scope, whole, seconds=seconds)


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
        made = check_pattern(call, operands) if "TEXT" in spec else operands
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
        return f"if({t} IS NULL, NULL, coalesce({seconds}, {BAD_SECONDS}))"

    return scope.share(text, body)


def _bind_unix_timestamp(call: Invocation) -> Binding | None:
    if not call.operands:
        return Binding((), BIGINT.not_null())
    operands = Parameters.parse("TEXT, TEXT?").convert(call.operands)
    if operands is None:
        return None
    made = tuple(check_pattern(call, operands))
    return Binding(made, BIGINT.with_nullable(any(each.type.nullable for each in made)))


UNIX_TIMESTAMP = Function(
    "UNIX_TIMESTAMP",
    ("UNIX_TIMESTAMP()", "UNIX_TIMESTAMP(TEXT, TEXT?)"),
    _bind_unix_timestamp,
    lambda scope, call: _lower_unix_timestamp(scope, call) if call.operands else "unix_timestamp()",
)


def _lower_from_unixtime(scope: Scope, call: Call) -> str:
    pattern = scope.text(call.operands[1]) if len(call.operands) == 2 else STANDARD
    return f"date_format({_of_seconds(scope, call.operands[0])}, {pattern})"


def _of_seconds(scope: Scope, operand: Expression) -> str:
    """Milliseconds wrap around as in Flink, so that UNIX_TIMESTAMP of no time is 1970; NULL where Spark has no time."""
    instant = scope.share(
        f"({scope.text(operand)} * 1000L)",
        lambda t: f"if({t} BETWEEN -9223372036854775 AND 9223372036854775, timestamp_millis({t}), NULL)",
    )
    return to_local(scope, instant)


FROM_UNIXTIME = _formatted("FROM_UNIXTIME", "BIGINT, TEXT?", returns=STRING, lower=_lower_from_unixtime)
# Version 1 has no letters beyond those of Spark, and took u for the year.
FROM_UNIXTIME_2 = replace(
    FROM_UNIXTIME,
    lower=_lower_numbers("FROM_UNIXTIME", _of_seconds),
    version=2,
    since="1.3",
    only=_has_numbers("FROM_UNIXTIME"),
)


def _lower_convert_tz(scope: Scope, call: Call) -> str:
    text, source, target = scope.texts(call.operands)
    local = scope.share(text, lambda t: _lenient(t, _LENIENT))
    return f"date_format(from_utc_timestamp(to_utc_timestamp({local}, {source}), {target}), {STANDARD})"


CONVERT_TZ = function("CONVERT_TZ", form("TEXT, TEXT, TEXT", STRING, nullable=True), sql=_lower_convert_tz)
