"""Texts read by a pattern of Java's `SimpleDateFormat`, as Flink reads them in TO_DATE, UNIX_TIMESTAMP and their kin.

It is lenient: the text may go on behind the pattern, blanks may stand before a number, which has as many digits as
there are (as many as the pattern has letters where another field follows at once), and months, days, hours … beyond
their range count on. Days before 1582-10-15 are those of the Julian calendar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from execnodes.functions.date_patterns import Part, parts
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

STANDARD_PATTERN = "yyyy-MM-dd HH:mm:ss"
_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
)
_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Mon|Tue|Wed|Thu|Fri|Sat|Sun"
_NAMES = {"a": "AM|PM", "E": _DAYS, "Z": r"GMT[+-]\d{1,2}:\d\d|[+-]\d{4}|GMT|UTC"}
_NUMBERS = "yMLdDHhkKmsS"
_DIGITS = "".join(chr(zero + each) for zero in (0x0660, 0x06F0, 0xFF10) for each in range(10))
_BETWEEN = "/"
"""What stands between the fields of a text once it is read; no field has it."""
_MILLIS = {"H": 3_600_000, "k": 3_600_000, "h": 3_600_000, "K": 3_600_000, "m": 60_000, "s": 1000, "S": 1}
_DAY = 86_400_000
_CUTOVER = -141_427
"""1582-10-15, in days after 1970."""


def readable(pattern: str) -> bool:
    """Whether texts can be read by the pattern."""
    found = parts(pattern, simple=True)
    return found is not None and all(not each.letter or each.letter in (*_NUMBERS, *_NAMES) for each in found)


def has_offset(pattern: str) -> bool:
    """Whether a text tells its offset from UTC."""
    return any(each.letter == "Z" for each in parts(pattern, simple=True) or ())


def read_lenient(scope: Scope, text: str, pattern: str, *, julian: bool = True) -> str:
    """Milliseconds since 1970-01-01 00:00 of the clock that a text shows; NULL if it does not begin by the pattern.

    Not `julian`: the Gregorian calendar in all years, for times that are shown by it again.
    """
    if not pattern:
        return "CAST(NULL AS BIGINT)"
    found = parts(pattern, simple=True) or ()
    letters = [each for each in found if each.letter]
    head = "^" + "".join(_expressions(found))
    taken = _BETWEEN.join(f"${at + 1}" for at in range(len(letters)))

    def body(t: str) -> str:
        pieces = f"regexp_replace({t}, {text_literal(f'{head}(?s:.*)')}, {text_literal(taken)})"
        millis = scope.share(f"split({pieces}, '{_BETWEEN}')", lambda p: _millis(scope, letters, p, julian))
        return f"if(rlike({t}, {text_literal(head)}), {millis}, NULL)"

    return scope.share(ascii_digits(text), body)


def ascii_digits(text: str) -> str:
    """A text with ASCII digits for those of the Arabic scripts and the wide ones, which Java reads as well."""
    return f"translate({text}, '{_DIGITS}', '{'0123456789' * 3}')"


def days(millis: str) -> str:
    """The DATE of milliseconds after 1970, which are repeated."""
    return f"date_from_unix_date(CAST(({millis} - pmod({millis}, {_DAY}L)) div {_DAY}L AS INT))"


def _expressions(found: Sequence[Part]) -> Iterator[str]:
    """A regular expression for each part, with one group for each field."""
    for at, each in enumerate(found):
        names = _MONTHS if each.letter in "ML" and each.count > 2 else _NAMES.get(each.letter)
        if not each.letter:
            yield re.sub(r"([^\w\s])", r"\\\1", _unquoted(each.text), flags=re.ASCII)
        elif names:
            yield rf"[ \t]*+((?i:{names}))"
        elif at + 1 < len(found) and found[at + 1].letter:
            yield rf"(?=(?s:.{{{each.count}}}))((?>{'|'.join(_within(each.count))}))"
        else:
            yield r"[ \t]*+(-?\d++)"


def _within(count: int) -> Iterator[str]:
    """Numbers within so many characters, with blanks before them."""
    for blanks in range(count):
        digits = count - blanks
        negative = rf"|-\d{{1,{digits - 1}}}" if digits > 1 else ""
        yield rf"[ \t]{{{blanks}}}(?:\d{{1,{digits}}}{negative})"


def _unquoted(text: str) -> str:
    if not text.startswith("'"):
        return text
    return "'" if text == "''" else text[1:-1].replace("''", "'")


def _millis(scope: Scope, letters: Sequence[Part], pieces: str, julian: bool) -> str:
    """Of the fields that a list of texts has; where a letter comes again, its last field counts."""
    texts = {each.letter.replace("L", "M"): f"{pieces}[{at}]" for at, each in enumerate(letters)}
    counts = {each.letter.replace("L", "M"): each.count for each in letters}
    numbers = {letter: f"CAST(trim(BOTH ' \t' FROM {text}) AS BIGINT)" for letter, text in texts.items()}
    if counts.get("M", 0) > 2:
        names = text_literal(_MONTHS.rsplit("|", 12)[0].lower())
        numbers["M"] = f"size(split(substring_index({names}, lower(left({texts['M']}, 3)), 1), '[|]'))"
    if "y" in counts and counts["y"] <= 2:
        numbers["y"] = scope.share(numbers["y"], lambda year: _full_year(texts["y"], year))
    clock = "".join(f" + {_amount(letter, numbers[letter])} * {_MILLIS[letter]}L" for letter in _of_clock(texts))
    if "a" in texts and not {"H", "k"} & texts.keys():
        clock += f" + if(lower({texts['a']}) = 'pm', {_DAY // 2}L, 0L)"
    if "Z" in texts:
        clock += f" - {_offset(texts['Z'])}"
    by_year = "D" in texts and "d" not in texts
    month, day = ("1L", numbers["D"]) if by_year else (numbers.get("M", "1L"), numbers.get("d", "1L"))
    return f"({_day(scope, numbers.get('y', '1970L'), month, day, julian)} * {_DAY}L{clock})"


def _full_year(text: str, number: str) -> str:
    """A year of two digits lies less than 80 years back, or less than 20 ahead."""
    first = "(year(current_date()) - 80)"
    full = f"{number} + {first} div 100 * 100 + if({number} < {first} % 100, 100, 0)"
    return f"if(rlike({text}, '^[ \t]*[0-9]{{2}}$'), {full}, {number})"


def _of_clock(texts: Mapping[str, str]) -> Iterator[str]:
    """The letters that count: of several for the hour those of a day first, else the last one."""
    hours = [each for each in texts if each in "Hk"] or [each for each in texts if each in "hK"]
    yield from hours[-1:]
    yield from (each for each in "msS" if each in texts)


def _amount(letter: str, number: str) -> str:
    most = {"k": 24, "h": 12}.get(letter)
    return f"coalesce(nullif({number}, {most}L), 0L)" if most else number


def _offset(text: str) -> str:
    """Milliseconds of ``+0130`` or ``GMT+1:30``."""
    digits = f"lpad(regexp_replace({text}, '[^0-9]', ''), 4, '0')"
    minutes = f"(CAST(left({digits}, 2) AS INT) * 60 + CAST(right({digits}, 2) AS INT))"
    return f"if({text} LIKE '%-%', -60000L, 60000L) * {minutes}"


def _day(scope: Scope, year: str, month: str, day: str, julian: bool) -> str:
    """Days after 1970, of the Gregorian calendar or, before it began, of the `julian` one."""

    def body(t: Sequence[str]) -> str:
        months, in_month = t
        years = f"({months} div 12)"
        plain = f"(153 * ({months} % 12) + 2) div 5 + 365 * {years} + {years} div 4 + {in_month}"
        gregorian = f"({plain} - {years} div 100 + {years} div 400 - 2472633)"
        return f"if({gregorian} >= {_CUTOVER}, {gregorian}, {plain} - 2472671)" if julian else gregorian

    # Counted from March of the year -4800, so that the day of a leap year is the last one.
    return scope.share_some((f"({year} * 12 + {month} + 57597)", day), [0, 1], body)
