"""Columns of CREATE TABLE AS: those of the query, by name, among those that are declared beside it."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.options import Configuration
from execnodes.core.tables import Column
from execnodes.core.types import NULL, Field
from execnodes.functions.type_rules import can_cast_implicitly
from planner import table_statements as t
from planner.bind.query import QueryBuilder
from planner.catalog.catalogs import Catalog


def query_fields(statement: t.CreateTable, catalog: Catalog, configuration: Configuration) -> tuple[Field, ...]:
    """The columns of AS SELECT; none without it."""
    if statement.query is None:
        return ()
    if statement.like:
        raise SqlError("AS SELECT does not go with LIKE", position=statement.position)
    return QueryBuilder(catalog, configuration).query(statement.query).type.fields


def declare_column(column: t.ColumnDefinition) -> Column:
    """A column as it is declared; a computed one is an empty place, filled in later."""
    match column:
        case t.PhysicalColumn():
            return Column(name=column.name, data_type=column.type, comment=column.comment)
        case t.ComputedColumn():
            return Column(name=column.name, data_type=NULL, kind="COMPUTED", comment=column.comment)
        case t.MetadataColumn():
            return Column(
                name=column.name,
                data_type=column.type,
                kind="METADATA",
                metadata_key=column.key,
                is_virtual=column.virtual,
                comment=column.comment,
            )


def merge_query_columns(statement: t.CreateTable, fields: tuple[Field, ...]) -> list[Column]:
    """All columns as Flink orders them: first what is declared and no column of the query, then the query's."""
    of_query = {field.name: Column(name=field.name, data_type=field.type.regular()) for field in fields}
    if statement.column_names:
        if sorted(statement.column_names) != sorted(of_query):
            raise SqlError(
                f"the column list must name the query's columns {', '.join(of_query)}", position=statement.position
            )
        return [of_query[name] for name in statement.column_names]
    others = []
    for column in statement.columns:
        if column.name in of_query:
            _check_overwritten(column, of_query[column.name])
            of_query[column.name] = declare_column(column)
        else:
            _check_absent(column)
            others.append(declare_column(column))
    return [*others, *of_query.values()]


def _check_absent(column: t.ColumnDefinition) -> None:
    """What is declared beside the query's columns is NULL in its rows."""
    if isinstance(column, t.PhysicalColumn) and not column.type.nullable:
        raise SqlError(
            f"column '{column.name}' has no default value and does not allow NULLs",
            position=column.position,
            hint="Select it in the query, or leave NOT NULL out.",
        )


def _check_overwritten(column: t.ColumnDefinition, source: Column) -> None:
    """What is declared under the name of a column of the query takes its values."""
    if isinstance(column, t.ComputedColumn):
        raise SqlError(
            f"a column named '{column.name}' already exists in the query, which a computed column cannot overwrite",
            position=column.position,
            hint="Give one of the two another name.",
        )
    found, wanted = source.data_type, column.type
    if not can_cast_implicitly(found, wanted) or (found.nullable and not wanted.nullable):
        raise SqlError(
            f"incompatible types for sink column '{column.name}': the source column has type {found}, "
            f"while the target column has type {wanted}",
            position=column.position,
            hint="Cast it in the query.",
        )
