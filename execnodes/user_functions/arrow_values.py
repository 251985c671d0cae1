"""Values of SQL in Python: as Arrow holds them, and as functions of the user see them.

| SQL | in Python |
|---|---|
| BOOLEAN, integers, FLOAT, DOUBLE, texts, binaries | bool, int, float, str, bytes |
| DECIMAL | decimal.Decimal |
| DATE, TIME, TIMESTAMP | datetime.date, time, datetime (without zone) |
| TIMESTAMP_LTZ | datetime in UTC |
| INTERVAL DAY TO SECOND / YEAR TO MONTH | datetime.timedelta / months as int |
| ARRAY, MAP, MULTISET | list, dict, dict of counts |
| ROW | the dataclass of the hint, `Row` if that is the hint, else a dict (`FieldDict`) |
| ARRAY, ROW as keys of a dict | tuple, or the frozen dataclass of the hint |
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import types
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin

from execnodes.core.types import NESTED, Field, LogicalType, Root
from execnodes.core.words import counted
from execnodes.user_functions.hints import hints_of
from execnodes.user_functions.rows import FieldDict, Row, name_values

Convert = Callable[[Any], Any]
_CONTEXT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)


def reader(t: LogicalType, hint: Any = Any) -> Convert | None:
    """From Arrow's Python values to those of functions; None: they are the same.

    With the hint `Row` all rows in a value are of that class.
    """
    plain = _READERS.get(t.root)
    if plain is not None:
        return _unless_none(plain)
    arguments = (Row, Row) if _bare(hint) is Row else get_args(_bare(hint))
    if t.root is Root.ARRAY:
        inner = reader(t.element, arguments[0] if arguments else Any)
        return None if inner is None else _unless_none(lambda given: [inner(each) for each in given])
    if t.root is Root.MAP:
        key = _key_reader(t.key, arguments[0] if len(arguments) == 2 else Any)
        value = reader(t.element, arguments[1] if len(arguments) == 2 else Any) or _same
        return _unless_none(lambda given: {key(k): value(v) for k, v in _pairs(given)})
    if t.root is Root.MULTISET:
        element = _key_reader(t.element, arguments[0] if arguments else Any)
        return _unless_none(lambda given: {element(k): v for k, v in _pairs(given)})
    return _row_reader(t, _bare(hint)) if t.root is Root.ROW else None


def _key_reader(t: LogicalType, hint: Any) -> Convert:
    """As `reader`, of what stands as a key in a dict."""
    read = reader(t, hint) or _same
    return (lambda given: _hashable(read(given))) if t.root in NESTED else read


def _hashable(value: Any) -> Any:
    if isinstance(value, Row):
        return tuple(map(_hashable, value))
    if isinstance(value, Mapping):
        return tuple(map(_hashable, value.values()))
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if dataclasses.is_dataclass(value) and type(value).__hash__ is None:
        return tuple(_hashable(getattr(value, field.name)) for field in dataclasses.fields(value))
    return value


def writer(t: LogicalType) -> Convert | None:
    """From what a function gives to what Arrow takes; None: it is the same. ValueError or TypeError if it cannot be."""
    plain = _WRITERS.get(t.root)
    if plain is not None:
        return _unless_none(plain)
    if t.root is Root.DECIMAL:
        return _unless_none(lambda given: _decimal(given, t))
    if t.root is Root.ARRAY:
        inner = writer(t.element) or _same
        return _unless_none(lambda given: [inner(each) for each in given])
    if t.root in (Root.MAP, Root.MULTISET):
        key = writer(t.key) or _same
        value = _same if t.root is Root.MULTISET else writer(t.element) or _same
        return _unless_none(lambda given: [(key(k), value(v)) for k, v in given.items()])
    return _unless_none(_row_writer(t)) if t.root is Root.ROW else None


def table_writer(t: LogicalType) -> Convert:
    """From what a table function gives for a row to the rows as Arrow takes them; `t` is an ARRAY of ROWs.

    None is no row; a list, or what can be gone through, is its rows; anything else is the one row.
    """
    fields = t.element.fields
    write = _row_writer(t.element)

    def write_one(given: Any) -> dict[str, Any]:
        cells: dict[str, Any] = write(_cells(given, fields))
        for field in fields:
            if cells[field.name] is None and not field.type.nullable:
                raise ValueError(f"the column {field.name} takes no NULL")
        return cells

    return lambda given: [write_one(each) for each in _rows(given)]


def _rows(given: Any) -> Iterable[Any]:
    if given is None:
        return ()
    whole = isinstance(given, str | bytes | bytearray | tuple | Mapping | Row) or dataclasses.is_dataclass(given)
    return (given,) if whole or not isinstance(given, Iterable) else given


def _cells(given: Any, fields: tuple[Field, ...]) -> Any:
    """A row as a tuple, a mapping or an object with fields; TypeError for a value where there are several columns."""
    if len(fields) == 1:
        # A value stands for the row unless it says that it is one.
        (field,) = fields
        own = field.type.root in (Root.ROW, Root.MAP, Root.MULTISET)
        is_row = (isinstance(given, tuple | Row) and len(given) == 1) or (
            not own and (isinstance(given, Mapping) or dataclasses.is_dataclass(given))
        )
        return given if is_row else (given,)
    if isinstance(given, tuple | Mapping | Row) or all(hasattr(given, field.name) for field in fields):
        return given
    raise TypeError(f"{given!r} is no row of {len(fields)} columns")


def _row_reader(t: LogicalType, hint: Any) -> Convert:
    if hint is Row:
        cells = [(field.name, reader(field.type, Row) or _same) for field in t.fields]
        names = tuple(name for name, _ in cells)
        return _unless_none(lambda given: name_values(names, [read(given[name]) for name, read in cells]))
    made = hint if dataclasses.is_dataclass(hint) and isinstance(hint, type) else FieldDict
    hints = hints_of(hint) if made is not FieldDict else {}
    parts = [(field.name, reader(field.type, hints.get(field.name, Any)) or _same) for field in t.fields]
    return _unless_none(lambda given: made(**{name: read(given[name]) for name, read in parts}))


def _row_writer(t: LogicalType) -> Convert:
    parts = [(field.name, writer(field.type) or _same) for field in t.fields]

    def write(given: Any) -> dict[str, Any]:
        if isinstance(given, Row):
            # Names that are the fields' win over places, as those of `Row(b=…, a=…)`, which are sorted.
            named = set(given.get_field_names() or ()) == {name for name, _ in parts}
            given = given.as_dict() if named else tuple(given)
        if isinstance(given, Mapping):
            unknown = set(given) - {name for name, _ in parts}
            if unknown:
                raise ValueError(f"a ROW has no field {', '.join(sorted(map(str, unknown)))}")
            return {name: write_one(given.get(name)) for name, write_one in parts}
        if isinstance(given, tuple):
            if len(given) != len(parts):
                raise ValueError(f"{counted(len(given), 'value')} for the {counted(len(parts), 'field')} of a ROW")
            return {name: write_one(each) for (name, write_one), each in zip(parts, given, strict=True)}
        return {name: write_one(getattr(given, name)) for name, write_one in parts}

    return write


def _decimal(given: Any, t: LogicalType) -> Decimal:
    """Rounded half up to the scale; ValueError if its digits do not fit."""
    if not isinstance(given, int | Decimal):
        raise TypeError(f"{given!r} is no Decimal")
    rounded = Decimal(given).quantize(Decimal(1).scaleb(-t.scale), context=_CONTEXT)
    if abs(rounded) >= Decimal(10) ** (t.precision - t.scale):
        raise ValueError(f"{given} has too many digits for {t}")
    return rounded


def _time(millis: int | datetime.time) -> datetime.time:
    if isinstance(millis, datetime.time):
        return millis
    return (datetime.datetime.min + datetime.timedelta(milliseconds=millis)).time()


def _millis_of_day(given: datetime.time) -> int:
    return ((given.hour * 60 + given.minute) * 60 + given.second) * 1000 + given.microsecond // 1000


def _millis(given: datetime.timedelta) -> int:
    return given // datetime.timedelta(milliseconds=1)


_READERS: Mapping[Root, Convert] = {
    Root.TIME: _time,
    Root.INTERVAL_DAY_TIME: lambda millis: datetime.timedelta(milliseconds=millis),
}
_WRITERS: Mapping[Root, Convert] = {Root.TIME: _millis_of_day, Root.INTERVAL_DAY_TIME: _millis}


def _pairs(given: Any) -> Any:
    return given.items() if isinstance(given, Mapping) else given


def _same(given: Any) -> Any:
    return given


def _unless_none(convert: Convert) -> Convert:
    return lambda given: None if given is None else convert(given)


def _bare(hint: Any) -> Any:
    """A hint without Annotated and Optional."""
    if get_origin(hint) is Annotated:
        return _bare(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        others = [each for each in get_args(hint) if each is not type(None)]
        return _bare(others[0]) if len(others) == 1 else Any
    return hint
