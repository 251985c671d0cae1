"""Literals: numbers, texts, dates and times, intervals, each with Flink's type."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import cache
from math import isfinite

from execnodes.core import types as t
from execnodes.core.constants import constant as known
from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Literal, Value
from execnodes.core.types import LogicalType
from planner.syntax import Constant

_MAX_INT, _MAX_BIGINT, _MOST_DIGITS = 2**31 - 1, 2**63 - 1, 38
SURE_DIGITS = 18
"""So many are always within a BIGINT."""
_LAST_JULIAN, _FIRST_GREGORIAN = date(1582, 10, 4), date(1582, 10, 15)
_LONGEST_INTERVAL = 100
_MOST_LEADING, _MOST_FRACTION = 10, 9
_MILLIS = {"WEEK": 604_800_000, "DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1000}
_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_LESS_THAN_12, _LESS_THAN_24, _LESS_THAN_60 = "0?[0-9]|1[01]", "[01]?[0-9]|2[0-3]", "[0-5]?[0-9]"
_SECONDS = rf"(?:{_LESS_THAN_60})(?:\.\d{{1,6}})?"
_COMPOUND = {
    ("YEAR", "MONTH"): rf"(\d+)-({_LESS_THAN_12})",
    ("DAY", "HOUR"): rf"(\d+) ({_LESS_THAN_24})",
    ("DAY", "MINUTE"): rf"(\d+) ({_LESS_THAN_24}):({_LESS_THAN_60})",
    ("DAY", "SECOND"): rf"(\d+) ({_LESS_THAN_24}):({_LESS_THAN_60}):({_SECONDS})",
    ("HOUR", "MINUTE"): rf"(\d+):({_LESS_THAN_60})",
    ("HOUR", "SECOND"): rf"(\d+):({_LESS_THAN_60}):({_SECONDS})",
    ("MINUTE", "SECOND"): rf"(\d+):({_SECONDS})",
}
UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")


def constant(value: Value, type_: LogicalType, position: Position) -> Constant:
    """A literal that is not NULL."""
    try:
        return Constant(Literal(value=value, type=_not_null(type_)), position=position)
    except ValueError as bad:
        raise SqlError(_reason(value, type_) or str(bad), position=position) from None


def _reason(value: Value, type_: LogicalType) -> str | None:
    try:
        known(value, type_)
    except ValueError as bad:
        return str(bad)
    return None


_not_null = cache(LogicalType.not_null)
_char = cache(t.char)
_decimal = cache(t.decimal)


def text(content: str, position: Position) -> Constant:
    """A constant of type CHAR, as long as its content is in UTF-16, as in Flink."""
    beyond = 0 if content.isascii() else sum(character > "\uffff" for character in content)
    return constant(content, _char(len(content) + beyond), position)


def symbol(word: str, position: Position) -> Constant:
    """A keyword handed to a function as a text, e.g. the unit of EXTRACT."""
    return constant(word, _char(len(word)), position)


def null(position: Position) -> Constant:
    """A bare NULL."""
    return Constant(Literal(value=None, type=t.NULL), position=position)


def unescaped(text: str, position: Position, escape: str = "\\") -> str:
    """What U&'…' stands for: the escape and four digits are a character, the escape twice is itself."""
    mark = re.escape(escape)

    def character(match: re.Match[str]) -> str:
        if match[0] == escape:
            raise SqlError(
                f"{text!r} has {escape} in front of what are not four hexadecimal digits",
                position=position,
                hint=f"Write e.g. {escape}00e9 for é, and {escape * 2} for the character itself.",
            )
        return chr(int(match[1], 16)) if match[1] else escape

    return _whole_characters(re.sub(f"{mark}(?:{mark}|([0-9a-fA-F]{{4}}))?", character, text), text, position)


_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'"}
_BACKSLASHED = re.compile(
    r"''|\\(?:(?P<letter>[bfnrt\\'])|x(?P<byte>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})"
    r"|(?P<octal>[0-3][0-7]{2}|[0-7]{1,2}(?![0-7]))|(?P<bad>[xuU0-9]))"
)


def unescape_backslashes(text: str, position: Position) -> str:
    r"""What E'…' stands for: \n and its like, \x41, \u0041, \U00000041, \101; other characters keep their backslash."""

    def character(match: re.Match[str]) -> str:
        if match["bad"]:
            raise SqlError(
                f"{match[0]!r} is not an escape of a character", position=position, hint="Write e.g. \\u0041."
            )
        if match["letter"]:
            return _ESCAPES[match["letter"]]
        digits = match["byte"] or match["short"] or match["long"]
        code = int(digits, 16) if digits else int(match["octal"], 8) if match["octal"] else ord("'")
        if code > sys.maxunicode:
            raise SqlError(f"{match[0]!r} is not a character", position=position)
        return chr(code)

    return _whole_characters(_BACKSLASHED.sub(character, text), text, position)


def _whole_characters(found: str, text: str, position: Position) -> str:
    try:
        return found.encode("utf-16", "surrogatepass").decode("utf-16")  # two halves are one character
    except UnicodeDecodeError as bad:
        raise SqlError(f"{text!r} holds half a character", position=position, hint="Write both surrogates.") from bad


def numeric(text: str, position: Position) -> Constant:
    """The literal of a number's text, perhaps with a sign."""
    digits = text.lstrip("-")
    if "E" in text.upper():
        value = float(text)
        if not isfinite(value):
            raise SqlError(f"{_short(text)} is too large for a DOUBLE", position=position)
        return constant(repr(value), t.DOUBLE, position)
    if "." in text:
        scale = len(digits) - digits.index(".") - 1
        precision = max(len(digits) - 1, 1)
        if precision > _MOST_DIGITS:
            raise SqlError(f"{_short(text)} has more than {_MOST_DIGITS} digits", position=position)
        return constant(text, _decimal(precision, scale), position)
    if len(digits.lstrip("0")) > _MOST_DIGITS:
        raise SqlError(f"{_short(text)} has more than {_MOST_DIGITS} digits", position=position)
    whole = int(digits.lstrip("0") or "0") * (-1 if text.startswith("-") else 1)
    if -_MAX_INT - 1 <= whole <= _MAX_INT:
        return constant(whole, t.INT, position)
    if -_MAX_BIGINT - 1 <= whole <= _MAX_BIGINT:
        return constant(whole, t.BIGINT, position)
    return constant(str(whole), _decimal(len(digits.lstrip("0")), 0), position)


