"""Reading a table: scan, computed columns, watermark."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, FieldAccess, InputRef, remap
from execnodes.core.tables import ResolvedTable
from execnodes.core.time_precision import narrow_to_microseconds
from execnodes.core.types import Field, row
from planner import syntax as s
from planner.algebra import Logical, Scan, WatermarkAssigner
from planner.bind.metadata_columns import check_readable_metadata
from planner.bind.source import project
from planner.catalog.catalogs import Entry


def read_table(entry: Entry, table: ResolvedTable, node: s.TableName) -> Logical:
    """All declared columns of a table, in order; SqlError for metadata that its connector does not have."""
    check_readable_metadata(table, node.position)
    return read(table, entry.identifier, entry.temporary, options_of(node.hints))


def read(
    table: ResolvedTable,
    identifier: tuple[str, str, str] | None,
    temporary: bool = False,
    hints: tuple[tuple[str, str], ...] = (),
) -> Logical:
    """All declared columns of a table, in order; `identifier` None for an inline table.

    Timestamps are of microseconds; the lowering refuses those that are declared with more digits and read.
    """
    schema = table.table_schema
    places = {index: i for i, index in enumerate(i for i, c in enumerate(schema.columns) if c.kind != "COMPUTED")}
    scanned = [schema.columns[index] for index in places]
    read_types = [narrow_to_microseconds(column.data_type.regular()) for column in scanned]
    type_ = row(*(Field(column.name, each) for column, each in zip(scanned, read_types, strict=True))).not_null()
    plan: Logical = Scan(identifier, table, type_, temporary, hints)
    if len(scanned) < len(schema.columns):
        expressions = [
            _narrow(remap(column.expression.rex_node, lambda i: places[i]))
            if column.expression
            else InputRef(input_index=places[i], type=read_types[places[i]])
            for i, column in enumerate(schema.columns)
        ]
        plan = project(plan, expressions, [column.name for column in schema.columns])
    for watermark in schema.watermark_specs:
        index = [column.name for column in schema.columns].index(watermark.rowtime_attribute)
        plan = WatermarkAssigner(plan, index, watermark.expression.rex_node, narrow_to_microseconds(schema.row_type))
    return plan


def _narrow(expression: Expression) -> Expression:
    """The expression of a computed column over columns of microseconds."""
    update: dict[str, object] = {"type": narrow_to_microseconds(expression.type)}
    if isinstance(expression, Call):
        update["operands"] = tuple(map(_narrow, expression.operands))
    elif isinstance(expression, FieldAccess):
        update["expr"] = _narrow(expression.expr)
    return expression.model_copy(update=update)


def options_of(hints: tuple[s.Hint, ...]) -> tuple[tuple[str, str], ...]:
    """Table options of OPTIONS hints; SqlError for any other hint."""
    found: list[tuple[str, str]] = []
    for hint in hints:
        if hint.name != "OPTIONS":
            raise SqlError(
                f"the hint {hint.name} is not known behind a table",
                position=hint.position,
                hint="Behind a table: OPTIONS('key' = 'value'); behind SELECT: STATE_TTL('table' = '1 d').",
            )
        for key, value in hint.options:
            if value is None:
                raise SqlError(f"OPTIONS: {key!r} has no value", position=hint.position, hint="Write 'key' = 'value'.")
            found.append((key, value))
    return tuple(found)
