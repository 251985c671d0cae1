"""How texts are read as DATE, TIME and timestamps since 1.5: as Flink's `DateTimeUtils` reads them."""

from __future__ import annotations

from execnodes.core.types import LogicalType, Root
from execnodes.functions.cast_numbers import checked
from execnodes.functions.cast_times import DAY, as_timestamp, clipped_timestamp
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type, text_literal


def read_as(scope: Scope, text: str, target: LogicalType, strict: bool) -> str:
    """A text, which is repeated, as a DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ; else NULL, or a failure if `strict`."""
    match target.root:
        case Root.DATE:
            made = read_date(text)
        case Root.TIME:
            made = read_time(scope, text, target)
        case _:
            # A timestamp: nothing but times is asked for.
            made = as_timestamp(scope, read_timestamp(text), target)
    return checked(scope, text, made, str(target.with_nullable(True)), spark_type(target)) if strict else made


_BLANK = r"[\x00-\x20]*"
"""What Java's `trim` takes off."""


def _number(digits: str) -> str:
    return rf"{_BLANK}0*({digits}){_BLANK}"


_YEAR, _TWO, _MANY = _number(r"\d{1,4}"), _number(r"\d{1,2}"), _number(r"\d{1,9}")
_HOUR, _SIXTY = _number(r"1?\d|2[0-3]"), _number(r"[1-5]?\d")
_DATE = text_literal(rf"^~{_YEAR}(?:(-){_TWO}(?:(-){_TWO})?)?\z")


def read_date(text: str) -> str:
    """A year, with month and day or without, blanks around them; a blank that is not the first character ends them."""
    day = f"if(instr({text}, ' ') > 1, substring_index({text}, ' ', 1), {text})"
    # Spark takes years of four to seven digits.
    return f"CAST(regexp_replace(concat('~', {day}), {_DATE}, '000$1$2$3$4$5') AS DATE)"


_FRACTION = rf"\.{_BLANK}((?:[^+-]{{0,4}})|(?:[^-]{{0,4}}(?=[^-]*-)))"
_TIME = text_literal(
    rf"(?s)^{_HOUR}(?:(?::{_SIXTY})?(?:([+-]){_MANY})?"
    rf"|:{_SIXTY}:{_SIXTY}(?:{_FRACTION}[^-]*?)?(?:([+-]){_MANY}(?::{_MANY})?)?)\z"
)
_PARTS = "$1:$2$5:$6:$3$8:$4$9:$10:$7"


def read_time(scope: Scope, text: str, target: LogicalType) -> str:
    """Hours, with minutes, seconds and fraction or without, and an offset, as milliseconds of the day.

    A fraction is rounded to milliseconds, then cut to the digits of `target`; what is no digit in it counts as 0.
    """

    def millis(part: str) -> str:
        hour, minute, second, sign, hours, minutes, fraction = (f"{part}[{at}]" for at in range(7))
        offset = f"if({sign} = '-', -1, 1)"
        digits = f"CAST(rpad(regexp_replace(left({fraction}, 3), '[^0-9]', '0'), 3, '0') AS INT)"
        rounded = f"{digits} + if(substring({fraction}, 4, 1) >= '5', 1, 0)"
        clock = f"({_whole(hour)} + {offset} * {_whole(hours)}) * 3600000L"
        clock += f" + ({_whole(minute)} + {offset} * {_whole(minutes)}) * 60000L + {_whole(second)} * 1000 + {rounded}"
        step = 10 ** (3 - min(target.precision, 3))
        return f"CAST(pmod({clock}, {DAY}) div {step} * {step} AS INT)"

    parts = f"split(regexp_replace({text}, {_TIME}, {text_literal(_PARTS)}), ':', 7)"
    return f"if(rlike({text}, {_TIME}), {scope.share(parts, millis)}, NULL)"


def _whole(digits: str) -> str:
    return f"coalesce(CAST({digits} AS INT), 0)"


_TIMESTAMP = text_literal(
    r"^(?:(?!0000)\d{4}|\+(?!0+-)\d{5,6})-\d{1,2}-\d{1,2}(?: \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d{0,9})?)?$"
)
_MIDNIGHT = text_literal(r" 24(:0?0:0?0(?:\.0*)?)$")


def read_timestamp(text: str) -> str:
    """A date, with a full time of day or without; days up to 31 are clipped to the month, 24:00:00 ends the day."""
    midnight = f"regexp_replace({text}, {_MIDNIGHT}, ' 00$1')"
    late = f"{clipped_timestamp(midnight, _TIMESTAMP)} + INTERVAL '1' DAY"
    return f"coalesce({clipped_timestamp(text, _TIMESTAMP)}, if(rlike({text}, {_MIDNIGHT}), {late}, NULL))"
