"""Spark SQL texts that the text formats share: times from text, and failing lines that can be found again."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from execnodes.core.errors import ConnectorError
from execnodes.core.types import LogicalType, Root

LINE = "value"
"""Column with the text of a line."""
PATH = "rk_path"
"""Column with the address of the line's file."""
NUMBER = "rk_row"
"""Column with the number of a row in its file, from 0, of files that have no lines."""

_MARK = "rekindle-bad-line:"
_LONGEST = 4000

TIME_ROOTS = (Root.DATE, Root.TIME, Root.TIMESTAMP, Root.TIMESTAMP_LTZ)
"""Types that stand in a text as a text."""

_CLOCK = r"\\d{2}:\\d{2}:\\d{2}(\\.\\d{0,9})?"
_SHORT_CLOCK = r"\\d{2}:\\d{2}(:\\d{2}(\\.\\d{0,9})?)?"
_MIDNIGHT = r"24:00:00(\\.0*)?"
_DAY = r"\\d{4}-\\d{2}-\\d{2}"
_YEAR_AND_DAY = r"(\\d{4}|-\\d{4,6}|[+-]\\d{5,6})-\\d{2}-\\d{2}"
_END = r"\\z"
"""And not before the end of a line."""


def string(text: str) -> str:
    """A Spark SQL string literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def time_from_text(t: LogicalType, x: str, iso: bool) -> str:
    """The value of a date or time in the text `x`; NULL if it is none.

    `iso`: timestamps as ``2020-01-01T00:00:00.123`` (LTZ with Z) and not as ``2020-01-01 00:00:00.123``. Digits beyond
    the declared precision are cut.
    """
    separator, clock = ("T", _SHORT_CLOCK) if iso else (" ", _CLOCK)
    kept = 19 if t.precision == 0 else 20 + min(t.precision, 6)
    match t.root:
        case Root.DATE:
            return f"CASE WHEN {x} RLIKE '^{_YEAR_AND_DAY}{_END}' THEN TRY_CAST({x} AS DATE) END"
        case Root.TIME:
            instant = f"TRY_CAST(concat('1970-01-01 ', left({x}, 12)) AS TIMESTAMP)"
            return f"CASE WHEN {x} RLIKE '^{_CLOCK}{_END}' THEN CAST(unix_millis({instant}) AS INT) END"
        case Root.TIMESTAMP:
            pattern = f"^{_DAY}{separator}{clock}{_END}"
            return f"CASE WHEN {x} RLIKE '{pattern}' THEN TRY_CAST(left({x}, {kept}) AS TIMESTAMP_NTZ) END"
        case _:
            # A TIMESTAMP_LTZ: nothing but times is asked for.
            text = f"concat(left(rtrim('Z', {x}), {kept}), 'Z')"
            return f"CASE WHEN {x} RLIKE '^{_DAY}{separator}{clock}Z{_END}' THEN TRY_CAST({text} AS TIMESTAMP) END"


def lenient_time_from_text(t: LogicalType, x: str, iso: bool) -> str:
    """As `time_from_text`, for what that leaves out.

    A day beyond the month's end of a timestamp is its last day; the time 24:00:00 is the start of the next day, or 0.
    """
    match t.root:
        case Root.DATE:
            return "CAST(NULL AS DATE)"
        case Root.TIME:
            return f"CASE WHEN {x} RLIKE '^{_MIDNIGHT}{_END}' THEN 0 END"
        case _:
            # A timestamp: nothing but times is asked for. ISO 8601 is taken by the letter.
            if iso:
                return time_from_text(t, x, iso)
            last = f"CAST(last_day(TRY_CAST(concat(left({x}, 8), '01') AS DATE)) AS STRING)"
            clipped = f"CASE WHEN substr({x}, 9, 2) IN ('29', '30', '31') THEN concat({last}, substr({x}, 11)) END"
            start = f"concat(coalesce(left({clipped}, 10), left({x}, 10)), ' 00', substr({x}, 14))"
            next_day = f"{time_from_text(t, start, iso)} + INTERVAL 1 DAY"
            midnight = f"CASE WHEN substr({x}, 11) RLIKE '^ {_MIDNIGHT}Z?{_END}' THEN {next_day} END"
            return f"coalesce({time_from_text(t, f'({clipped})', iso)}, {midnight})"


def failure(what: str, field: str | None, found: str | None = None, *, option: str) -> str:
    """A text that fails the job and says where: the line, its file, the field and the value `found` (a SQL text).

    `option` is the one of the table that would leave the line out.
    """
    facts = [
        *_ORIGIN,
        f"'option', {string(option)}",
        f"'what', {string(what)}",
        f"'field', {string(field) if field else 'CAST(NULL AS STRING)'}",
        f"'found', {f'left(CAST({found} AS STRING), 200)' if found else 'CAST(NULL AS STRING)'}",
    ]
    return f"raise_error(concat('{_MARK}', {_payload(facts)}))"


def bad_value(t: LogicalType, field: str, found: str, *, ignore: bool, option: str) -> str:
    """What becomes of a text that is no value of a type: NULL, or the failure of the job."""
    what = f"not a value of type {t.with_nullable(True)}"
    return "NULL" if ignore else failure(what, field, found, option=option)


_ORIGIN = (
    f"'path', {PATH}",
    # As bytes: they may be no text, and the line is looked for in the file by them.
    f"'line', hex(substring(CAST({LINE} AS BINARY), 1, {_LONGEST}))",
)


def _payload(facts: Iterable[str]) -> str:
    return f"hex(to_json(named_struct({', '.join(facts)})))"


def origin(columns: Iterable[str]) -> str | None:
    """A text of hexadecimal digits that says where a row is from, see `find_origin`; None if no column tells it."""
    known = set(columns)
    if {LINE, PATH} <= known:
        return _payload(_ORIGIN)
    return _payload((_ORIGIN[0], f"'row', {NUMBER}")) if {NUMBER, PATH} <= known else None


def find_origin(digits: str) -> tuple[str, str | None]:
    """File and line, if it can still be found there, and the line itself; of a file without lines its row."""
    facts = json.loads(bytes.fromhex(digits))
    path = local_path(facts["path"])
    if "line" not in facts:
        return f"{path}, row {facts['row'] + 1}", None
    line = bytes.fromhex(facts["line"])
    number = _line_number(path, line)
    return path if number is None else f"{path}, line {number}", line.decode(errors="backslashreplace")[:500]


def is_text() -> str:
    """Whether a line is UTF-8: Spark's own readers put U+FFFD for what is not, and say nothing."""
    return f"is_valid_utf8({LINE})"


