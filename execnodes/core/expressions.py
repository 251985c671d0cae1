"""Typed expression trees, the only form of an expression inside a plan; JSON as Flink's RexNodes (`kind`, `type`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any
from typing import Literal as Tag

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Property
from pydantic.alias_generators import to_camel

from execnodes.core.types import LogicalType

Value = bool | int | str | None
"""JSON value of a literal: integers, booleans and texts; DECIMAL, DOUBLE and FLOAT as text; DATE as ``2020-01-31``,
TIME and TIMESTAMP as text with their fraction, TIMESTAMP_LTZ as text in UTC, day-time intervals as milliseconds,
year-month intervals as months, BYTES as hexadecimal text."""


class _Node(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)


class InputRef(_Node):
    """A column of the input, by index from 0; a two-input node counts the left columns first."""

    kind: Tag["INPUT_REF"] = "INPUT_REF"
    input_index: int
    type: LogicalType


class Literal(_Node):
    """A constant."""

    kind: Tag["LITERAL"] = "LITERAL"
    value: Value
    type: LogicalType


class Call(_Node):
    """A call of a function of the system, by name and version."""

    kind: Tag["CALL"] = "CALL"
    internal_name: str
    """``$NAME$VERSION``, e.g. ``$UPPER$1``; the name is Flink's."""
    operands: tuple[Expression, ...] = ()
    type: LogicalType


class FieldAccess(_Node):
    """A field of a ROW value, by name."""

    kind: Tag["FIELD_ACCESS"] = "FIELD_ACCESS"
    name: str
    expr: Expression
    type: LogicalType


Expression = Annotated[InputRef | Literal | Call | FieldAccess, Property(discriminator="kind")]
Call.model_rebuild()
FieldAccess.model_rebuild()


class AggregateCall(_Node):
    """One aggregate function over columns of the input."""

    name: str
    """Name of the result column."""
    internal_name: str
    """``$SUM$1``."""
    arg_list: tuple[int, ...] = ()
    """Input columns the function reads; empty for COUNT(*)."""
    filter_arg: int = -1
    """A BOOLEAN input column that must be TRUE for a row to count; -1 for none."""
    distinct: bool = False
    type: LogicalType
    options: dict[str, Value] = Property(default_factory=dict)
    """Constants the function needs beside its columns, e.g. the separator of LISTAGG."""


def children(expression: Expression) -> tuple[Expression, ...]:
    """Direct operands."""
    if isinstance(expression, Call):
        return expression.operands
    return (expression.expr,) if isinstance(expression, FieldAccess) else ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything below it, parents first."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def transform(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """Replace every sub-expression for which `change` gives one (its own operands are not visited again)."""
    changed = change(expression)
    if changed is not None:
        return changed
    if isinstance(expression, Call):
        operands = tuple(transform(each, change) for each in expression.operands)
        return expression if operands == expression.operands else expression.model_copy(update={"operands": operands})
    if isinstance(expression, FieldAccess):
        inner = transform(expression.expr, change)
        return expression if inner is expression.expr else expression.model_copy(update={"expr": inner})
    return expression


def input_indexes(expression: Expression) -> set[int]:
    """Indexes of the input columns that occur."""
    return {each.input_index for each in walk(expression) if isinstance(each, InputRef)}


def remap(expression: Expression, mapping: Callable[[int], int]) -> Expression:
    """The same expression over other input indexes."""

    def change(each: Expression) -> Expression | None:
        if isinstance(each, InputRef):
            return each.model_copy(update={"input_index": mapping(each.input_index)})
        return None

    return transform(expression, change)


def substitute(expression: Expression, inputs: tuple[Expression, ...]) -> Expression:
    """Replace each input column by an expression: the composition of two projections."""

    def change(each: Expression) -> Expression | None:
        return inputs[each.input_index] if isinstance(each, InputRef) else None

    return transform(expression, change)


def digest(expression: Expression, names: tuple[str, ...]) -> str:
    """A short text for descriptions and explain, with column names instead of indexes."""
    if isinstance(expression, InputRef):
        return names[expression.input_index]
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, FieldAccess):
        return f"{digest(expression.expr, names)}.{expression.name}"
    name = expression.internal_name.strip("$").rsplit("$", 1)[0]
    parts = [digest(each, names) for each in expression.operands]
    if len(parts) == 2 and not name[0].isalpha():
        return f"({parts[0]} {name} {parts[1]})"
    if name in ("AND", "OR"):
        return f"({f' {name} '.join(parts)})"
    if name in ("CAST", "TRY_CAST"):
        return f"{name}({parts[0]} AS {expression.type})"
    return f"{name}({', '.join(parts)})"


def _literal(literal: Literal) -> str:
    value: Any = literal.value
    if value is None:
        return "null"
    return f"'{value}'" if isinstance(value, str) and literal.type.root in ("CHAR", "VARCHAR") else str(value)
