"""TO_TIMESTAMP, and TO_TIMESTAMP_LTZ of texts, since 2.0: days past the end of a month are its last, years from 1 on.

Versions before counted such days on (2023-02-30 was March 2), or read the standard form where it is not Flink's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.expressions import Call, Literal
from execnodes.functions.cast_times import to_instant
from execnodes.functions.date_patterns import Part, parts
from execnodes.functions.function import Operands
from execnodes.functions.instants import KNOWN_PATTERN
from execnodes.functions.lenient_dates import ascii_digits
from execnodes.functions.read_times import read_timestamp
from execnodes.functions.scope import Scope
from execnodes.functions.temporal_texts import TO_TIMESTAMP, read_standard
from execnodes.lowering.spark_sql import text_literal

_PLACE = "\x01"
_OFFSETS = {
    "^(?:GMT|UTC|UT)(?=[+-])": "",
    r"^([+-])(\d)$": "$10$2:00",
    r"^([+-]\d\d)$": "$1:00",
    r"^([+-]\d\d)(\d\d)$": "$1:$2",
    r"^([+-]\d\d)(\d\d)(\d\d)$": "$1:$2:$3",
}
"""What offsets are written as, for all to have hours and minutes of two digits."""
_ZONES = ("z", "Z", "O", "x", "X", "V")
"""Letters of zones, which are read and count for nothing, as in Flink."""
_DIGITS = {"y": r"\d{4,}", "M": r"\d\d", "d": r"\d\d"}


def _pattern(operands: Operands) -> tuple[Part, ...] | None:
    """What stands in a constant pattern; None if it is none."""
    value = operands[1].value if len(operands) > 1 and isinstance(operands[1], Literal) else None
    return parts(value, simple=False) if isinstance(value, str) else None


def _is_possible(operands: Operands) -> bool:
    """Whether a constant pattern, if there is one, is one that Java has."""
    constant = len(operands) > 1 and isinstance(operands[1], Literal) and operands[1].value is not None
    return not constant or _pattern(operands) is not None


def read_by_pattern(text: str, pattern: str, found: Sequence[Part]) -> str:
    """A Spark TIMESTAMP, of what clocks show where a zone is read; `text` is repeated."""
    zoned = any(each.letter in _ZONES for each in found)
    made = _local(text, pattern, zoned)
    clipped = _clipped(text, found)
    if clipped:
        made = f"coalesce({made}, {_local(clipped, pattern, zoned)})"
    if any(each.letter == "y" for each in found):
        made = f"if({text} LIKE '%-%' AND year({made}) < 1, NULL, {made})"
    return made


def _local(text: str, pattern: str, zoned: bool) -> str:
    made = f"try_to_timestamp({text}, {pattern})"
    return f"if({made} IS NULL, NULL, CAST(to_timestamp_ntz({text}, {pattern}) AS TIMESTAMP))" if zoned else made


def _clipped(text: str, found: Sequence[Part]) -> str | None:
    """The text with the last day of the month for a day beyond it, NULL if it has none; None if no day is read."""
    letters = [each.letter for each in found if each.letter]
    if any(letters.count(each) != 1 for each in "yMd") or any(each.count > 4 for each in found if each.letter):
        return None
    if any((each.letter == "M" and each.count > 2) or (each.letter == "y" and each.count == 2) for each in found):
        return None
    expression = template = ""
    groups = dict[str, int]()
    for each in found:
        if each.letter:
            groups[each.letter] = len(groups) + 1
            digits = _DIGITS.get(each.letter) if each.count > 1 else r"\d+"
            expression += f"({digits or '.+?'})"
            template += _PLACE if each.letter == "d" else f"${len(groups)}"
        elif re.search(r"[][']", each.text):
            return None
        else:
            expression += re.sub(r"([^\w\s])", r"\\\1", each.text, flags=re.ASCII)
            template += re.sub(r"([\\$])", r"\\\1", each.text)
    whole = text_literal(rf"^{expression}\z")
    year, month, day = (f"CAST(regexp_extract({text}, {whole}, {groups[each]}) AS INT)" for each in "yMd")
    last = f"CAST(day(last_day(make_date({year}, {month}, 1))) AS STRING)"
    put = f"replace(regexp_replace({text}, {whole}, {text_literal(template)}), {text_literal(_PLACE)}, {last})"
    return f"if(rlike({text}, {whole}) AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 29 AND 31, {put}, NULL)"


def _read(scope: Scope, text: str, call: Call, pattern: str, micros: bool = False) -> str:
    """A Spark TIMESTAMP by a pattern, which may be that of a column; NULL if there is no such pattern."""
    found = _pattern(call.operands)
    trimmed = f"trim(BOTH ' \\t\\r\\n' FROM {ascii_digits(text)})"
    standard = scope.share(trimmed, lambda t: read_standard(t, micros))
    made = f"coalesce({read_by_pattern(text, pattern, found or ())}, {standard})"
    return made if found is not None else f"if(rlike({pattern}, {KNOWN_PATTERN}), {made}, NULL)"


def _lower_timestamp(scope: Scope, call: Call) -> str:
    text, *pattern = scope.texts(call.operands)

    def body(t: str) -> str:
        made = _read(scope, t, call, pattern[0]) if pattern else read_timestamp(t)
        return timestamp_by(made)

    return scope.share(text, body)


def timestamp_by(made: str) -> str:
    """A TIMESTAMP(3) of a Spark TIMESTAMP."""
    return f"CAST(date_trunc('MILLISECOND', {made}) AS TIMESTAMP_NTZ)"


TO_TIMESTAMP_3 = replace(TO_TIMESTAMP, lower=_lower_timestamp, version=3, since="2.0", only=_is_possible)


def lower_instant(scope: Scope, call: Call) -> str:
    """TO_TIMESTAMP_LTZ of a text."""
    text, *more = scope.texts(call.operands)
    micros = call.type.precision > 3

    def moment(t: str) -> str:
        made = _read(scope, t, call, more[0], micros) if more else f"CAST({read_timestamp(t)} AS TIMESTAMP)"
        return made if micros else f"date_trunc('MILLISECOND', {made})"

    return instant_by(scope, call, scope.share(text, moment), more)


def instant_by(scope: Scope, call: Call, local: str, more: Sequence[str]) -> str:
    """The instant of what clocks show: in the zone that stands behind the pattern, or else that of the session."""
    if len(more) < 2:
        return f"if({more[0]} IS NULL, NULL, {to_instant(scope, local)})" if more else to_instant(scope, local)
    if isinstance(call.operands[2], Literal):
        return f"to_utc_timestamp({local}, {more[1]})"
    return scope.share(local, lambda t: _of_zone(t, more[1]))


def _of_zone(local: str, zone: str) -> str:
    """The instant at which clocks of a zone show a time, NULL if there is no such zone: it would fail the job.

    Read with the time, it makes a text that is none. Offsets get their usual form first.
    """
    digits = "yyyy-MM-dd HH:mm:ss.SSSSSS"
    known = zone
    for found, put in _OFFSETS.items():
        known = f"regexp_replace({known}, {text_literal(found)}, {text_literal(put)})"
    zoned = f"concat(date_format({local}, '{digits}'), ' ', {known})"
    return f"if(rlike({zone}, '^[A-Z+-]'), try_to_timestamp({zoned}, '{digits} VV'), NULL)"