NOT_TEXT = "the line is not valid UTF-8"


def find_failure(message: str) -> ConnectorError | None:
    """The error behind a message that `failure` has put into a Spark exception; it names the line of the file."""
    match = re.search(re.escape(_MARK) + r"([0-9A-F]+)", message)
    if match is None:
        return None
    facts = json.loads(bytes.fromhex(match[1]))
    place, line = find_origin(match[1])
    field = f"field {facts['field']!r}: " if facts.get("field") else ""
    found = f": {facts['found']!r}" if facts.get("found") is not None else ""
    return ConnectorError(
        f"{field}{facts['what']}{found}",
        where=place,
        hint=f"The line is: {line}\n  Correct it, or give the table '{facts['option']}' = 'true'.",
    )


def local_path(uri: str) -> str:
    """A file's address as people write it: without ``file:`` and escapes."""
    from urllib.parse import unquote

    return unquote(re.sub(r"^file:(//)?(?=/)", "", uri)) if uri.startswith("file:/") else uri


def _line_number(path: str, line: bytes) -> int | None:
    """Of the first of its lines, where it is a record of several."""
    line = re.split(rb"[\r\n]", line, maxsplit=1)[0]
    try:
        with _opened(Path(path)) as lines:
            for number, each in enumerate(lines, start=1):
                text = each.removeprefix(codecs.BOM_UTF8) if number == 1 else each
                # A carriage return alone ends a line for Spark, too.
                if any(part[:_LONGEST] == line for part in text.rstrip(b"\r\n").split(b"\r")):
                    return number
    except (OSError, EOFError):
        # The file may be remote or gone; the message then shows the line alone.
        return None
    return None


def _opened(path: Path) -> BinaryIO | gzip.GzipFile | bz2.BZ2File:
    match path.suffix:
        case ".gz":
            return gzip.open(path)
        case ".bz2":
            return bz2.open(path)
        case _:
            # Not compressed.
            return path.open("rb")


def stream_name(uid: str) -> str:
    """A uid as Spark takes it for the name of a stream."""
    return re.sub(r"[^A-Za-z0-9_]", "_", uid)
