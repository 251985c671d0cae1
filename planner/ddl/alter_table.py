"""ALTER TABLE on columns, watermark and key: the table is declared anew with the change, and resolved as by CREATE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatch

from execnodes.core.errors import SqlError
from execnodes.core.expressions import input_indexes
from execnodes.core.options import Configuration
from execnodes.core.tables import Column, PersistedExpression, ResolvedTable
from planner import statements as s
from planner import table_statements as t
from planner.catalog.catalogs import Catalog
from planner.ddl.create_table import resolve_table
from planner.ddl.like import written


def altered(
    statement: t.ChangeOfParts, table: ResolvedTable, catalog: Catalog, configuration: Configuration
) -> ResolvedTable:
    """The table with the change; SqlError, with the statement's place, if it cannot be."""
    try:
        declared = _changed(statement, table, _declaration(statement.path, table))
        return resolve_table(declared, catalog)
    except SqlError as error:
        # The place may be one in the text of an expression that was there before.
        error.position = statement.position
        raise


@singledispatch
def _changed(statement: s.Statement, table: ResolvedTable, declared: t.CreateTable) -> t.CreateTable:
    raise AssertionError(statement)


@_changed.register
def _add(statement: t.AddParts, table: ResolvedTable, declared: t.CreateTable) -> t.CreateTable:
    columns = list(declared.columns)
    for each in statement.columns:
        if _index(columns, each.definition.name) is not None:
            raise SqlError(
                f"the table has a column '{each.definition.name}' already", hint="Write MODIFY to change it."
            )
        _insert(columns, each, len(columns))
    if statement.watermarks and declared.watermarks:
        raise SqlError("the table has a watermark already", hint="Write MODIFY WATERMARK to change it.")
    if statement.keys and declared.keys:
        raise SqlError("the table has a primary key already", hint="Write MODIFY to change it.")
    return replace(
        declared,
        columns=tuple(columns),
        watermarks=declared.watermarks + statement.watermarks,
        keys=declared.keys + statement.keys,
    )


@_changed.register
def _modify(statement: t.ModifyParts, table: ResolvedTable, declared: t.CreateTable) -> t.CreateTable:
    columns, keys = list(declared.columns), statement.keys or declared.keys
    for each in statement.columns:
        at = _index(columns, each.definition.name)
        if at is None:
            raise _no_column(each.definition.name)
        del columns[at]
        _insert(columns, each, at)
        if isinstance(each.definition, t.PhysicalColumn) and each.definition.primary_key:
            keys = statement.keys
    if statement.watermarks and not declared.watermarks:
        raise SqlError("the table has no watermark", hint="Write ADD WATERMARK.")
    if statement.keys and not declared.keys:
        raise SqlError("the table has no primary key", hint="Write ADD PRIMARY KEY.")
    watermarks = statement.watermarks or declared.watermarks
    return replace(declared, columns=tuple(columns), watermarks=watermarks, keys=keys)


@_changed.register
def _drop(statement: t.DropParts, table: ResolvedTable, declared: t.CreateTable) -> t.CreateTable:
    if statement.watermark:
        if not declared.watermarks:
            raise SqlError("the table has no watermark")
        return replace(declared, watermarks=())
    if statement.key:
        key = table.table_schema.primary_key
        if key is None:
            raise SqlError("the table has no primary key")
        if statement.constraint not in (None, key.name):
            raise SqlError(f"the table has no constraint '{statement.constraint}'; its key is '{key.name}'")
        return replace(declared, keys=())
    for name in statement.columns:
        if statement.columns.count(name) > 1:
            raise SqlError(f"column '{name}' is named twice")
        _refuse_referenced(table, declared, name, statement.columns)
        if any(name in key.columns for key in declared.keys):
            raise _in_use(name, "is a part of the primary key")
    kept = tuple(each for each in declared.columns if each.name not in statement.columns)
    if not kept:
        raise SqlError("a table without columns would remain", hint="Write DROP TABLE.")
    return replace(declared, columns=kept)


@_changed.register
def _rename(statement: t.RenameColumn, table: ResolvedTable, declared: t.CreateTable) -> t.CreateTable:
    before, after = statement.column, statement.to
    _refuse_referenced(table, declared, before, ())
    if _index(declared.columns, after) is not None:
        raise SqlError(f"the table has a column '{after}' already")
    columns = (replace(each, name=after) if each.name == before else each for each in declared.columns)
    keys = (
        replace(key, columns=tuple(after if name == before else name for name in key.columns)) for key in declared.keys
    )
    return replace(declared, columns=tuple(columns), keys=tuple(keys))


def _index(columns: list[t.ColumnDefinition] | tuple[t.ColumnDefinition, ...], name: str) -> int | None:
    return next((at for at, each in enumerate(columns) if each.name == name), None)


def _insert(columns: list[t.ColumnDefinition], placed: t.PlacedColumn, otherwise: int) -> None:
    at: int | None = 0 if placed.place.first else otherwise
    if placed.place.after is not None:
        before = _index(columns, placed.place.after)
        if before is None:
            raise _no_column(placed.place.after)
        at = before + 1
    columns.insert(at or 0, placed.definition)


def _refuse_referenced(table: ResolvedTable, declared: t.CreateTable, name: str, gone: tuple[str, ...]) -> None:
    """SqlError for a column that there is not, or that another part reads which stays."""
    if _index(declared.columns, name) is None:
        raise _no_column(name)
    readers = [column for column in _readers(table, name) if column not in gone]
    if readers:
        raise _in_use(name, f"is read by the computed column '{readers[0]}'")
    for each in table.table_schema.watermark_specs:
        if name == each.rowtime_attribute or name in _read(table, each.expression):
            raise _in_use(name, "is read by the watermark")
    if name in table.partition_keys:
        raise _in_use(name, "is a partition key")


def _readers(table: ResolvedTable, name: str) -> Iterator[str]:
    for column in table.table_schema.columns:
        if column.expression is not None and name in _read(table, column.expression):
            yield column.name


def _read(table: ResolvedTable, expression: PersistedExpression) -> set[str]:
    return {table.table_schema.columns[index].name for index in input_indexes(expression.rex_node)}


def _in_use(name: str, how: str) -> SqlError:
    return SqlError(f"the column '{name}' {how}", hint="Change or drop that first.")


def _no_column(name: str) -> SqlError:
    return SqlError(f"the table has no column '{name}'", hint="DESCRIBE lists its columns.")


def _declaration(path: s.Path, table: ResolvedTable) -> t.CreateTable:
    """The statement that makes the table."""
    schema, key = table.table_schema, table.table_schema.primary_key
    return t.CreateTable(
        path,
        tuple(map(_definition, schema.columns)),
        watermarks=tuple(
            t.Watermark((each.rowtime_attribute,), written(each.expression)) for each in schema.watermark_specs
        ),
        keys=(t.KeyConstraint(key.columns, key.name),) if key else (),
        comment=table.comment,
        partitioned_by=table.partition_keys,
        options=tuple((table.options or {}).items()),
    )


def _definition(column: Column) -> t.ColumnDefinition:
    if column.expression is not None:
        return t.ComputedColumn(column.name, written(column.expression), column.comment)
    type_ = column.data_type.regular()
    if column.kind == "METADATA":
        return t.MetadataColumn(column.name, type_, column.metadata_key, column.is_virtual, column.comment)
    return t.PhysicalColumn(column.name, type_, comment=column.comment)
