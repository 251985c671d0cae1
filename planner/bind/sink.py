"""INSERT: the query, its columns put into the table's order and cast to its types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Expression, Literal
from execnodes.core.options import Configuration
from execnodes.core.places import place, within
from execnodes.core.tables import Column, ResolvedTable
from execnodes.core.types import Field, LogicalType
from execnodes.functions import can_cast_implicitly, cast
from planner import statements as s
from planner.algebra import Logical, Sink
from planner.bind.expression_binder import Converter
from planner.bind.metadata_columns import check_writable_metadata
from planner.bind.missing_comma import guess_missing_comma
from planner.bind.query import QueryBuilder
from planner.bind.scope import Scope
from planner.bind.source import project, refs
from planner.bind.table_scan import options_of
from planner.catalog.catalogs import Catalog, Entry, Identifier

if TYPE_CHECKING:
    from collections.abc import Sequence


def build_insert(insert: s.Insert, catalog: Catalog, configuration: Configuration) -> Sink:
    """The plan of an INSERT."""
    entry = catalog.get(insert.target, insert.target_position)
    if not isinstance(entry.object, ResolvedTable):
        raise SqlError(f"{insert.target[-1]} is a view; INSERT takes a table", position=insert.target_position)
    with within(f"INSERT INTO {'.'.join(entry.identifier)}"):
        return _insert(insert, entry, entry.object, catalog, configuration)


def _insert(
    insert: s.Insert, entry: Entry, table: ResolvedTable, catalog: Catalog, configuration: Configuration
) -> Sink:
    check_writable_metadata(table, insert.target_position)
    columns = table.table_schema.writable
    targets = _targets(insert, columns)
    expected = tuple(columns[i].data_type for i in targets if columns[i].name not in dict(insert.partition))
    builder = QueryBuilder(catalog, configuration)
    plan = builder.query(insert.query, expected=expected)
    guess = guess_missing_comma(builder, insert.query, len(expected) - len(plan.type.fields))
    plan = _with_partition(insert, plan, columns, targets, catalog)
    cast_plan = write(plan, columns, targets, ".".join(entry.identifier), insert.position, guess)
    return Sink(
        cast_plan,
        entry.identifier,
        table,
        entry.temporary,
        targets if insert.columns else None,
        insert.on_conflict,
        insert.overwrite,
        options_of(insert.hints),
        insert.position,
        place(insert.position.line, insert.position.column),
    )


def build_sink(plan: Logical, table: ResolvedTable, identifier: Identifier | None, position: Position) -> Sink:
    """The sink of a plan that was not written as an INSERT, e.g. into an inline table."""
    check_writable_metadata(table, position)
    columns = table.table_schema.writable
    name = ".".join(identifier) if identifier else "*anonymous*"
    targets = tuple(range(len(columns)))
    return Sink(write(plan, columns, targets, name, position), identifier, table, position=position)


def _targets(insert: s.Insert, columns: Sequence[Column]) -> tuple[int, ...]:
    """Columns the query fills, in its order; partition columns with a value count as filled last."""
    names = [column.name for column in columns]
    given = dict(insert.partition)
    for name in (*insert.columns, *given):
        if name not in names:
            raise SqlError(f"Unknown target column '{name}'", position=insert.target_position)
    for name in insert.columns:
        if insert.columns.count(name) > 1:
            raise SqlError(f"Target column '{name}' is assigned more than once", position=insert.target_position)
    if not insert.columns:
        free = [i for i, name in enumerate(names) if name not in given]
        return (*free, *(names.index(name) for name in given))
    found = (*(names.index(name) for name in insert.columns if name not in given), *(names.index(n) for n in given))
    for index, column in enumerate(columns):
        if index not in found and not column.data_type.nullable:
            raise SqlError(
                f"Column '{column.name}' has no default value and does not allow NULLs",
                position=insert.target_position,
                hint="Name it in the column list and give it a value.",
            )
    return found


def _with_partition(
    insert: s.Insert, plan: Logical, columns: Sequence[Column], targets: tuple[int, ...], catalog: Catalog
) -> Logical:
    """The plan with the constants of PARTITION (column = value) behind its columns."""
    if not insert.partition:
        return plan
    converter = Converter(Scope(()), catalog, clause="PARTITION")
    types = {column.name: column.data_type for column in columns}
    values = [
        cast(converter.convert(expr), types[name], explicit=True, position=expr.position)
        for name, expr in insert.partition
    ]
    names = [field.name for field in plan.type.fields] + [name for name, _ in insert.partition]
    return project(plan, [*refs(plan.type), *values], names)


def write(
    plan: Logical,
    columns: Sequence[Column],
    targets: tuple[int, ...],
    sink: str,
    position: Position,
    guess: str | None = None,
) -> Logical:
    """The plan with all columns of the sink, in order, cast; SqlError if number or types do not fit.

    `guess` is a hint for a query of too few columns.
    """
    given, wanted = plan.type.fields, [columns[i] for i in targets]
    if len(given) != len(wanted):
        names = ", ".join(each.name for each in wanted[: len(given)])
        fewer = guess or f"Name the columns that are given: INSERT INTO … ({names})."
        hint = fewer if len(given) < len(wanted) else "Leave columns out of the query, or add them to the table."
        raise _mismatch(sink, "Different number of columns.", given, wanted, position, hint)
    expressions: dict[int, Expression] = {}
    for at, (ref, target) in enumerate(zip(refs(plan.type), targets, strict=True)):
        column = columns[target]
        if not can_cast_implicitly(ref.type, column.data_type):
            cause = f"Incompatible types for sink column '{column.name}' at position {at}."
            raise _mismatch(sink, cause, given, wanted, position)
        expressions[target] = _as(ref, column.data_type, position)
    if targets == tuple(range(len(columns))) and all(
        each == ref for each, ref in zip(expressions.values(), refs(plan.type), strict=True)
    ):
        return plan
    filled = [expressions.get(i) or _null(column.data_type) for i, column in enumerate(columns)]
    return project(plan, filled, [column.name for column in columns])


def _as(ref: Expression, type_: LogicalType, position: Position) -> Expression:
    return ref if ref.type.same_values(type_) else cast(ref, type_.regular(), explicit=True, position=position)


def _null(type_: LogicalType) -> Expression:
    return Literal(value=None, type=type_.regular().with_nullable(True))


def _mismatch(
    sink: str,
    cause: str,
    given: Sequence[Field],
    wanted: Sequence[Column],
    position: Position,
    hint: str = "CAST in the query or change the table.",
) -> SqlError:
    query = ", ".join(f"{field.name}: {field.type}" for field in given)
    schema = ", ".join(f"{column.name}: {column.data_type}" for column in wanted)
    return SqlError(
        f"Column types of query result and sink for '{sink}' do not match.\n"
        f"Cause: {cause}\nQuery schema: [{query}]\nSink schema:  [{schema}]",
        position=position,
        hint=hint,
    )
