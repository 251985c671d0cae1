"""Where the rows of a query go that has no INSERT: into a nameless table of the connector `collect`."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from execnodes.core.errors import Position
from execnodes.core.graph import ExecGraph
from execnodes.core.tables import Column, ResolvedTable, Schema, TableReference
from planner.algebra import Sink
from planner.bind import build_sink
from plans.format.node_tables import map_tables

if TYPE_CHECKING:
    from planner.algebra import Logical

_CONNECTOR = "collect"


def into_collect(query: Logical, position: Position) -> Sink:
    """The query with such a table behind it."""
    columns = tuple(Column(name=field.name, data_type=field.type.regular()) for field in query.type.fields)
    table = ResolvedTable(table_schema=Schema(columns=columns), options={"connector": _CONNECTOR})
    return build_sink(query, table, None, position)


def collects(table: TableReference) -> bool:
    """True for the table that a query without INSERT writes into."""
    if table.identifier is not None or table.resolved_table is None:
        return False
    return (table.resolved_table.options or {}).get("connector") == _CONNECTOR


def collected(graph: ExecGraph) -> tuple[ExecGraph, TableReference | None, str]:
    """The results of a query under a name of this run, and that name; graphs of INSERTs come back as they are."""
    name = f"query-{uuid.uuid4().hex}"
    found: list[TableReference] = []

    def rename(table: TableReference) -> TableReference:
        resolved = table.resolved_table
        if resolved is None or not collects(table):
            return table
        options = {**(resolved.options or {}), "name": name}
        renamed = table.model_copy(update={"resolved_table": resolved.model_copy(update={"options": options})})
        found.append(renamed)
        return renamed

    nodes = tuple(map_tables(node, rename) for node in graph.nodes)
    if not found:
        return graph, None, name
    return graph.with_nodes(nodes), found[0], name
