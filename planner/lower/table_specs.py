"""What a node says of its table; a plan may later keep less of it (`table.plan.compile.catalog-objects`)."""

from __future__ import annotations

from execnodes.core.tables import TableReference
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
