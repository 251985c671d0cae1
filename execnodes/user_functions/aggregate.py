"""Aggregate functions of the user: one value a group. Names are PyFlink's (`udaf`, `AggregateFunction`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from execnodes.core.errors import FunctionError
from execnodes.core.types import LogicalType
from execnodes.user_functions.column_operand import call_on_columns
from execnodes.user_functions.hints import hints_of, sql_type, type_of_hint
from execnodes.user_functions.parameters import Parameters, parameters_of
from execnodes.user_functions.scalar import Form, FunctionContext, check_form


class AggregateFunction(ABC):
    """Folds the rows of a group into an accumulator, which is state, and tells a value from it.

    A subclass may also have ``retract(accumulator, *args)``, which takes a row back; without it the function cannot be
    used where rows are updated or deleted. With ``merge(accumulator, accumulators)``, which takes in what others have
    folded, rows are folded before they are shuffled; the order of rows must then not matter.
    """

    def open(self, context: FunctionContext) -> None:  # noqa: B027  # most functions need nothing
        """Load what the other methods need; called once before them."""

    @abstractmethod
    def create_accumulator(self) -> Any:
        """The accumulator of a group without rows. Its hint is what state holds: see `get_accumulator_type`."""

    @abstractmethod
    def accumulate(self, accumulator: Any, *args: Any) -> Any:
        """Take in a row: change the accumulator, or return another one. Called in the order of the rows."""

    @abstractmethod
    def get_value(self, accumulator: Any) -> Any:
        """The result of a group."""

    def get_accumulator_type(self) -> Any:
        """What accumulators are; by default the hint of `create_accumulator`.

        A dataclass, a ROW of SQL as text (accumulators are then dicts), or a `TypeSerializer`; None for anything else,
        which is pickled and can never evolve.
        """
        return None


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


class UserDefinedAggregateFunction:
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


GivenAggregate = AggregateFunction | type[AggregateFunction]


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

    FunctionError if a type cannot be told.
    """

    def make(given: GivenAggregate) -> UserDefinedAggregateFunction:
        types = [input_types] if isinstance(input_types, str | LogicalType) else input_types
        return UserDefinedAggregateFunction(
            define_aggregate(given, types, result_type, accumulator_type, name, func_type)
        )

    return make if f is None else make(f)


def define_aggregate(
    given: GivenAggregate,
    input_types: Sequence[str | LogicalType] | None = None,
    result_type: str | LogicalType | None = None,
    accumulator_type: Any = None,
    name: str | None = None,
    form: Form = "general",
) -> AggregateDefinition:
    """The definition of a function, see `udaf`; FunctionError names the function."""
    function = given() if isinstance(given, type) else given
    shown = name or type(function).__name__
    check_form(shown, form)
    try:
        lenient = result_type is not None
        parameters = parameters_of(function.accumulate, input_types, skip=1, hinted=form == "general", lenient=lenient)
        result = _result(function) if result_type is None else sql_type(result_type)
        accumulator = accumulator_type or function.get_accumulator_type()
        if accumulator is None:
            accumulator = hints_of(function.create_accumulator).get("return")
    except FunctionError as error:
        raise FunctionError(f"function {shown}: {error.message}", hint=error.hint) from error
    return AggregateDefinition(shown, function, form, parameters, result, accumulator)


def _result(function: AggregateFunction) -> LogicalType:
    hints = hints_of(function.get_value)
    if "return" not in hints:
        raise FunctionError(
            "the type of its result is not known",
            hint="Hint it (def get_value(self, accumulator) -> float), or give udaf(…, result_type='DOUBLE').",
        )
    return type_of_hint(hints["return"])
