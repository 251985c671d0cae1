"""A plan whose sinks are collected in memory; everything the planner decided about them stays as it was."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.connectors import sink_changelog_mode
from execnodes.core.changelog import RETRACT
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.sink_node import SinkNode
from execnodes.core.tables import Schema, TableReference
from plans.compatibility.restore import CatalogLookup, Mode, resolve_tables
from plans.format.node_tables import map_tables


@dataclass(frozen=True)
class CollectedSink:
    """A sink of the plan."""

    table: str
    """Name of its table, without catalog and database."""
    schema: Schema
    collected: str
    """Name its rows are kept under."""
    key: tuple[int, ...] | None = None
    """Columns that tell its rows apart: the primary key or, where no -U comes, the key of the query (none at all: one
    row). None: a -U or -D is of a row that is equal in whole."""


@dataclass(frozen=True)
class Redirected:
    """The changed plan and where its rows will be."""

    graph: ExecGraph
    sinks: tuple[CollectedSink, ...]


def redirect(graph: ExecGraph, catalog: CatalogLookup, prefix: str, mode: Mode = "ALL") -> Redirected:
    """Replace the connectors of all sinks, after tables have been resolved; collected names begin with `prefix`."""
    resolved = resolve_tables(graph, catalog, mode)
    roots = {node.id: _sink(node, f"{prefix}-{node.id}") for node in resolved.roots()}
    nodes = tuple(_collecting(node, roots[node.id]) if node.id in roots else node for node in resolved.nodes)
    changed = ExecGraph.of(nodes, resolved.inputs, resolved.max_parallelism, resolved.engine_version)
    return Redirected(changed, tuple(roots.values()))


def _sink(node: ExecNode, collected: str) -> CollectedSink:
    if not isinstance(node, SinkNode) or node.target.resolved_table is None:
        raise node.fail("it is not a sink, but nothing reads its rows")
    schema = node.target.resolved_table.table_schema
    return CollectedSink(node.target.name.rpartition(".")[2], schema, collected, _key(node, schema))


def _key(node: SinkNode, schema: Schema) -> tuple[int, ...] | None:
    if schema.primary_key is not None:
        names = [column.name for column in schema.writable]
        return tuple(names.index(name) for name in schema.primary_key.columns)
    return (node.row_key or ()) if node.arriving.upsert else None


def _collecting(node: ExecNode, sink: CollectedSink) -> ExecNode:
    def change(table: TableReference) -> TableReference:
        assert table.resolved_table is not None
        given = table.resolved_table.options or {}
        has_key = sink.schema.primary_key is not None
        accepted = sink_changelog_mode(given, has_key, RETRACT)
        upserts = accepted is not None and not accepted.retract
        options = {
            "connector": "collect",
            "name": sink.collected,
            "changelog-mode": "upsert" if upserts else "all",
        }
        resolved = table.resolved_table.model_copy(update={"options": options})
        return table.model_copy(update={"resolved_table": resolved, "hints": {}})

    return map_tables(node, change)
