"""Holds what readers make of the matrix to Flink's recorded answers."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.types import BINARIES, TEXTS, LogicalType, Root, parse_type
from tests.formats.matrix import Case

if TYPE_CHECKING:
    import pyarrow as pa

ERROR = "an error"
LOST = "no row"


@cache
def answers(kind: str) -> Mapping[str, Mapping[str, list[Any]]]:
    """Flink's answers, by nesting and type, and text: without and (if they are others) with errors ignored."""
    found: Mapping[str, Mapping[str, list[Any]]] = json.loads(
        gzip.decompress((Path(__file__).parent / "answers" / f"{kind}.json.gz").read_bytes())
    )
    return found


def expected(case: Case, *, strict: bool) -> Any:
    """Flink's value of the column `x`; ERROR, or LOST where there is no row."""
    found = answers(case.format)[f"{case.nesting} {case.type}"][case.text]
    rows = found[0] if strict else found[-1]
    if rows == "!":
        return ERROR
    return rows[0][1] if rows else LOST


def numbers(t: pa.DataType) -> pa.DataType:
    """The type with numbers in place of dates and timestamps: Python's begin with the year 1."""
    import pyarrow as pa

    if pa.types.is_date(t):
        return pa.int32()
    if pa.types.is_timestamp(t):
        return pa.int64()
    if pa.types.is_list(t):
        return pa.list_(numbers(t.value_type))
    if pa.types.is_map(t):
        return pa.map_(numbers(t.key_type), numbers(t.item_type))
    if pa.types.is_struct(t):
        return pa.struct([each.with_type(numbers(each.type)) for each in t])
    return t


def same(t: LogicalType, flink: Any, ours: Any) -> bool:
    """Whether a value, as Arrow gives it, is the one that Flink has given; digits beyond a precision do not count."""
    if flink is None or ours is None:
        return flink is None and ours is None
    match t.root:
        case Root.FLOAT | Root.DOUBLE:
            width = "<f" if t.root is Root.FLOAT else "<d"
            return _bits(width, float(flink)) == _bits(width, float(ours))
        case Root.DECIMAL:
            return bool(Decimal(flink) == ours)
        case root if root in BINARIES:
            return bool(flink == ours.hex())
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            cut = 10 ** (6 - min(t.precision, 6))
            return bool(flink // cut == ours // cut)
        case Root.ROW:
            return all(
                same(f.type, *pair) for f, pair in zip(t.fields, zip(flink, ours.values(), strict=True), strict=True)
            )
        case Root.ARRAY:
            return len(flink) == len(ours) and all(same(t.element, *pair) for pair in zip(flink, ours, strict=True))
        case Root.MAP:
            inner, found = t.element, dict(ours)
            return len(ours) == len(flink) == len(found) and all(same(inner, flink[k], found.get(k)) for k in flink)
        case _:
            # Numbers, texts, days and milliseconds.
            return bool(flink == ours)


def _bits(width: str, number: float) -> bytes:
    try:
        return struct.pack(width, number)
    except OverflowError:
        return struct.pack(width, float("inf") if number > 0 else float("-inf"))


def sentinel(t: LogicalType) -> str:
    """Spark SQL text of a value that is in no text of the matrix: stands for an error."""
    match t.root:
        case Root.ROW:
            return f"named_struct({', '.join(f'{f.name!r}, {sentinel(f.type)}' for f in t.fields)})"
        case Root.ARRAY:
            return f"array({sentinel(t.element)})"
        case Root.MAP:
            return f"map('!bad', {sentinel(t.element)})"
        case root if root in TEXTS:
            return "'!bad'"
        case root if root in BINARIES:
            return "unhex('7777')"
        case Root.DATE:
            return "DATE'1977-07-07'"
        case Root.TIME:
            return "7777"
        case Root.TIMESTAMP:
            return "TIMESTAMP_NTZ'1977-07-07 07:07:07'"
        case Root.TIMESTAMP_LTZ:
            return "TIMESTAMP'1977-07-07 07:07:07Z'"
        case Root.FLOAT | Root.DOUBLE:
            return f"CAST(7777 AS {t.root})"
        case Root.DECIMAL:
            return f"CAST(77 AS DECIMAL({t.precision}, {t.scale}))"
        case root:
            # Whole numbers.
            return f"CAST(77 AS {root})"


_SENTINELS = ("!bad", b"\x77\x77", 2744, 7777, 237106027000000, 7777.0, Decimal(77), 77)


def is_error(value: Any) -> bool:
    """Whether a value is or holds a sentinel."""
    if isinstance(value, dict):
        return any(map(is_error, value.values()))
    if isinstance(value, list):
        return any(map(is_error, value))
    if isinstance(value, tuple):
        return any(map(is_error, value))
    return not isinstance(value, bool) and value in _SENTINELS


def differences(cases: Iterable[Case], ours: Mapping[Case, Any], *, strict: bool) -> Iterator[str]:
    """Where they are others than Flink's, but for what is meant to be so."""
    for case in cases:
        flink, given = expected(case, strict=strict), ours[case]
        if strict and given is not LOST and is_error(given):
            given = ERROR
        if isinstance(flink, str) and flink in (ERROR, LOST):
            # A line that fails the job is one that is left out when it is not strict.
            right = given in (ERROR, LOST) if isinstance(given, str) else False
        else:
            right = given is not ERROR and given is not LOST and same(parse_type(case.column), flink, given)
        if not right and not meant(case, flink, given):
            yield f"{case.format} {case.column} {case.text!r}: {given!r}, Flink {flink!r}"


def meant(case: Case, flink: Any, given: Any) -> bool:
    """What docs/connectors.md says is otherwise than in Flink."""
    t, text = parse_type(case.type), case.text
    if "\u0661" in text:
        # Digits of other scripts are not numbers.
        return t.root not in TEXTS
    if case.format == "csv":
        return False
    if text in _HALVES and t.root in TEXTS:
        return given is ERROR or _is_without_value(given)
    if text in _BROKEN:
        # A row is lost whole where its JSON is broken.
        return given is LOST
    if flink is LOST and _is_without_value(given):
        # With errors ignored, a bad value does not lose its row.
        return True
    if text.startswith(("[", "{")):
        single = t.root not in (*TEXTS, Root.ROW, Root.ARRAY, Root.MAP)
        return single or text in _INNER or (text == _TWICE and t.root in TEXTS)
    return False


_HALVES = (r'"\ud800"', r'"\udc00x"')
_BROKEN = (r'"\x"', '{"a":1,}')
_TWICE = '{"a": 1, "a": 2}'
_INNER = ("[[1]]", '{"a": {"a": 1}}', '{"a": [1]}', '{"z": 1.10, "y": [1.0, {"q": 2}]}')
"""Objects and arrays that are where a single value should be, if the type is not a text."""


def _is_without_value(value: Any) -> bool:
    """Whether a value, or what is around one, is NULL."""
    if isinstance(value, dict):
        return any(each is None for each in value.values())
    if isinstance(value, list):
        return any(each is None or (isinstance(each, tuple) and each[1] is None) for each in value)
    return value is None
