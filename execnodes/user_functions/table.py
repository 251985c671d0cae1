"""Table functions of the user: any number of rows for each row. Names are PyFlink's (`udtf`, `TableFunction`)."""

from __future__ import annotations

import dataclasses
import inspect
import types
from abc import ABC, abstractmethod
from collections import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import update_wrapper
from typing import Any, Union, get_args, get_origin, overload

from execnodes.core.errors import FunctionError
from execnodes.core.types import Field, LogicalType, Root, array, row
from execnodes.user_functions.aliases import Aliased
from execnodes.user_functions.column_operand import call_on_columns
from execnodes.user_functions.hints import hints_of, sql_type, type_of_hint
from execnodes.user_functions.parameters import Parameters, Types, parameters_of
from execnodes.user_functions.scalar import Form, check_form, name_of, waits
from execnodes.user_functions.user_defined_function import UserDefinedFunction

_MANY = (list, abc.Iterable, abc.Iterator, abc.Generator, abc.Sequence, abc.Collection, set, frozenset)
"""Hints that stand for rows; the first argument of one is that of a row."""


class TableFunction(UserDefinedFunction, ABC):
    """A table function with a life of its own: `open` once in each Python worker, then `eval` for each row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Yield rows, or return a list of them: a tuple, a dict or a dataclass a row, or the value of its one column.

        None is no row. Hints are the types of the function: ``Iterator[tuple[str, int]]``.
        """

    def is_deterministic(self) -> bool:
        """Whether the same operands always give the same rows."""
        return True


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table function and all that it says of itself."""

    name: str
    """For messages."""
    function: Callable[..., Any] | TableFunction
    form: Form
    """pandas: called with a Series a parameter, and gives one of the same length, of lists of rows."""
    parameters: Parameters
    columns: LogicalType
    """A ROW."""
    deterministic: bool = True

    @property
    def result(self) -> LogicalType:
        """What a call gives: the rows; NULL, which is none, for a NULL that the function does not take."""
        return array(self.columns.not_null())

    def named(self, name: str) -> TableDefinition:
        """The same under the name that SQL knows it by."""
        return replace(self, name=name)

    def __str__(self) -> str:
        return f"{self.name}{self.parameters} → TABLE{str(self.columns).removeprefix('ROW')}"


class UserDefinedTableFunction(Aliased):
    """What `udtf` gives: it can be registered, and still be called from Python."""

    def __init__(self, definition: TableDefinition) -> None:
        self.definition = definition
        if not isinstance(definition.function, TableFunction):
            update_wrapper(self, definition.function)

    def __call__(self, *args: Any) -> Any:
        """On values the function itself; on columns an expression that calls it for each row."""
        call = call_on_columns(self, args)
        if call is not None:
            return call
        function = self.definition.function
        return function.eval(*args) if isinstance(function, TableFunction) else function(*args)


GivenTable = Callable[..., Any] | TableFunction | type[TableFunction]


@overload
def udtf(f: GivenTable) -> UserDefinedTableFunction: ...
@overload
def udtf(
    f: None = None,
    *,
    input_types: Types = None,
    result_types: Types = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: Form = "general",
) -> Callable[[GivenTable], UserDefinedTableFunction]: ...
@overload
def udtf(
    f: GivenTable,
    input_types: Types = None,
    result_types: Types = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: Form = "general",
) -> UserDefinedTableFunction: ...


def udtf(
    f: GivenTable | None = None,
    input_types: Types = None,
    result_types: Types = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: Form = "general",
) -> UserDefinedTableFunction | Callable[[GivenTable], UserDefinedTableFunction]:
    """Make a table function of a Python function or a `TableFunction`; also a decorator, with or without arguments.

    Types come from hints; `input_types` and `result_types` win over them. `result_types`: a type a column, or a ROW
    whose fields are the columns. FunctionError if a type cannot be told.
    """

    def make(given: GivenTable) -> UserDefinedTableFunction:
        return UserDefinedTableFunction(define_table(given, input_types, result_types, deterministic, name, func_type))

    return make if f is None else make(f)


def define_table(
    given: GivenTable,
    input_types: Types = None,
    result_types: Types = None,
    deterministic: bool | None = None,
    name: str | None = None,
    form: Form = "general",
) -> TableDefinition:
    """The definition of a function, see `udtf`; FunctionError names the function."""
    function = given() if isinstance(given, type) and issubclass(given, TableFunction) else given
    called = function.eval if isinstance(function, TableFunction) else function
    shown = name or name_of(function)
    check_form(shown, form)
    if not callable(called):
        raise FunctionError(f"{shown} is no function", hint="Give a Python function or a TableFunction.")
    if waits(called) or inspect.isasyncgenfunction(called):
        raise FunctionError(
            f"function {shown} is an async def, as only scalar functions may be",
            hint="Give an array of rows by a scalar function (udf), and UNNEST it.",
        )
    try:
        parameters = parameters_of(called, input_types, hinted=form == "general", lenient=result_types is not None)
        columns = _hinted(called, form) if result_types is None else _given(result_types)
        _check_names(columns)
    except FunctionError as error:
        raise FunctionError(f"function {shown}: {error.message}", hint=error.hint) from error
    fixed = function.is_deterministic() if isinstance(function, TableFunction) else True
    return TableDefinition(
        shown, function, form, parameters, columns, fixed if deterministic is None else deterministic
    )


def _given(given: Sequence[str | LogicalType] | str | LogicalType) -> LogicalType:
    if isinstance(given, str | LogicalType):
        type_ = sql_type(given)
        return type_.not_null() if type_.root is Root.ROW else _columns(type_)
    return _columns(*map(sql_type, given))


def _hinted(called: Callable[..., Any], form: Form) -> LogicalType:
    hint = hints_of(called).get("return") if form == "general" else None
    if hint is None:
        raise FunctionError(
            "the types of its columns are not known",
            hint="Hint them (def f(a: str) -> Iterator[tuple[str, int]]), or give result_types=['STRING', 'BIGINT'].",
        )
    hint = _present(hint)
    arguments = get_args(hint)
    if get_origin(hint) in _MANY and arguments:
        hint = _present(arguments[0])
    if get_origin(hint) is tuple:
        cells = get_args(hint)
        if Ellipsis in cells:
            raise FunctionError(
                "a tuple of any length tells no columns", hint="Hint tuple[str, int], or give result_types."
            )
        return _columns(*map(type_of_hint, cells))
    found = type_of_hint(hint)
    return found.not_null() if dataclasses.is_dataclass(hint) else _columns(found)


def _present(hint: Any) -> Any:
    """A hint without `| None`: no row."""
    others = [each for each in get_args(hint) if each is not type(None)]
    return others[0] if get_origin(hint) in (Union, types.UnionType) and len(others) == 1 else hint


def _columns(*types_: LogicalType) -> LogicalType:
    """With the names that PyFlink gives."""
    return row(*(Field(f"f{at}", each) for at, each in enumerate(types_))).not_null()


def _check_names(columns: LogicalType) -> None:
    names = [each.name for each in columns.fields]
    if not names:
        raise FunctionError("it has no columns", hint="Give a type for each in result_types.")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise FunctionError(f"two of its columns are named {twice[0]!r}", hint="Give each a name of its own.")
