"""Casts to DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ, and how texts are read as such."""

from __future__ import annotations

from execnodes.core.types import TEXTS, LogicalType, Root
from execnodes.functions.cast_numbers import checked
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type, text_literal

DAY = 86_400_000


def to_time(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool) -> str:
    """`text` as a DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ."""
    if source.root in TEXTS:
        return scope.share(text, lambda t: _from_text(scope, t, target, strict))
    match source.root, target.root:
        case Root.TIMESTAMP, Root.DATE:
            return f"date_from_unix_date(CAST({local_millis(text)} div {DAY} AS INT))"
        case Root.TIMESTAMP, Root.TIME:
            return f"CAST({local_millis(text)} % {DAY} AS INT)"
        case Root.TIMESTAMP_LTZ, Root.DATE:
            return f"CAST({to_local(scope, text)} AS DATE)"
        case Root.TIMESTAMP_LTZ, Root.TIME:
            return f"CAST(unix_millis({to_local(scope, text)}) % {DAY} AS INT)"
        case Root.DATE, Root.TIMESTAMP:
            return f"CAST({text} AS TIMESTAMP_NTZ)"
        case Root.DATE, Root.TIMESTAMP_LTZ:
            return to_instant(scope, f"CAST({text} AS TIMESTAMP)")
        case Root.TIME, Root.TIMESTAMP:
            return f"CAST(timestamp_millis({text}) AS TIMESTAMP_NTZ)"
        case Root.TIME, Root.TIMESTAMP_LTZ:
            return to_instant(scope, f"timestamp_millis({text})")
        case Root.TIMESTAMP, Root.TIMESTAMP_LTZ:
            return cut(to_instant(scope, f"CAST({text} AS TIMESTAMP)"), source.precision, target)
        case Root.TIMESTAMP_LTZ, Root.TIMESTAMP:
            return cut(f"CAST({to_local(scope, text)} AS TIMESTAMP_NTZ)", source.precision, target)
        case Root.TIME, Root.TIME:
            return _cut_time(text, source.precision, target)
        case _:
            # Two of one kind: the precision is all that differs.
            return cut(text, source.precision, target)


def local_millis(text: str) -> str:
    """Milliseconds of a TIMESTAMP since 1970-01-01 00:00 of its own clock."""
    return f"unix_millis(CAST({text} AS TIMESTAMP))"


def to_local(scope: Scope, text: str) -> str:
    """An instant as the clock of the session zone shows it; still of Spark type TIMESTAMP."""
    return text if scope.zone == "UTC" else f"from_utc_timestamp({text}, {scope.zone_text})"


def to_instant(scope: Scope, text: str) -> str:
    """The instant at which the clock of the session zone shows `text` (of Spark type TIMESTAMP)."""
    return text if scope.zone == "UTC" else f"to_utc_timestamp({text}, {scope.zone_text})"


def cut(text: str, have: int, target: LogicalType) -> str:
    """A timestamp with `have` fractional digits, cut to those of `target`."""
    digits = min(target.precision, 6)
    if digits >= min(have, 6):
        return text
    if digits in (0, 3):
        truncated = f"date_trunc('{'MILLISECOND' if digits else 'SECOND'}', {text})"
    else:
        step = 10 ** (6 - digits)
        micros = f"unix_micros(CAST({text} AS TIMESTAMP))"
        truncated = f"timestamp_micros({micros} - pmod({micros}, {step}))"
    return f"CAST({truncated} AS {spark_type(target)})"


def cut_millis(text: str, target: LogicalType) -> str:
    """A time or timestamp of three fractional digits, cut to fewer of them toward zero."""
    step = 10 ** (3 - target.precision)
    if target.root is Root.TIME:
        return f"CAST(({text} div {step}) * {step} AS INT)"
    return f"CAST(timestamp_millis(({local_millis(text)} div {step}) * {step}) AS {spark_type(target)})"


def _cut_time(text: str, have: int, target: LogicalType) -> str:
    return text if target.precision >= min(have, 3) else cut_millis(text, target)


def _from_text(scope: Scope, text: str, target: LogicalType, strict: bool) -> str:
    match target.root:
        case Root.DATE:
            read = read_date(text)
        case Root.TIME:
            read = read_time(text, target)
        case _:
            # A timestamp: nothing but times is asked for.
            read = as_timestamp(scope, read_timestamp(text), target)
    return checked(scope, text, read, str(target.with_nullable(True)), spark_type(target)) if strict else read


def as_timestamp(scope: Scope, ntz: str, target: LogicalType) -> str:
    """A clock time of six digits, of Spark type TIMESTAMP_NTZ, as a TIMESTAMP or TIMESTAMP_LTZ."""
    if target.root is Root.TIMESTAMP:
        return cut(ntz, 6, target)
    return cut(to_instant(scope, f"CAST({ntz} AS TIMESTAMP)"), 6, target)


_DATE = text_literal(r"^~0*(\d{4})((?:-\d{1,2}){0,2})(?: .*)?$")


def read_date(text: str) -> str:
    """A year, with month and day or without; what follows a blank does not count. NULL if it is no date."""
    return f"CAST(regexp_replace(concat('~000', {text}), {_DATE}, '$1$2') AS DATE)"


_TIME = text_literal(r"^(\d{1,4})(?::(\d{1,4})(?::(\d{1,4})(?:\.(\d*))?)?)?$")


def read_time(text: str, target: LogicalType) -> str:
    """Hours, with minutes, seconds and fraction or without, as milliseconds of the day; NULL if it is no time."""

    def part(group: int) -> str:
        return f"coalesce(CAST(nullif(regexp_extract({text}, {_TIME}, {group}), '') AS INT), 0)"

    digits = min(target.precision, 3)
    fraction = f"CAST(rpad(left(regexp_extract({text}, {_TIME}, 4), {digits}), 3, '0') AS INT)"
    millis = f"((({part(1)} * 60 + {part(2)}) * 60 + {part(3)}) * 1000 + {fraction if digits else 0})"
    return f"if(rlike({text}, {_TIME}), {millis}, NULL)"


_TIMESTAMP = text_literal(r"^\d{4}-\d{1,2}-\d{1,2}(?: \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d{0,9})?)?$")
_MONTH_END = text_literal(r"^\d{4}-\d{1,2}-(?:29|30|31)(?: |$)")


def read_timestamp(text: str) -> str:
    """A date, with a full time of day or without; days up to 31 are clipped to the month. NULL if it is none."""
    return clipped_timestamp(text, _TIMESTAMP)


def clipped_timestamp(text: str, pattern: str) -> str:
    """A TIMESTAMP_NTZ of a text that has the pattern; days up to 31 are clipped to the month. NULL if it is none."""
    first = f"CAST(concat(substring_index({text}, '-', 2), '-01') AS DATE)"
    clipped = f"concat(CAST(last_day({first}) AS STRING), regexp_replace({text}, '^[^ ]*', ''))"
    late = f"if(rlike({text}, {_MONTH_END}), CAST({clipped} AS TIMESTAMP_NTZ), NULL)"
    return f"if(rlike({text}, {pattern}), coalesce(CAST({text} AS TIMESTAMP_NTZ), {late}), NULL)"
