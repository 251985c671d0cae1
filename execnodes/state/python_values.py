"""Values of kernels and of state (see `kernel_types`) in Python, as functions of the user see them, and back."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import operator
from decimal import Decimal
from typing import Any

from execnodes.core.types import BINARIES, INTEGERS, NESTED, TEXTS, LogicalType, Root
from execnodes.core.types import INT as _COUNT
from execnodes.user_functions.arrow_values import Convert, reader, writer

_EPOCH = datetime.datetime(1970, 1, 1)
_CONTEXT = decimal.Context(prec=100)
_MICROSECOND = datetime.timedelta(microseconds=1)
_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}
_WIDE = 18
"""More digits than these are texts in nested values."""


def from_kernel(t: LogicalType, hint: Any = Any) -> Convert | None:
    """From a kernel's value (None for NULL) to Python's; None: it is the same."""
    read = reader(t, hint)
    if t.root in NESTED:
        return lambda given: None if given is None else _then(read, _opened(t, json.loads(given)))
    plain = _openers(t)
    if plain is None:
        return read
    return lambda given: None if given is None else _then(read, plain(given))


def to_kernel(t: LogicalType) -> Convert:
    """From Python's value to a kernel's; TypeError or ValueError if it is none of that type."""
    write = writer(t)

    def convert(given: Any) -> Any:
        if given is None:
            return None
        closed = _closed(t, given if write is None else write(given))
        return json.dumps(closed, ensure_ascii=False, separators=(",", ":")) if t.root in NESTED else closed

    return convert


def _then(read: Convert | None, value: Any) -> Any:
    return value if read is None else read(value)


def _openers(t: LogicalType) -> Convert | None:
    match t.root:
        case Root.DATE:
            return lambda days: (_EPOCH + datetime.timedelta(days=days)).date()
        case Root.TIMESTAMP:
            return lambda micros: _EPOCH + micros * _MICROSECOND
        case Root.TIMESTAMP_LTZ:
            return lambda micros: (_EPOCH + micros * _MICROSECOND).replace(tzinfo=datetime.UTC)
        case Root.DECIMAL:
            return lambda unscaled: Decimal(int(unscaled)).scaleb(-t.scale, _CONTEXT)
        case _:
            # A kernel has the value itself.
            return None


def _opened(t: LogicalType, given: Any) -> Any:
    """A value inside a nested one, from the JSON of slots to what `reader` takes."""
    if given is None:
        return None
    match t.root:
        case Root.ROW:
            return {field.name: _opened(field.type, given.get(str(at))) for at, field in enumerate(t.fields)}
        case Root.ARRAY:
            return [_opened(t.element, each) for each in given]
        case Root.MAP | Root.MULTISET:
            value = _COUNT if t.root is Root.MULTISET else t.element
            return [(_opened(t.key, each["k"]), _opened(value, each["v"])) for each in given]
        case Root.BOOLEAN:
            return bool(given)
        case root if root in BINARIES:
            return base64.b64decode(given)
        case _:
            # A leaf.
            plain = _openers(t)
            return given if plain is None else plain(given)


def _closed(t: LogicalType, given: Any, *, inside: bool = False) -> Any:
    """What `writer` gives, as a kernel's value or, `inside` a nested one, as the JSON of slots."""
    if given is None:
        return None
    match t.root:
        case Root.ROW:
            return {str(at): _closed(f.type, given[f.name], inside=True) for at, f in enumerate(t.fields)}
        case Root.ARRAY:
            return [_closed(t.element, each, inside=True) for each in given]
        case Root.MAP | Root.MULTISET:
            value = _COUNT if t.root is Root.MULTISET else t.element
            pairs = [(_closed(t.key, k, inside=True), _closed(value, v, inside=True)) for k, v in given]
            return [{"k": k, "v": v} for k, v in sorted(pairs, key=operator.itemgetter(0))]
        case Root.BOOLEAN:
            return int(_typed(given, bool, t)) if inside else _typed(given, bool, t)
        case Root.DECIMAL:
            unscaled = int(given.scaleb(t.scale, _CONTEXT))
            return str(unscaled) if inside and t.precision > _WIDE else unscaled
        case Root.FLOAT | Root.DOUBLE:
            return float(given)
        case Root.DATE:
            return (_typed(given, datetime.date, t) - _EPOCH.date()).days
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return (_naive(_typed(given, datetime.datetime, t)) - _EPOCH) // _MICROSECOND
        case root if root in TEXTS:
            return _typed(given, str, t)
        case root if root in BINARIES:
            data = bytes(_typed(given, bytes | bytearray | memoryview, t))
            return base64.b64encode(data).decode() if inside else data
        case _:
            # Whole numbers, times of day and intervals.
            return _whole(given, t)


def _typed(given: Any, wanted: Any, t: LogicalType) -> Any:
    plain = given.item() if hasattr(given, "item") and not isinstance(given, wanted) else given
    if not isinstance(plain, wanted):
        raise TypeError(f"{given!r} ({type(given).__name__}) is no {t}")
    return plain


def _whole(given: Any, t: LogicalType) -> int:
    number = operator.index(given)
    limit = 1 << (_BITS.get(t.root, 64) - 1)
    if t.root in INTEGERS and not -limit <= number < limit:
        raise ValueError(f"{number} is out of the range of {t}")
    return number


def _naive(given: datetime.datetime) -> datetime.datetime:
    return given.astimezone(datetime.UTC).replace(tzinfo=None) if given.tzinfo is not None else given
