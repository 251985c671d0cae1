"""Scalar functions of the user: one value a row. Names are PyFlink's (`udf`, `ScalarFunction`)."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from typing import Any, Literal, get_args, overload

from execnodes.core.errors import FunctionError
from execnodes.core.types import LogicalType
from execnodes.user_functions.aliases import Aliased
from execnodes.user_functions.column_operand import call_on_columns
from execnodes.user_functions.hints import hints_of, sql_type, type_of_hint
from execnodes.user_functions.parameters import Parameters, Types, parameters_of
from execnodes.user_functions.user_defined_function import (
    FunctionContext as FunctionContext,  # programs import it from here
)
from execnodes.user_functions.user_defined_function import UserDefinedFunction

Form = Literal["general", "pandas"]
"""general: called for each row; pandas: called with a pandas Series a parameter, and gives one of the same length."""


class ScalarFunction(UserDefinedFunction, ABC):
    """A function with a life of its own: `open` once in each Python worker, then `eval` for each row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """The value; its hints are the types of the function."""

    def is_deterministic(self) -> bool:
        """Whether the same operands always give the same value."""
        return True


class AsyncScalarFunction(ScalarFunction):
    """A scalar function that waits, e.g. for a service: ``async def eval(self, …)``."""

    @abstractmethod
    async def eval(self, *args: Any) -> Any:
        """The value; its hints are the types of the function."""


@dataclass(frozen=True, slots=True)
class ScalarDefinition:
    """A scalar function and all that it says of itself."""

    name: str
    """For messages."""
    function: Callable[..., Any] | ScalarFunction
    form: Form
    parameters: Parameters
    result: LogicalType
    deterministic: bool = True

    @property
    def waits(self) -> bool:
        """Whether it is an `async def`: several rows wait for it at a time."""
        return waits(self.function.eval if isinstance(self.function, ScalarFunction) else self.function)

    def named(self, name: str) -> ScalarDefinition:
        """The same under the name that SQL knows it by."""
        return replace(self, name=name)

    def __str__(self) -> str:
        return f"{self.name}{self.parameters} → {self.result}"


def waits(called: Callable[..., Any]) -> bool:
    """Whether what is called must be awaited."""
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(getattr(called, "__call__", None))  # noqa: B004


class UserDefinedScalarFunction(Aliased):
    """What `udf` gives: it can be registered, and still be called from Python."""

    def __init__(self, definition: ScalarDefinition) -> None:
        self.definition = definition
        if not isinstance(definition.function, ScalarFunction):
            update_wrapper(self, definition.function)

    def __call__(self, *args: Any) -> Any:
        """On values the function itself; on columns an expression that calls it for each row."""
        call = call_on_columns(self, args)
        if call is not None:
            return call
        function = self.definition.function
        return function.eval(*args) if isinstance(function, ScalarFunction) else function(*args)


Given = Callable[..., Any] | ScalarFunction | type[ScalarFunction]


@overload
def udf(f: Given) -> UserDefinedScalarFunction: ...
@overload
def udf(
    f: None = None,
    *,
    input_types: Sequence[str | LogicalType] | str | LogicalType | None = None,
    result_type: str | LogicalType | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: Form = "general",
) -> Callable[[Given], UserDefinedScalarFunction]: ...
@overload
def udf(
    f: Given,
    input_types: Sequence[str | LogicalType] | str | LogicalType | None = None,
    result_type: str | LogicalType | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: Form = "general",
) -> UserDefinedScalarFunction: ...


def udf(
    f: Given | None = None,
    input_types: Sequence[str | LogicalType] | str | LogicalType | None = None,
    result_type: str | LogicalType | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: Form = "general",
) -> UserDefinedScalarFunction | Callable[[Given], UserDefinedScalarFunction]:
    """Make a scalar function of a Python function or a `ScalarFunction`; also a decorator, with or without arguments.

    Types come from hints; `input_types` and `result_type` win over them. FunctionError if a type cannot be told.
    """

    def make(given: Given) -> UserDefinedScalarFunction:
        return UserDefinedScalarFunction(define(given, input_types, result_type, deterministic, name, func_type))

    return make if f is None else make(f)


def define(
    given: Given,
    input_types: Types = None,
    result_type: str | LogicalType | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    form: Form = "general",
) -> ScalarDefinition:
    """The definition of a function, see `udf`; FunctionError names the function."""
    function = given() if isinstance(given, type) and issubclass(given, ScalarFunction) else given
    called = function.eval if isinstance(function, ScalarFunction) else function
    shown = name or name_of(function)
    check_form(shown, form)
    if not callable(called):
        raise FunctionError(f"{shown} is no function", hint="Give a Python function or a ScalarFunction.")
    if form != "general" and waits(called):
        raise FunctionError(
            f"function {shown} is an async def, which gets one row at a time", hint="Leave func_type out."
        )
    try:
        # The hints of the pandas form speak of Series, which tells no types.
        parameters = parameters_of(called, input_types, hinted=form == "general", lenient=result_type is not None)
        result = _result(called, result_type, form)
    except FunctionError as error:
        raise FunctionError(f"function {shown}: {error.message}", hint=error.hint) from error
    fixed = function.is_deterministic() if isinstance(function, ScalarFunction) else True
    return ScalarDefinition(
        shown, function, form, parameters, result, fixed if deterministic is None else deterministic
    )


def name_of(function: object) -> str:
    """The name of a function, of what a partial one is of, or of an object's class."""
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def check_form(name: str, form: str) -> None:
    """FunctionError for a form that there is not."""
    if form not in get_args(Form):
        raise FunctionError(
            f"func_type of {name} is {form!r}", hint=f"There are {' and '.join(map(repr, get_args(Form)))}."
        )


def _result(called: Callable[..., Any], given: str | LogicalType | None, form: Form) -> LogicalType:
    if given is not None:
        return sql_type(given)
    hints = hints_of(called) if form == "general" else {}
    if "return" not in hints:
        raise FunctionError(
            "the type of its result is not known",
            hint="Hint it (def f(a: int) -> str), or give result_type='STRING'.",
        )
    return type_of_hint(hints["return"])
