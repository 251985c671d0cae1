"""`Schema`: columns, watermark and key of a table that is made in Python; what CREATE TABLE has in its parentheses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from execnodes.core.errors import Position, SqlError
from execnodes.core.options import Configuration
from execnodes.core.tables import Schema as ResolvedSchema
from execnodes.core.types import LogicalType
from planner.catalog.catalogs import Catalog, quoted
from planner.ddl.create_table import resolve_table
from planner.parse import parse
from planner.table_statements import CreateTable, PhysicalColumn
from rekindle.api.expressions import Expression, as_sql
from rekindle.api.literals import text_sql


@dataclass(frozen=True)
class Schema:
    """The parts of a declaration, in order. Without a physical column the columns are those of the data."""

    parts: tuple[str, ...] = ()

    @classmethod
    def new_builder(cls) -> SchemaBuilder:
        """An empty one to add to."""
        return SchemaBuilder()

    def __str__(self) -> str:
        return ",\n".join(self.parts)


class SchemaBuilder:
    """Collects the parts of a `Schema`."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def column(self, name: str, type: LogicalType | str) -> Self:
        """A column of the data, with its SQL type."""
        return self._add(f"{quoted((name,))} {type}")

    def column_by_expression(self, name: str, expression: Expression | str) -> Self:
        """A column that is computed from others."""
        return self._add(f"{quoted((name,))} AS {as_sql(expression)}")

    def column_by_metadata(
        self, name: str, type: LogicalType | str, metadata_key: str | None = None, is_virtual: bool = False
    ) -> Self:
        """A column that the connector gives beside the data."""
        key = f" FROM {text_sql(metadata_key)}" if metadata_key is not None else ""
        return self._add(f"{quoted((name,))} {type} METADATA{key}{' VIRTUAL' if is_virtual else ''}")

    def watermark(self, column: str, expression: Expression | str) -> Self:
        """Event time of the rows: a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column and how far time has come."""
        return self._add(f"WATERMARK FOR {quoted((column,))} AS {as_sql(expression)}")

    def primary_key(self, *columns: str) -> Self:
        """Columns that identify a row; not enforced."""
        return self._add(f"PRIMARY KEY ({', '.join(quoted((each,)) for each in columns)}) NOT ENFORCED")

    def build(self) -> Schema:
        """What has been collected."""
        return Schema(tuple(self._parts))

    def _add(self, part: str) -> Self:
        self._parts.append(part)
        return self


def resolve_schema(
    declared: Schema | str | None, given: LogicalType, catalog: Catalog, configuration: Configuration
) -> ResolvedSchema:
    """A declaration over data of the ROW type `given`; SqlError for one that cannot be read.

    Physical columns are those that are declared; if none is, all of `given`.
    """
    physical = tuple(PhysicalColumn(field.name, field.type) for field in given.fields)
    statement = parse_schema(declared or "")
    if not any(isinstance(column, PhysicalColumn) for column in statement.columns):
        statement = replace(statement, columns=(*physical, *statement.columns))
    return resolve_table(statement, catalog).table_schema


def parse_schema(declared: Schema | str) -> CreateTable:
    """A declaration as the CREATE TABLE statement it would stand in."""
    try:
        (statement,) = parse(f"CREATE TABLE t (\n{declared}\n)")
    except SqlError as error:
        # The text begins on the second line of what was parsed.
        if error.position is not None:
            error.position = Position(error.position.line - 1, error.position.column)
        raise
    if not isinstance(statement, CreateTable):
        raise SqlError(f"this is no schema: {declared}", hint="Write columns as in CREATE TABLE: k INT, v STRING.")
    return statement
