"""Table aggregate functions of the user: any number of rows a group. Names are PyFlink's (`udtaf`).

To the engine each is an aggregate function that gives an ARRAY of its rows, which are then spread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, overload

from typing_extensions import override

from execnodes.core.errors import FunctionError
from execnodes.core.types import Field, LogicalType, Root, array, row
from execnodes.user_functions.aggregate import AggregateDefinition, UserDefinedAggregateFunction
from execnodes.user_functions.aggregate_function import AggregateFunction
from execnodes.user_functions.hints import hints_of, sql_type
from execnodes.user_functions.parameters import Types, parameters_of
from execnodes.user_functions.scalar import name_of
from execnodes.user_functions.user_defined_function import UserDefinedFunction


class TableAggregateFunction(UserDefinedFunction, ABC):
    """Folds the rows of a group into an accumulator, which is state, and gives rows of it.

    As in an `AggregateFunction`, a subclass may also have ``retract`` and ``merge``.
    """

    @abstractmethod
    def create_accumulator(self) -> Any:
        """The accumulator of a group without rows."""

    @abstractmethod
    def accumulate(self, accumulator: Any, *args: Any) -> Any:
        """Take in a row: change the accumulator, or return another one."""

    @abstractmethod
    def emit_value(self, accumulator: Any) -> Iterable[Any]:
        """All rows of a group as it is now; they take the place of those that it gave before."""

    def get_accumulator_type(self) -> Any:
        """As in `AggregateFunction`."""
        return None

    def get_result_type(self) -> Any:
        """The type of a row, or of the value of its one column."""
        return None


class EmittedRows(AggregateFunction):
    """The rows of a `TableAggregateFunction` as an ARRAY."""

    def __init__(self, function: TableAggregateFunction, gives_values: bool) -> None:
        self.function = function
        self.gives_values = gives_values

    @override
    def open(self, context: Any) -> None:
        self.function.open(context)

    @override
    def create_accumulator(self) -> Any:
        return self.function.create_accumulator()

    @override
    def accumulate(self, accumulator: Any, *args: Any) -> Any:
        return self.function.accumulate(accumulator, *args)

    @override
    def get_value(self, accumulator: Any) -> list[Any]:
        emitted = self.function.emit_value(accumulator)
        return [(each,) for each in emitted] if self.gives_values else list(emitted)

    def __getattr__(self, name: str) -> Any:
        if name not in ("retract", "merge"):
            raise AttributeError(name)
        return getattr(self.function, name)


class ClosedRows(EmittedRows):
    """Of a function that has a `close`."""

    @override
    def close(self) -> None:
        self.function.close()


GivenTableAggregate = TableAggregateFunction | type[TableAggregateFunction]


@overload
def udtaf(f: GivenTableAggregate) -> UserDefinedAggregateFunction: ...
@overload
def udtaf(
    f: None = None,
    *,
    input_types: Types = None,
    result_type: str | LogicalType | None = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Callable[[GivenTableAggregate], UserDefinedAggregateFunction]: ...
@overload
def udtaf(
    f: GivenTableAggregate,
    input_types: Types = None,
    result_type: str | LogicalType | None = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserDefinedAggregateFunction: ...


def udtaf(
    f: GivenTableAggregate | None = None,
    input_types: Types = None,
    result_type: str | LogicalType | None = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserDefinedAggregateFunction | Callable[[GivenTableAggregate], UserDefinedAggregateFunction]:
    """A `TableAggregateFunction` for `flat_aggregate`; also a decorator of the class.

    FunctionError if the type of its rows cannot be told.
    """

    def make(given: GivenTableAggregate) -> UserDefinedAggregateFunction:
        return UserDefinedAggregateFunction(
            define_table_aggregate(given, input_types, result_type, accumulator_type, name)
        )

    if func_type != "general":
        raise FunctionError(f"func_type={func_type!r} is not for udtaf", hint="Leave func_type out.")
    return make if f is None else make(f)


def define_table_aggregate(
    given: GivenTableAggregate,
    input_types: Types = None,
    result_type: str | LogicalType | None = None,
    accumulator_type: Any = None,
    name: str | None = None,
) -> AggregateDefinition:
    """The definition of a function, see `udtaf`; FunctionError names the function."""
    shown = name or name_of(given)
    function = given() if isinstance(given, type) else given
    if not isinstance(function, TableAggregateFunction):
        raise FunctionError(f"{shown} is not a table aggregate function", hint="Give a TableAggregateFunction.")
    try:
        columns = result_type or function.get_result_type()
        if columns is None:
            raise FunctionError("the type of its rows is not known", hint="Give udtaf(…, result_type='ROW<a BIGINT>').")
        parameters = parameters_of(function.accumulate, input_types, skip=1, lenient=True)
        hints = hints_of(function.create_accumulator)
    except FunctionError as error:
        raise FunctionError(f"function {shown}: {error.message}", hint=error.hint) from error
    accumulator = accumulator_type or function.get_accumulator_type() or hints.get("return")
    closes = type(function).close is not UserDefinedFunction.close
    given_type = sql_type(columns)
    gives_values = given_type.root is not Root.ROW
    rows = (ClosedRows if closes else EmittedRows)(function, gives_values)
    result = array(row(Field("f0", given_type)) if gives_values else given_type)
    return AggregateDefinition(shown, rows, "general", parameters, result, accumulator)