def check_range(text: str, negated: bool, position: Position) -> None:
    """SqlError if the digits of a number without an exponent are beyond those of a BIGINT, as Flink takes none."""
    digits = text.replace(".", "").lstrip("0") or "0"
    if "E" in text.upper() or (len(digits) <= _MOST_DIGITS and int(digits) <= _MAX_BIGINT + negated):
        return
    hint = f"Write CAST('{text}' AS DECIMAL(p, s))." if len(digits) <= _MOST_DIGITS else None
    raise SqlError(f"number {_short(text)} is out of range", position=position, hint=hint)


def decimal(text: str, position: Position) -> Constant:
    """The literal of ``DECIMAL '…'``: a whole number, or a DECIMAL, an exponent shifting its point."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or abs(value.adjusted()) > _MOST_DIGITS:
        raise SqlError(f"{_short(text)!r} is not a DECIMAL", position=position, hint="Write e.g. DECIMAL '1.5'.")
    return numeric(format(value, "f"), position)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def negated(literal: Literal, position: Position) -> Constant:
    """Unary minus of a number or an interval."""
    value, root = literal.value, literal.type.root
    if isinstance(value, int) and root in t.INTERVALS:
        return constant(-value, literal.type, position)
    text = str(value)
    if text.startswith("-"):
        text = text[1:]
    elif text.strip("0."):
        # There is no zero below zero, as in Flink.
        text = f"-{text}"
    return constant(text, t.DOUBLE, position) if root is t.Root.DOUBLE else numeric(text, position)


def temporal(word: str, text: str, position: Position, *, is_stored: bool = False) -> Constant:
    """``DATE '2024-02-29'`` and its like; the precision is the number of fractional digits written.

    Parts may have fewer digits or more zeros, and blanks before them, as in Flink. The days that the Gregorian
    calendar left out are none, but in a stored text.
    """
    found = _TEMPORAL[word].fullmatch(text)
    try:
        if found is None:
            raise ValueError("form")
        written = found.groupdict()
        year, month, number = (1, 1, 1) if word == "TIME" else map(int, written["day"].split("-"))
        day = date(year, month, number)
        if _LAST_JULIAN < day < _FIRST_GREGORIAN and not is_stored:
            raise ValueError("calendar")
        if word == "DATE":
            return constant(day.isoformat(), t.DATE, position)
        hour, minute, second = map(int, (written["clock"] or "0:0:0").split(":"))
        clock = time(hour, minute, second)
        fraction = written["fraction"] or ""
        if word == "TIME":
            return constant(_with_fraction(clock.isoformat(), fraction), t.time(len(fraction)), position)
        if len(fraction) > 6:
            message = f"{text!r} has {len(fraction)} fractional digits, which is not supported"
            raise SqlError(message, position=position, hint="Spark keeps microseconds: write 6 digits at most.")
        moment = datetime.combine(day, clock).isoformat(" ")
        return constant(_with_fraction(moment, fraction), t.timestamp(len(fraction)), position)
    except ValueError as bad:
        form = {"DATE": "2024-02-29", "TIME": "12:34:56.789"}.get(word, "2024-02-29 12:34:56.789")
        raise SqlError(f"{text!r} is no {word}", position=position, hint=f"Write it as '{form}'.") from bad


_DAY, _CLOCK = r" *(?P<day>\d{1,9}-\d{1,9}-\d{1,9})", r" *(?P<clock>\d{1,9}:\d{1,9}:\d{1,9})(?:\.(?P<fraction>\d*))?"
_TEMPORAL = {
    "DATE": re.compile(_DAY, re.ASCII),
    "TIME": re.compile(_CLOCK, re.ASCII),
    "TIMESTAMP": re.compile(f"{_DAY}(?: {_CLOCK})?", re.ASCII),
}


def _with_fraction(moment: str, fraction: str) -> str:
    return f"{moment}.{fraction}" if fraction else moment


@dataclass(frozen=True, slots=True)
class Digits:
    """How many digits an interval may have."""

    leading: int
    """In its first unit, 1 to 10."""
    fraction: int = 6
    """Behind the point of its seconds, 1 to 9."""

    def check(self, text: str, leading: str, position: Position, form: str) -> None:
        """SqlError if a text has more of them, or none can have so many; `form` shows where digits are given."""
        if not 1 <= self.leading <= _MOST_LEADING or not 1 <= self.fraction <= _MOST_FRACTION:
            raise SqlError(
                f"an interval has 1 to {_MOST_LEADING} digits, 1 to {_MOST_FRACTION} of them behind its point",
                position=position,
                hint="Write e.g. SECOND(2, 3).",
            )
        if len(leading) > self.leading:
            raise SqlError(
                f"INTERVAL '{text}' {form.format('')}: {leading} has more than {self.leading} digits",
                position=position,
                hint=f"Write INTERVAL '{text}' {form.format(f'({len(leading)})')}.",
            )
        fraction = text.partition(".")[2]
        if len(fraction) > self.fraction:
            raise SqlError(
                f"INTERVAL '{text}': .{fraction} has more than {self.fraction} digits",
                position=position,
                hint=f"Write {len(fraction)} as the digits of the fraction, or fewer of these.",
            )


def interval(
    text: str, first: str, last: str, negative: bool, position: Position, digits: Digits | None = None
) -> Constant:
    """``INTERVAL [-] '…' first(digits) [TO last]``: milliseconds or months; without `digits` of any size."""
    text, sign = text.strip(), -1 if negative else 1
    if text.startswith(("-", "+")):
        sign, text = (-sign if text[0] == "-" else sign), text[1:].strip()
    amounts = _amounts(text, first, last)
    if amounts is None:
        raise SqlError(
            f"'{text}' is no INTERVAL {first}" + (f" TO {last}" if last != first else ""),
            position=position,
            hint="Write e.g. INTERVAL '5' SECOND or INTERVAL '1 02:03:04' DAY TO SECOND.",
        )
    leading = str(int(amounts[0][1].partition(".")[0]))
    if digits is not None:
        digits.check(text, leading, position, first + "{}" + (f" TO {last}" if last != first else ""))
    months = first in _MONTHS
    size = sum(int(amount) * _MONTHS[name] if months else _millis(amount, name) for name, amount in amounts)
    if size > (_MAX_INT if months else _MAX_BIGINT):
        raise SqlError(f"'{text}' {first} is too long an interval", position=position)
    return constant(sign * size, t.INTERVAL_YEAR_MONTH if months else t.INTERVAL_DAY_TIME, position)


def is_unit(word: str) -> bool:
    """Whether a word is a unit of an interval, singular or plural."""
    name = word.upper()
    return any(each in _MILLIS or each in _MONTHS for each in (name, name.removesuffix("S")))


def unit(word: str, position: Position) -> str:
    """A unit of an interval, singular or plural."""
    name = word.upper()
    name = name if name in _MILLIS or name in _MONTHS else name.removesuffix("S")
    if name not in _MILLIS and name not in _MONTHS:
        raise SqlError(f"{name} is no unit of an interval", position=position, hint=", ".join((*_MONTHS, *_MILLIS)))
    return name


def _amounts(text: str, first: str, last: str) -> list[tuple[str, str]] | None:
    if len(text) > _LONGEST_INTERVAL:
        return None
    if first == last:
        pattern = r"\d+(?:\.\d{1,6})?" if first == "SECOND" else r"\d+"
        return [(first, text)] if re.fullmatch(pattern, text) else None
    match = re.fullmatch(_COMPOUND.get((first, last), "(?!)"), text)
    if match is None:
        return None
    units = UNITS[UNITS.index(first) : UNITS.index(last) + 1]
    return list(zip(units, match.groups(), strict=True))


def _millis(amount: str, name: str) -> int:
    whole, _, fraction = amount.partition(".")
    return int(whole) * _MILLIS[name] + (int(fraction[:3].ljust(3, "0")) if fraction else 0)
