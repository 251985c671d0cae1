"""Date patterns of Java: what stands in them, and texts in Spark SQL of what Spark's own patterns have not got.

There are two kinds: those of `DateTimeFormatter` (times), and those of `SimpleDateFormat`, by which Flink reads texts
and shows seconds; in these a ``u`` is a day and an ``F`` a week. Weeks begin on Sunday, and one day makes the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from execnodes.lowering.spark_sql import text_literal


@dataclass(frozen=True, slots=True)
class Part:
    """A run of one letter; without a letter `text`, which stands for itself (or the brackets of what may be absent)."""

    letter: str
    text: str

    @property
    def count(self) -> int:
        """How often the letter stands there."""
        return len(self.text)


_PIECE = re.compile(r"'(?:[^']|'')*'|(?P<letter>[A-Za-z])(?P=letter)*|[^A-Za-z']+")
_UP_TO = {each: range(1, most + 1) for most, letters in ((1, "aFWc"), (2, "wdhHkKms"), (3, "D")) for each in letters}
_UP_TO |= {each: range(1, 6) for each in "GMLQqEeXxZ"} | dict.fromkeys("uyYnNAg", range(1, 20))
_TIMES = _UP_TO | {
    "c": (1, 3, 4, 5),
    "S": range(1, 10),
    "z": range(1, 5),
    "V": (2,),
    "v": (1, 4),
    "O": (1, 4),
    "B": (1, 4, 5),
    "p": range(1, 20),
}
_SIMPLE = {each: range(1, 1000) for each in "GyYMLwWDdFEuaHkKhmsSzZ"} | {"X": range(1, 4)}

_MISSING = "YWwecANnpBg"
_NOT_READ = "EFQq"
_MOST = dict.fromkeys("GMLEQq", 4) | {"y": 6, "u": 6}
"""The most letters that Spark takes."""

_SATURDAY = "date_add(CAST({t} AS DATE), 7 - dayofweek({t}))"
"""The last day of the week: its year is the week's."""
_NUMBERS = {
    "w": f"(dayofyear({_SATURDAY}) + 6) div 7",
    "W": "(dayofmonth({t}) + dayofweek(trunc({t}, 'MM')) + 5) div 7",
    "e": "dayofweek({t})",
    "c": "dayofweek({t})",
    "Y": f"year({_SATURDAY})",
    "A": "unix_millis({t}) - unix_millis(date_trunc('DAY', {t}))",
    "n": "(unix_micros({t}) - unix_micros(date_trunc('SECOND', {t}))) * 1000",
    "N": "(unix_micros({t}) - unix_micros(date_trunc('DAY', {t}))) * 1000",
    "g": "unix_date(CAST({t} AS DATE)) + 40587",
}
"""Numbers that Spark's patterns have not got, of a Spark TIMESTAMP `{t}`."""
_SIMPLE_NUMBERS = {
    "w": _NUMBERS["w"],
    "W": _NUMBERS["W"],
    "Y": _NUMBERS["Y"],
    "u": "weekday({t}) + 1",
    "F": "(dayofmonth({t}) + 6) div 7",
}


def parts(pattern: str, *, simple: bool) -> tuple[Part, ...] | None:
    """What stands in a pattern; None if Java refuses it."""
    found, at = list[Part](), 0
    for piece in _PIECE.finditer(pattern):
        if piece.start() != at:
            return None
        at = piece.end()
        part = Part(piece["letter"] or "", piece[0])
        if part.letter and part.count not in (_SIMPLE if simple else _TIMES).get(part.letter, ()):
            return None
        found.append(part)
    if at != len(pattern) or (not simple and not _is_complete(found)):
        return None
    return tuple(found)


def _is_complete(found: Iterable[Part]) -> bool:
    """No brackets that close nothing, and nothing that Java keeps for later."""
    depth = 0
    for each in found:
        if each.letter or each.text.startswith("'"):
            continue
        if re.search("[{}#]", each.text):
            return False
        for one in each.text:
            depth += (one == "[") - (one == "]")
            if depth < 0:
                return False
    return True


def numbers(found: Iterable[Part], *, simple: bool) -> tuple[str, ...]:
    """The letters that Spark has not got, or takes for something else, and that are shown all the same."""
    known = _SIMPLE_NUMBERS if simple else _NUMBERS
    return tuple(dict.fromkeys(each.letter for each in found if each.letter in known))


def missing(found: Iterable[Part], *, simple: bool, read: bool) -> str:
    """What Spark's patterns have not got, or take for something else; empty if they have all of it.

    `read`: texts are read by the pattern; else times are shown.
    """
    for each in found:
        letters = _MISSING + ("u" if simple else "") + (_NOT_READ if read else "")
        if each.letter and each.letter in letters:
            return f"letter {each.letter!r}"
        if each.count > _MOST.get(each.letter, each.count):
            return repr(each.text)
    return ""


def spark_part(part: Part, *, simple: bool) -> str:
    """A part as Spark's patterns have it, to show times by: brackets are nothing there, or plain characters."""
    if part.letter or part.text.startswith("'"):
        return "y" * part.count if part.letter == "u" else part.text
    return f"'{part.text}'" if simple else re.sub(r"[][]", "", part.text)


def shown(found: Iterable[Part], time: str, *, simple: bool) -> str:
    """Spark SQL of a TIMESTAMP by a pattern; `time` is repeated."""
    known = _SIMPLE_NUMBERS if simple else _NUMBERS
    made = []
    for is_number, run in groupby(found, lambda each: each.letter in known):
        if is_number:
            made += [_number(each, known[each.letter].format(t=time), time) for each in run]
        else:
            pattern = "".join(spark_part(each, simple=simple) for each in run)
            made.append(f"date_format({time}, {text_literal(pattern)})")
    return f"concat({', '.join(made)})"


def _number(part: Part, number: str, time: str) -> str:
    """As many digits as letters; days of the week by name from three letters on, years of two without their century."""
    if part.letter in "ec" and part.count > 2:
        name = f"date_format({time}, '{'EEEE' if part.count == 4 else 'E'}')"
        return f"left({name}, 1)" if part.count == 5 else name
    if part.letter == "Y" and part.count == 2:
        return f"lpad(CAST(({number}) % 100 AS STRING), 2, '0')"
    text = f"CAST({number} AS STRING)"
    return text if part.count == 1 else f"lpad({text}, greatest({part.count}, length({text})), '0')"
