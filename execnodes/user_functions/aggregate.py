"""Aggregate functions of the user: one value a group. Names are PyFlink's (`udaf`, `AggregateFunction`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from execnodes.core.errors import FunctionError
from execnodes.core.types import LogicalType
from execnodes.user_functions.aggregate_function import (
    AggregateFunction as AggregateFunction,  # programs import it from here
)
from execnodes.user_functions.aliases import Aliased
from execnodes.user_functions.column_operand import call_on_columns
from execnodes.user_functions.hints import hints_of, sql_type, type_of_hint
from execnodes.user_functions.pandas_aggregate import PandasAggregate
from execnodes.user_functions.parameters import Parameters, Types, parameters_of
from execnodes.user_functions.scalar import Form, check_form, name_of


@dataclass(frozen=True, slots=True)
class AggregateDefinition:
    """An aggregate function and all that it says of itself."""

    name: str
    """For messages."""
    function: AggregateFunction
    form: Form
    """pandas: `accumulate` and `retract` are given a Series a parameter, with all rows of a group in a micro-batch."""
    parameters: Parameters
    result: LogicalType
    accumulator: Any
    """As in `AggregateFunction.get_accumulator_type`."""
    deterministic: bool = True
    """Whether the same rows always give the same value."""

    @property
    def retractable(self) -> bool:
        """Whether rows can be taken back."""
        return callable(getattr(self.function, "retract", None))

    @property
    def mergeable(self) -> bool:
        """Whether accumulators can be put together."""
        return callable(getattr(self.function, "merge", None))

    def named(self, name: str) -> AggregateDefinition:
        """The same under the name that SQL knows it by."""
        return replace(self, name=name)

    def __str__(self) -> str:
        return f"{self.name}{self.parameters} → {self.result}"


class UserDefinedAggregateFunction(Aliased):
    """What `udaf` gives."""

    def __init__(self, definition: AggregateDefinition) -> None:
        self.definition = definition

    def __call__(self, *args: Any) -> Any:
        """An expression that calls it for each group; FunctionError for values, which are no group."""
        call = call_on_columns(self, args)
        if call is None:
            raise FunctionError(
                f"aggregate function {self.definition.name} is called with values, not with columns",
                hint="Write the call with columns: f(col('v')).",
            )
        return call


GivenAggregate = AggregateFunction | type[AggregateFunction] | Callable[..., Any]


@overload
def udaf(f: GivenAggregate) -> UserDefinedAggregateFunction: ...
@overload
def udaf(
    f: None = None,
    *,
    input_types: Sequence[str | LogicalType] | str | LogicalType | None = None,
    result_type: str | LogicalType | None = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: Form = "general",
) -> Callable[[GivenAggregate], UserDefinedAggregateFunction]: ...
@overload
def udaf(
    f: GivenAggregate,
    input_types: Sequence[str | LogicalType] | str | LogicalType | None = None,
    result_type: str | LogicalType | None = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: Form = "general",
) -> UserDefinedAggregateFunction: ...


def udaf(
    f: GivenAggregate | None = None,
    input_types: Sequence[str | LogicalType] | str | LogicalType | None = None,
    result_type: str | LogicalType | None = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: Form = "general",
) -> UserDefinedAggregateFunction | Callable[[GivenAggregate], UserDefinedAggregateFunction]:
    """Say more of an `AggregateFunction` than its hints do; also a decorator of the class.

    With ``func_type="pandas"`` also of a plain function, which gets all rows of a group, a Series a parameter.
    FunctionError if a type cannot be told.
    """

    def make(given: GivenAggregate) -> UserDefinedAggregateFunction:
        return UserDefinedAggregateFunction(
            define_aggregate(given, input_types, result_type, accumulator_type, deterministic, name, func_type)
        )

    return make if f is None else make(f)


def define_aggregate(
    given: GivenAggregate,
    input_types: Types = None,
    result_type: str | LogicalType | None = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    form: Form = "general",
) -> AggregateDefinition:
    """The definition of a function, see `udaf`; FunctionError names the function."""
    shown = name or name_of(given)
    check_form(shown, form)
    function = _function(given, shown, form)
    try:
        result_type = function.get_result_type() if result_type is None else result_type
        lenient = result_type is not None
        called, skip = (function.function, 0) if isinstance(function, PandasAggregate) else (function.accumulate, 1)
        parameters = parameters_of(called, input_types, skip=skip, hinted=form == "general", lenient=lenient)
        result = _result(function) if result_type is None else sql_type(result_type)
        accumulator = accumulator_type or function.get_accumulator_type()
        if accumulator is None:
            accumulator = hints_of(function.create_accumulator).get("return")
    except FunctionError as error:
        raise FunctionError(f"function {shown}: {error.message}", hint=error.hint) from error
    fixed = function.is_deterministic() if deterministic is None else deterministic
    return AggregateDefinition(shown, function, form, parameters, result, accumulator, fixed)


def _function(given: GivenAggregate, name: str, form: Form) -> AggregateFunction:
    function = given() if isinstance(given, type) else given
    if isinstance(function, AggregateFunction):
        return function
    if form != "pandas" or not callable(function):
        raise FunctionError(
            f"{name} is not an aggregate function",
            hint="Give an AggregateFunction, or udaf(f, …, func_type='pandas') for a function of all rows of a group.",
        )
    return PandasAggregate(function)


def _result(function: AggregateFunction) -> LogicalType:
    hints = hints_of(function.get_value)
    if "return" not in hints:
        raise FunctionError(
            "the type of its result is not known",
            hint="Hint it (def get_value(self, accumulator) -> float), or give udaf(…, result_type='DOUBLE').",
        )
    return type_of_hint(hints["return"])
