"""What a node says of its table; a plan may later keep less of it (`table.plan.compile.catalog-objects`)."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.options import Configuration
from execnodes.core.tables import TableReference
from execnodes.core.time_precision import exceeds_microseconds
from planner.algebra import Scan, Sink


def reference(node: Scan | Sink) -> TableReference:
    """The table in full, options of a hint merged into its own."""
    table = node.table
    if node.hints:
        table = table.model_copy(update={"options": {**(table.options or {}), **dict(node.hints)}})
    return TableReference(identifier=node.identifier, resolved_table=table, hints=dict(node.hints))


def table_name(node: Scan | Sink) -> str:
    """Dotted name for messages and descriptions."""
    return ".".join(node.identifier) if node.identifier else "*anonymous*"


def reject_nanoseconds(node: Scan, configuration: Configuration) -> None:
    """SqlError for a column that is read and declared with more digits than microseconds, unless they may be cut."""
    if configuration.get_option("table.exec.source.time-precision-enforcer") == "TRIM":
        return
    read = {field.name for field in node.type.fields}
    for column in node.table.table_schema.columns:
        if column.name in read and exceeds_microseconds(column.data_type):
            raise SqlError(
                f"column '{column.name}' of {table_name(node)} is read as {column.data_type}, "
                "but Spark keeps microseconds",
                hint="Set 'table.exec.source.time-precision-enforcer' to 'TRIM' to cut further digits, or declare 6.",
            )
