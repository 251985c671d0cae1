"""Which columns a name can mean, and Flink's rules for finding the one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Expression, FieldAccess, InputRef, transform
from execnodes.core.types import Field, LogicalType, Root
from planner.syntax import Name

_READ_IN_WHERE = "Set operations, LIMIT, OVER and queries two levels further in may not read it. Write a join."
RENAME = "Give one of them another name, by AS."


def find_repeated(names: Sequence[str]) -> str | None:
    """The first name that has occurred before."""
    return next((name for at, name in enumerate(names) if name in names[:at]), None)


@dataclass(frozen=True)
class Relation:
    """A table or subquery in FROM: its alias, its full name, and its columns with their indexes in the input."""

    alias: str | None
    fields: tuple[Field, ...]
    indexes: tuple[int, ...]
    path: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    """Columns that a USING join shows through the merged column; found only behind the alias."""

    @staticmethod
    def over(alias: str | None, row: LogicalType, start: int = 0, path: tuple[str, ...] = ()) -> Relation:
        """All columns of a row type, one after the other."""
        return Relation(alias, row.fields, tuple(range(start, start + len(row.fields))), path)

    def shifted(self, by: int) -> Relation:
        """The same relation further right in the input."""
        return Relation(self.alias, self.fields, tuple(i + by for i in self.indexes), self.path, self.hidden)

    def column(self, name: str) -> InputRef | None:
        """A column by name."""
        for field, index in zip(self.fields, self.indexes, strict=True):
            if field.name == name:
                return InputRef(input_index=index, type=field.type)
        return None

    def require_unique(self, name: str, position: Position) -> None:
        """SqlError if two columns have the name: a SELECT list, or a window function that adds one, gives it twice."""
        if sum(field.name == name for field in self.fields) > 1:
            raise SqlError(
                f"Column '{name}' is ambiguous",
                position=position,
                hint=f"Give one of them another name in a subquery: (SELECT …, {name} AS {name}_ FROM …).",
            )

    def matches(self, prefix: tuple[str, ...]) -> bool:
        """True if the prefix of a column names this relation."""
        if len(prefix) == 1:
            return self.alias == prefix[0]
        return self.alias == prefix[-1] and self.path[-len(prefix) :] == prefix


class UnknownColumn(SqlError):
    """A column that no relation in reach has."""

    def __init__(self, message: str, name: Name, hint: str | None) -> None:
        super().__init__(message, position=name.position, hint=hint)
        self.name = name


@dataclass(frozen=True)
class Scope:
    """The relations of one FROM; `merged` are the columns of USING and NATURAL joins."""

    relations: tuple[Relation, ...]
    merged: tuple[tuple[str, Expression], ...] = ()
    parent: Scope | None = None
    """Scope of the query around a subquery. Its columns get negative indexes: -1 is column 0."""

    @cached_property
    def _columns(self) -> dict[str, list[Expression]]:
        found: dict[str, list[Expression]] = {name: [expression] for name, expression in self.merged}
        for relation in self.relations:
            for field, index in zip(relation.fields, relation.indexes, strict=True):
                if field.name not in relation.hidden:
                    found.setdefault(field.name, []).append(InputRef(input_index=index, type=field.type))
        return found

    def resolve(self, name: Name) -> Expression:
        """The column or field a name means; SqlError if there is none or more than one."""
        found = self._resolve(name)
        if found is None and self.parent is not None:
            outer = self.parent._resolve(name)
            if outer is not None:
                return as_outer(outer)
            if self.parent.parent is not None and self.parent.parent._resolve(name) is not None:
                raise SqlError(
                    f"column '{'.'.join(name.parts)}' of a query two levels up is not supported",
                    position=name.position,
                    hint="Join that table inside the subquery.",
                )
        if found is None:
            raise self._unknown(name)
        return found

    def finds(self, name: Name) -> bool:
        """True if the name means a column of these relations themselves."""
        return self._resolve(name) is not None

    @contextmanager
    def around(self, hint: str = _READ_IN_WHERE) -> Iterator[None]:
        """Subqueries are bound inside of it: a column of theirs that only this scope has is refused as what it is."""
        try:
            yield
        except UnknownColumn as error:
            if not self.finds(error.name):
                raise
            raise SqlError(
                f"column '{'.'.join(error.name.parts)}' of the query around the subquery is not supported here",
                position=error.name.position,
                hint=hint,
            ) from None

    def relation(self, prefix: tuple[str, ...]) -> Relation | None:
        """The relation of that alias or name."""
        return next((relation for relation in self.relations if relation.matches(prefix)), None)

    def _resolve(self, name: Name) -> Expression | None:
        parts = name.parts
        for length in range(len(parts) - 1, 0, -1):
            relation = self.relation(parts[:length])
            column = relation.column(parts[length]) if relation else None
            if relation is not None and column is not None:
                relation.require_unique(parts[length], name.position)
                return fields_of(column, parts[length + 1 :], name)
        candidates = self._columns.get(parts[0], ())
        if len(candidates) > 1:
            for relation in self.relations:
                relation.require_unique(parts[0], name.position)
            raise SqlError(
                f"Column '{parts[0]}' is ambiguous", position=name.position, hint="Write the table's alias in front."
            )
        return fields_of(candidates[0], parts[1:], name) if candidates else None

    def _unknown(self, name: Name) -> SqlError:
        shown, hint = ".".join(name.parts), None
        relation = self.relation(name.parts[:-1]) if len(name.parts) > 1 else None
        if relation is not None:
            message = f"Column '{name.parts[-1]}' not found in table '{'.'.join(name.parts[:-1])}'"
            near = get_close_matches(name.parts[-1], [field.name for field in relation.fields])
        elif len(name.parts) > 1:
            message = f"Table '{'.'.join(name.parts[:-1])}' not found"
            near = get_close_matches(name.parts[0], [r.alias for r in self.relations if r.alias] + list(self._columns))
        else:
            message = f"Column '{shown}' not found in any table"
            near = get_close_matches(shown, self._columns)
        if near:
            hint = f"Did you mean {' or '.join(near)}?"
        return UnknownColumn(message, name, hint)


def fields_of(expression: Expression, names: tuple[str, ...], at: Name) -> Expression:
    """Fields of a ROW, one inside the other; a field of a nullable ROW is nullable."""
    for name in names:
        type_ = expression.type
        field = next((field for field in type_.fields if field.name == name), None)
        if field is None:
            what = f"no field '{name}'" if type_.root is Root.ROW else f"no fields: it is {type_}"
            raise SqlError(f"Column '{'.'.join(at.parts)}' not found: '{at.parts[0]}' has {what}", position=at.position)
        nullable = field.type.nullable or type_.nullable
        expression = FieldAccess(name=name, expr=expression, type=field.type.with_nullable(nullable))
    return expression


def as_outer(expression: Expression) -> Expression:
    """A column of the outer query as seen from the inner one."""

    def change(each: Expression) -> Expression | None:
        if isinstance(each, InputRef):
            return each.model_copy(update={"input_index": -1 - each.input_index})
        return None

    return transform(expression, change)
