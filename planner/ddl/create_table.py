"""CREATE TABLE to a resolved table: columns, computed columns, watermark, key, options, LIKE and AS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.tables import Column, PersistedExpression, PrimaryKey, ResolvedTable, Schema, WatermarkSpec
from execnodes.core.types import TIMESTAMPS, Field, LogicalType, TimeKind
from planner import table_statements as t
from planner.bind.expression_binder import Converter
from planner.bind.scope import Relation, Scope
from planner.catalog.catalogs import Catalog
from planner.ddl.like import merge_like, written
from planner.ddl.query_columns import declare_column, merge_query_columns

_NOT_NULL = "Give the query's column a value where it is NULL, e.g. COALESCE(column, 0)."


def resolve_table(statement: t.CreateTable, catalog: Catalog, fields: tuple[Field, ...] = ()) -> ResolvedTable:
    """The table in full, with the `fields` of AS SELECT; SqlError with the place of what is wrong."""
    base = _like_source(statement, catalog)
    merged = merge_like(statement, statement.like, base) if base and statement.like else None
    declared = [declare_column(column) for column in statement.columns]
    table_columns = [*(merged.columns if merged else ()), *declared]
    if statement.query is not None:
        table_columns = merge_query_columns(statement, fields)
    _refuse_duplicates(statement, [column.name for column in table_columns])
    key = _primary_key(statement, table_columns) or (merged.primary_key if merged else None)
    resolved = _with_computed(statement, [_of_key(column, key) for column in table_columns], catalog)
    if len(statement.watermarks) > 1:
        raise SqlError("a table has one watermark at most", position=statement.watermarks[1].position)
    given = statement.watermarks or (merged.watermarks if merged else ())
    with _at(statement.like if not statement.watermarks else None):
        watermarks = tuple(_watermark(each, resolved, catalog) for each in given)
    partitions = statement.partitioned_by or (merged.partition_keys if merged else ())
    _check_partitions(statement, partitions, resolved)
    _reject_shared_metadata(statement, resolved)
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


def _check_partitions(statement: t.CreateTable, keys: tuple[str, ...], columns: list[Column]) -> None:
    kinds = {column.name: column.kind for column in columns}
    for name in keys:
        if name not in kinds:
            raise SqlError(f"PARTITIONED BY names '{name}', which is no column", position=statement.position)
        if kinds[name] != "PHYSICAL":
            raise SqlError(
                f"the partition key '{name}' is not a physical column",
                position=statement.position,
                hint="Partition by columns that the data hold.",
            )


def _reject_shared_metadata(statement: t.CreateTable, columns: list[Column]) -> None:
    positions = {column.name: column.position for column in statement.columns}
    owners = dict[str, str]()
    for column in columns:
        if column.kind != "METADATA":
            continue
        key = column.metadata_key or column.name
        if key in owners:
            raise SqlError(
                f"columns '{owners[key]}' and '{column.name}' are both from the metadata key '{key}'",
                position=positions.get(column.name, statement.position),
                hint=f"Compute one of the two from the other: {column.name} AS {owners[key]}.",
            )
        owners[key] = column.name


def _like_source(statement: t.CreateTable, catalog: Catalog) -> ResolvedTable | None:
    if statement.like is None:
        return None
    source = catalog.get(statement.like.source, statement.like.position).object
    if not isinstance(source, ResolvedTable):
        raise SqlError("LIKE takes a table, not a view", position=statement.like.position)
    return source


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
    if column.data_type.kind is TimeKind.PROCTIME:
        raise SqlError(
            f"a watermark cannot be defined for the processing-time attribute '{name}'",
            position=watermark.position,
            hint="Leave the watermark out, or declare it for a column of event time.",
        )
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
    if rex.type.precision > 3:
        raise SqlError(
            f"the watermark of '{name}' is {rex.type}, whose precision is above 3",
            position=watermark.position,
            hint=f"Cast it: CAST(… AS {column.data_type.regular().with_nullable(True)}).",
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
        if statement.query is not None and column is None and by_name[name].data_type.nullable:
            raise SqlError(
                f"Invalid primary key. Column '{name}' is nullable", position=constraint.position, hint=_NOT_NULL
            )
    if len(set(constraint.columns)) < len(constraint.columns):
        listed = ", ".join(constraint.columns)
        raise SqlError(f"PRIMARY KEY ({listed}) contains duplicate columns", position=constraint.position)
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
