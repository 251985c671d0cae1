"""Functions of the user that a method of `Table` calls with the whole row, as PyFlink does: ``table.map(f)``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import SqlError
from execnodes.core.types import Field, LogicalType, Root, row
from execnodes.core.words import counted
from execnodes.user_functions.aggregate import AggregateDefinition, UserDefinedAggregateFunction
from execnodes.user_functions.loading import definition_of
from execnodes.user_functions.parameters import Parameter, Parameters
from execnodes.user_functions.rows import Row
from execnodes.user_functions.scalar import ScalarDefinition, UserDefinedScalarFunction
from execnodes.user_functions.table import UserDefinedTableFunction
from planner.catalog.catalogs import quoted
from rekindle.api.expressions import Expression
from rekindle.api.operand import function_name

if TYPE_CHECKING:
    from rekindle.api.table import Table

RESULT_NAME = "result_of_function"
RESULT = quoted((RESULT_NAME,))
_ROW = Parameters((Parameter("row", None, hint=Row),), 1)


def call_with_row(function: object, table: Table) -> Expression:
    """An expression as it is; a function of the user called with the rows of a table. SqlError if it takes none."""
    if isinstance(function, Expression):
        return function
    definition = definition_of(function, name := function_name(function))
    if definition.form == "pandas":
        raise SqlError(
            f"function {name} takes columns of pandas, not rows", hint=f"Call it with columns: {name}(col('…'))."
        )
    if definition.parameters.least > 1 or not definition.parameters.each:
        raise SqlError(
            f"function {name} takes {counted(definition.parameters.least, 'value')}, and is given one row",
            hint=f"Call it with columns: {name}(col('…')).",
        )
    known = definition.parameters.each[0]
    taking = definition if known.type is not None else replace(definition, parameters=_ROW)
    call = Expression().call_function(_wrap(taking), (_row(table.get_resolved_schema().fields),))
    names: tuple[str, ...] = getattr(function, "alias_names", ())
    return call.alias(*names) if names else call


def flatten_result(table: Table, names: tuple[str, ...]) -> Table:
    """The columns of a table, the last of which a function gives: a column for each field of a ROW."""
    *others, result = table.get_resolved_schema().fields
    fields = [field.name for field in result.type.fields] if result.type.root is Root.ROW else []
    cells = [f"{RESULT}.{quoted((field,))}" for field in fields] or [RESULT]
    named = zip(cells, _rename(fields or ["_c0"], names), strict=True)
    parts = [quoted((field.name,)) for field in others] + [f"{cell} AS {quoted((name,))}" for cell, name in named]
    return table.derived(f"SELECT {', '.join(parts)} FROM {table.source()}")


def spread_result(table: Table, names: tuple[str, ...]) -> Table:
    """The columns of a table, the last of which is an ARRAY of rows: a row for each of them, with their columns."""
    *others, result = table.get_resolved_schema().fields
    if result.type.root is not Root.ARRAY or result.type.element.root is not Root.ROW:
        raise SqlError(
            f"flat_aggregate needs a function that gives rows, not {result.type}",
            hint="Give what udtaf gives, or write aggregate(…).",
        )
    kept = [quoted((field.name,)) for field in others]
    spread = [quoted((name,)) for name in _rename([field.name for field in result.type.element.fields], names)]
    rows = quoted(("rows_of_function",))
    return table.derived(
        f"SELECT {', '.join([*kept, *(f'{rows}.{name}' for name in spread)])} FROM {table.source()}"
        f" CROSS JOIN UNNEST({RESULT}) AS {rows}({', '.join(spread)})"
    )


def _rename(own: list[str], names: tuple[str, ...]) -> list[str]:
    """Names of columns, the first of which are given."""
    if len(names) > len(own):
        raise SqlError(
            f"{counted(len(names), 'name')} for {counted(len(own), 'column')}", hint="Name each column once."
        )
    return [*names, *own[len(names) :]]


def _wrap(definition: Any) -> object:
    if isinstance(definition, ScalarDefinition):
        return UserDefinedScalarFunction(definition)
    if isinstance(definition, AggregateDefinition):
        return UserDefinedAggregateFunction(definition)
    return UserDefinedTableFunction(definition)


def _row(fields: tuple[Field, ...]) -> Expression:
    type_: LogicalType = row(*(Field(field.name, field.type.regular()) for field in fields))
    columns = ", ".join(quoted((field.name,)) for field in fields)
    return Expression(f"CAST(ROW({columns}) AS {type_})")
