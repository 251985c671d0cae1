"""What FROM gives: a plan and the names its columns go by."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Expression, InputRef, Literal
from execnodes.core.types import BOOLEAN, INT, Field, LogicalType, row
from execnodes.core.words import counted
from planner.algebra import Logical, Project, Values
from planner.bind.scope import Relation, Scope
from planner.syntax import Alias

TRUE = Literal(value=True, type=BOOLEAN.not_null())


@dataclass(frozen=True)
class Source:
    """A plan with its scope; `name` is the alias of a single table, view or subquery."""

    logical: Logical
    scope: Scope
    name: str | None = None

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.logical.type.fields)

    def on(self, logical: Logical) -> Source:
        """The same names over a plan that begins with the same columns."""
        return Source(logical, self.scope, self.name)


def single_row() -> Source:
    """One row for SELECT without FROM."""
    type_ = row(Field("ZERO", INT.not_null())).not_null()
    return Source(Values(((Literal(value=0, type=INT.not_null()),),), type_), Scope(()))


def row_of(names: list[str], types: list[LogicalType]) -> LogicalType:
    """The row type of a plan."""
    return row(*(Field(n, t) for n, t in zip(names, types, strict=True))).not_null()


def project(input_: Logical, expressions: list[Expression], names: list[str]) -> Project:
    """A projection with its row type."""
    return Project(input_, tuple(expressions), row_of(names, [each.type for each in expressions]))


def refs(type_: LogicalType) -> list[Expression]:
    """All columns of a row type as expressions."""
    return [InputRef(input_index=i, type=field.type) for i, field in enumerate(type_.fields)]


def aliased(logical: Logical, alias: Alias | None, position: Position, names: tuple[str, ...] = ()) -> Source:
    """A source of one relation under the alias that SQL gives it; `names` are those of columns without an alias."""
    columns = alias.columns if alias else ()
    if columns and len(columns) != len(logical.type.fields):
        raise SqlError(
            f"{counted(len(columns), 'column name')} for {counted(len(logical.type.fields), 'column')}",
            position=position,
        )
    return named(logical, alias.name if alias else None, columns or names)


def named(logical: Logical, alias: str | None, columns: tuple[str, ...] = (), path: tuple[str, ...] = ()) -> Source:
    """A source of one relation; `columns` rename its columns."""
    fields = logical.type.fields
    if columns:
        fields = tuple(Field(name, field.type) for name, field in zip(columns, fields, strict=True))
    relation = Relation(alias, fields, tuple(range(len(fields))), path)
    return Source(logical, Scope((relation,)), alias)
