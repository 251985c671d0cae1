"""Python's type hints as SQL types: ``int`` is BIGINT, ``list[str]`` ARRAY<STRING>, a dataclass a ROW."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import inspect
import types
import typing
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from execnodes.core.errors import FunctionError
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTERVAL_DAY_TIME,
    STRING,
    Field,
    LogicalType,
    array,
    map_of,
    multiset,
    parse_type,
    row,
    time,
    timestamp,
)
from execnodes.user_functions.data_views import ListView, MapView

_SIMPLE: Mapping[object, LogicalType] = {
    bool: BOOLEAN,
    int: BIGINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    datetime.date: DATE,
    datetime.time: time(3),
    datetime.datetime: timestamp(6),
    datetime.timedelta: INTERVAL_DAY_TIME,
}


def hints_of(function: Any) -> dict[str, Any]:
    """Names to hints, with what stands behind forward references; FunctionError if that cannot be found.

    Those of a partial function are those of what it is of, those of an object those of its ``__call__``.
    """
    while isinstance(function, functools.partial):
        function = function.func
    if not (inspect.isroutine(function) or isinstance(function, type)):
        function = type(function).__call__
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise FunctionError(
            f"its type hints cannot be read: {error}", hint="Import what they name, or give result_type='…'."
        ) from error


def type_of_hint(hint: Any) -> LogicalType:
    """The SQL type of a hint, nullable; FunctionError says what to write instead of one that has none.

    ``Annotated[X, 'DECIMAL(10, 2)']`` names the type itself.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        named = next((each for each in arguments[1:] if isinstance(each, str | LogicalType)), None)
        return type_of_hint(arguments[0]) if named is None else sql_type(named)
    if origin in (Union, types.UnionType):
        others = [each for each in arguments if each is not type(None)]
        if len(others) == 1:
            return type_of_hint(others[0])
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin in (list, ListView) and arguments:
        return array(type_of_hint(arguments[0]))
    if origin in (dict, MapView) and len(arguments) == 2:
        return map_of(type_of_hint(arguments[0]), type_of_hint(arguments[1]))
    if getattr(origin, "__name__", "") == "Counter" and arguments:
        return multiset(type_of_hint(arguments[0]))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        known = hints_of(hint)
        return row(*(Field(each.name, type_of_hint(known[each.name])) for each in dataclasses.fields(hint)))
    raise FunctionError(f"the hint {shown(hint)} does not tell an SQL type", hint=_advice(hint))


def is_nullable(hint: Any) -> bool:
    """Whether a value of that hint may be None; True where nothing is said."""
    if get_origin(hint) is Annotated:
        return is_nullable(get_args(hint)[0])
    if hint in (Any, None, type(None)) or isinstance(hint, typing.TypeVar):
        return True
    return get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint)


def sql_type(given: str | LogicalType) -> LogicalType:
    """A type as people write it, e.g. ``'DECIMAL(10, 2)'``; FunctionError if it is none."""
    if isinstance(given, LogicalType):
        return given
    try:
        return parse_type(given)
    except ValueError as error:
        raise FunctionError(str(error), hint="Write a type of SQL, e.g. 'DECIMAL(10, 2)' or 'ARRAY<BIGINT>'.") from None


def shown(hint: Any) -> str:
    """A hint as it is written."""
    return hint.__qualname__ if isinstance(hint, type) and not get_args(hint) else str(hint).replace("typing.", "")


def _advice(hint: Any) -> str:
    if hint is Decimal:
        return (
            "A Decimal has no digits of its own: give result_type='DECIMAL(10, 2)', or hint "
            "Annotated[Decimal, 'DECIMAL(10, 2)']."
        )
    if hint in (list, dict, tuple, set):
        return "Say what is in it, e.g. list[int] or dict[str, float], or give result_type='ARRAY<BIGINT>'."
    return "Give result_type='…' with a type of SQL, or hint int, float, str, bool, bytes, a date or time, a dataclass."
