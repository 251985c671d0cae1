"""What a plan says of a table: as much as `table.plan.compile.catalog-objects` asks for."""

from __future__ import annotations

from execnodes.core.options import Configuration
from execnodes.core.tables import ResolvedTable, TableReference
from planner.logical import Scan, Sink


def reference(node: Scan | Sink, configuration: Configuration) -> TableReference:
    """Temporary tables by identifier only, anonymous ones in full; options of a hint are merged into the table's."""
    if node.identifier is None:
        return TableReference(resolved_table=_hinted(node))
    objects = configuration.get_option("table.plan.compile.catalog-objects")
    if (node.temporary and not node.hints) or objects == "IDENTIFIER":
        return TableReference(identifier=node.identifier)
    table = _hinted(node)
    if objects == "SCHEMA" and not node.hints:
        table = table.model_copy(update={"options": None, "comment": None})
    return TableReference(identifier=node.identifier, resolved_table=table)


def _hinted(node: Scan | Sink) -> ResolvedTable:
    if not node.hints:
        return node.table
    return node.table.model_copy(update={"options": {**(node.table.options or {}), **dict(node.hints)}})


def table_name(node: Scan | Sink) -> str:
    """Dotted name for messages and descriptions."""
    return ".".join(node.identifier) if node.identifier else "*anonymous*"
