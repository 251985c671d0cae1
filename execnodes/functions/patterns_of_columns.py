"""TO_TIMESTAMP, and TO_TIMESTAMP_LTZ of texts, since 2.1: by patterns of columns, whatever stands in them.

Versions before ended the job for patterns that Spark refuses (`{`, `yyyy]`, `MMMMM`), and gave NULL for those that only
Spark has not got.
"""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Call, Literal
from execnodes.core.types import TEXTS
from execnodes.functions.date_patterns import Part
from execnodes.functions.function import Operands
from execnodes.functions.instants_of_rows import TO_TIMESTAMP_LTZ_4
from execnodes.functions.lenient_dates import ascii_digits
from execnodes.functions.scope import Scope
from execnodes.functions.temporal_texts import read_standard
from execnodes.functions.texts_to_timestamps import TO_TIMESTAMP_3, instant_by, read_by_pattern, timestamp_by
from execnodes.lowering.spark_sql import text_literal


def _runs(letters: str, most: int) -> str:
    """Runs of up to `most` of each letter, in a regular expression."""
    return "|".join(f"{each}{{1,{most}}}(?!{each})" for each in letters)


_NESTED = 4
"""How many brackets may stand within each other and be closed; beyond it a pattern is taken to be none."""
_PLAIN = "[^A-Za-z'{}#]"
_CLOCK = f"{_runs('a', 1)}|{_runs('dHhKkms', 2)}|{_runs('D', 3)}|{_runs('S', 9)}"
_ZONED = f"{_runs('z', 4)}|{_runs('XxZ', 5)}|(?:OOOO|O)(?!O)|VV(?!V)"
_JAVA = (
    f"{_CLOCK}|{_ZONED}|{_runs('FW', 1)}|{_runs('w', 2)}|{_runs('GMLQqEe', 5)}|{_runs('yuAnNg', 19)}"
    "|(?:c{3,5}|c)(?!c)|(?:v{4}|v)(?!v)|(?:B{4,5}|B)(?!B)|p++(?=[A-Za-z])"
)
"""What Java's `DateTimeFormatter` has; but Y, by which texts of the standard form would be read as other times."""
_READ = f"{_CLOCK}|{_runs('GML', 4)}|{_runs('y', 6)}"
"""What Spark reads as Java does."""
_UNQUOTED = r"(?=[^']*+(?:'[^']*+'[^']*+)*+\z)"
_SPLIT = r"(?![^S]*S(?s:.*)[\n\r\x{85}\x{2028}\x{2029}])"
"""Spark cuts patterns at their S, also in quotes, and finds no lines behind it."""


def _brackets() -> str:
    """Brackets that close what was opened; what is opened may stay open."""
    within = r"[^\[\]']|'[^']*'"
    closed = rf"\[(?:{within})*+\]"
    for _ in range(_NESTED - 1):
        closed = rf"\[(?:{within}|{closed})*+\]"
    return rf"(?:{within}|{closed}|\[)*+\z"


_HAS_JAVA = text_literal(rf"^(?={_brackets()})(?:{_JAVA}|'[^']*'|{_PLAIN})*+\z")
_HAS_SPARK = text_literal(rf"^{_SPLIT}(?:{_READ}|'[^'S]*'|{_PLAIN})*+\z")
_HAS_SPARK_WITH_ZONES = text_literal(rf"^{_SPLIT}(?:{_READ}|{_ZONED}|'[^'S]*'|{_PLAIN})*+\z")
_YEARS = text_literal(f"u{_UNQUOTED}")
_ZONE = (Part("z", "z"),)


def _read(scope: Scope, text: str, pattern: str, micros: bool = False) -> str:
    """A Spark TIMESTAMP by a pattern of a column; a text that does not fit is read in the standard form."""

    def by(p: str, standard: str) -> str:
        years = f"regexp_replace({p}, {_YEARS}, 'y')"

        def made(shape: str) -> str:
            plain, zoned = (read_by_pattern(text, shape, found) for found in ((), _ZONE))
            zoned = f"if(rlike({shape}, {_HAS_SPARK_WITH_ZONES}), {zoned}, NULL)"
            return f"coalesce(if(rlike({shape}, {_HAS_SPARK}), {plain}, {zoned}), {standard})"

        return f"if(rlike({p}, {_HAS_JAVA}), {scope.share(years, made)}, NULL)"

    trimmed = f"trim(BOTH ' \\t\\r\\n' FROM {ascii_digits(text)})"
    standard = scope.share(trimmed, lambda t: read_standard(t, micros))
    return scope.share(pattern, lambda p: by(p, standard))


def _is_of_column(operands: Operands) -> bool:
    return operands[0].type.root in TEXTS and len(operands) > 1 and not isinstance(operands[1], Literal)


def _lower_timestamp(scope: Scope, call: Call) -> str:
    text, pattern = scope.texts(call.operands)
    return scope.share(text, lambda t: timestamp_by(_read(scope, t, pattern)))


TO_TIMESTAMP_4 = replace(TO_TIMESTAMP_3, lower=_lower_timestamp, version=4, since="2.1", only=_is_of_column)


def _lower_instant(scope: Scope, call: Call) -> str:
    text, *more = scope.texts(call.operands)
    micros = call.type.precision > 3

    def moment(t: str) -> str:
        made = _read(scope, t, more[0], micros)
        return made if micros else f"date_trunc('MILLISECOND', {made})"

    return instant_by(scope, call, scope.share(text, moment), more)


TO_TIMESTAMP_LTZ_5 = replace(TO_TIMESTAMP_LTZ_4, lower=_lower_instant, version=5, since="2.1", only=_is_of_column)
