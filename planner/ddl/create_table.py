"""CREATE TABLE to a resolved table: columns, computed columns, watermark, key, options, LIKE and AS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.options import Configuration
from execnodes.core.tables import Column, PersistedExpression, PrimaryKey, ResolvedTable, Schema, WatermarkSpec
from execnodes.core.types import NULL, TIMESTAMPS, Field, LogicalType, TimeKind
from planner import table_statements as t
from planner.bind.expression_binder import Converter
from planner.bind.query import QueryBuilder
from planner.bind.scope import Relation, Scope
from planner.catalog.catalogs import Catalog
from planner.ddl.like import merge_like, written


def resolve_table(statement: t.CreateTable, catalog: Catalog, configuration: Configuration) -> ResolvedTable:
    """The table in full; SqlError with the place of what is wrong."""
    columns = [_declared(column) for column in statement.columns if not isinstance(column, t.ComputedColumn)]
    if statement.query is not None:
        columns = _of_query(statement, columns, catalog, configuration)
    base = _like_source(statement, catalog)
    merged = merge_like(statement, statement.like, base) if base and statement.like else None
    table_columns = _ordered(statement, columns, merged.columns if merged else ())
    _refuse_duplicates(statement, [column.name for column in table_columns])
    key = _primary_key(statement, table_columns) or (merged.primary_key if merged else None)
    resolved = _with_computed(statement, [_of_key(column, key) for column in table_columns], catalog)
    if len(statement.watermarks) > 1:
        raise SqlError("a table has one watermark at most", position=statement.watermarks[1].position)
    declared = statement.watermarks or (merged.watermarks if merged else ())
    with _at(statement.like if not statement.watermarks else None):
        watermarks = tuple(_watermark(each, resolved, catalog) for each in declared)
    partitions = statement.partitioned_by or (merged.partition_keys if merged else ())
    names = {column.name for column in resolved}
    for name in partitions:
        if name not in names:
            raise SqlError(f"PARTITIONED BY names '{name}', which is no column", position=statement.position)
    return ResolvedTable(
        table_schema=Schema(
            columns=tuple(_final(column, watermarks) for column in resolved),
            watermark_specs=watermarks,
            primary_key=key,
        ),
        partition_keys=partitions,
        comment=statement.comment,
        options={**(merged.options if merged else {}), **dict(statement.options)},
    )


def _declared(column: t.PhysicalColumn | t.MetadataColumn) -> Column:
    if isinstance(column, t.PhysicalColumn):
        return Column(name=column.name, data_type=column.type, comment=column.comment)
    return Column(
        name=column.name,
        data_type=column.type,
        kind="METADATA",
        metadata_key=column.key,
        is_virtual=column.virtual,
        comment=column.comment,
    )


def _of_query(
    statement: t.CreateTable, columns: list[Column], catalog: Catalog, configuration: Configuration
) -> list[Column]:
    """Columns of AS SELECT: those of the query, behind columns declared beside."""
    if statement.query is None or statement.like:
        raise SqlError("AS SELECT does not go with LIKE", position=statement.position)
    fields = QueryBuilder(catalog, configuration).query(statement.query).type.fields
    given = {field.name: Column(name=field.name, data_type=field.type.regular()) for field in fields}
    declared = {column.name: column for column in columns}
    if statement.column_names:
        if sorted(statement.column_names) != sorted(given):
            raise SqlError(
                f"the column list must name the query's columns {', '.join(given)}", position=statement.position
            )
        return [given[name] for name in statement.column_names]
    return [*(c for name, c in declared.items() if name not in given), *({**given, **_both(given, declared)}.values())]


def _both(given: dict[str, Column], declared: dict[str, Column]) -> dict[str, Column]:
    return {name: column for name, column in declared.items() if name in given}


def _like_source(statement: t.CreateTable, catalog: Catalog) -> ResolvedTable | None:
    if statement.like is None:
        return None
    source = catalog.get(statement.like.source, statement.like.position).object
    if not isinstance(source, ResolvedTable):
        raise SqlError("LIKE takes a table, not a view", position=statement.like.position)
    return source


def _ordered(statement: t.CreateTable, columns: list[Column], inherited: Iterable[Column]) -> list[Column]:
    """All columns in the order declared; computed ones as empty places, filled in later."""
    by_name = {column.name: column for column in columns}
    found = list(inherited)
    for definition in statement.columns:
        if isinstance(definition, t.ComputedColumn):
            found.append(Column(name=definition.name, data_type=NULL, kind="COMPUTED", comment=definition.comment))
        else:
            found.append(by_name.pop(definition.name) if definition.name in by_name else _declared(definition))
    return found + [column for column in columns if column.name in by_name]


def _refuse_duplicates(statement: t.CreateTable, names: list[str]) -> None:
    for definition in statement.columns:
        if names.count(definition.name) > 1:
            raise SqlError(f"column '{definition.name}' is declared twice", position=definition.position)


def _with_computed(statement: t.CreateTable, columns: list[Column], catalog: Catalog) -> list[Column]:
    """Computed columns get their expressions, which read the columns that are not computed."""
    converter = Converter(_scope(columns, lambda c: c.kind != "COMPUTED"), catalog, clause="a computed column")
    declared = {d.name: d.expression for d in statement.columns if isinstance(d, t.ComputedColumn)}
    found = []
    for column in columns:
        if column.kind == "COMPUTED":
            of = declared[column.name] if column.expression is None else written(column.expression)
            with _at(statement.like if column.expression is not None else None):
                rex = converter.convert(of.expr)
            expression = PersistedExpression(rex_node=rex, serializable_string=of.text)
            column = column.model_copy(update={"data_type": rex.type, "expression": expression})
        found.append(column)
    return found


@contextmanager
def _at(like: t.Like | None) -> Iterator[None]:
    """What fails is an expression of the table behind LIKE: the statement has no other place for it."""
    try:
        yield
    except SqlError as error:
        if like is not None:
            error.position = like.position
        raise


def _scope(columns: list[Column], wanted: Callable[[Column], bool]) -> Scope:
    kept = [(i, c) for i, c in enumerate(columns) if wanted(c)]
    fields = tuple(Field(column.name, column.data_type) for _, column in kept)
    return Scope((Relation(None, fields, tuple(index for index, _ in kept)),))


def _watermark(watermark: t.Watermark, columns: list[Column], catalog: Catalog) -> WatermarkSpec:
    name = ".".join(watermark.column)
    column = next((c for c in columns if c.name == name), None)
    if column is None:
        hint = "Compute a column from the field and declare the watermark for that." if "." in name else None
        raise SqlError(f"WATERMARK FOR names '{name}', which is no column", position=watermark.position, hint=hint)
    if column.data_type.root not in TIMESTAMPS or column.data_type.precision > 3:
        raise SqlError(
            f"the watermark column '{name}' is {column.data_type}",
            position=watermark.position,
            hint="It must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3.",
        )
    converter = Converter(_scope(columns, lambda _: True), catalog, clause="WATERMARK")
    rex = converter.convert(watermark.expression.expr)
    if rex.type.root is not column.data_type.root:
        raise SqlError(
            f"the watermark of '{name}' is {rex.type}, the column {column.data_type}",
            position=watermark.position,
            hint=f"Write e.g. {name} - INTERVAL '5' SECOND.",
        )
    expression = PersistedExpression(rex_node=rex, serializable_string=watermark.expression.text)
    return WatermarkSpec(rowtime_attribute=name, expression=expression)


def _primary_key(statement: t.CreateTable, columns: list[Column]) -> PrimaryKey | None:
    single = [
        t.KeyConstraint((column.name,), position=column.position)
        for column in statement.columns
        if isinstance(column, t.PhysicalColumn) and column.primary_key
    ]
    constraints = [*single, *statement.keys]
    if not constraints:
        return None
    if len(constraints) > 1:
        raise SqlError("a table has one primary key at most", position=constraints[1].position)
    constraint, by_name = constraints[0], {column.name: column for column in columns}
    declared = {column.name: column for column in statement.columns}
    for name in constraint.columns:
        if name not in by_name:
            raise SqlError(f"PRIMARY KEY names '{name}', which is no column", position=constraint.position)
        if by_name[name].kind != "PHYSICAL":
            raise SqlError(f"the key column '{name}' is not a physical column", position=constraint.position)
        column = declared.get(name)
        if isinstance(column, t.PhysicalColumn) and column.declared_nullable:
            raise SqlError(f"the key column '{name}' is declared NULL", position=constraint.position)
    name = constraint.name or f"PK_{'_'.join(constraint.columns)}"
    return PrimaryKey(name=name, columns=constraint.columns)


def _of_key(column: Column, key: PrimaryKey | None) -> Column:
    """Columns of the key are NOT NULL, also to what is computed from them."""
    return _typed(column, column.data_type.not_null()) if key and column.name in key.columns else column


def _final(column: Column, watermarks: tuple[WatermarkSpec, ...]) -> Column:
    """The column under a watermark is event time."""
    if any(column.name == watermark.rowtime_attribute for watermark in watermarks):
        return _typed(column, replace(column.data_type, kind=TimeKind.ROWTIME))
    return column


def _typed(column: Column, type: LogicalType) -> Column:
    return column if type == column.data_type else column.model_copy(update={"data_type": type})
