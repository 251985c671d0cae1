"""The query inside a compiled plan, to be read like a table."""

from __future__ import annotations

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.sink_node import SinkNode
from execnodes.core.types import Field, row
from planner.algebra import CompiledQuery
from rekindle.statements.query_sink import collects


def query_of(graph: ExecGraph, source: str) -> CompiledQuery:
    """The nodes of the plan of a query, without its sink; PlanError for any other plan. `source` names the plan."""
    sink = _collect_sink(graph, source)
    root = graph.inputs_of(sink)[0]
    table = sink.target.resolved_table
    names = [column.name for column in table.table_schema.writable] if table else []
    times = graph.event_times()[root.id]
    fields = [
        Field(name, field.type if at in times else field.type.regular())
        for at, (name, field) in enumerate(zip(names, root.output_type.fields, strict=True))
    ]
    nodes = tuple(node for node in graph.nodes if node.id != sink.id)
    query = ExecGraph.of(nodes, graph.inputs, graph.max_parallelism, graph.engine_version)
    return CompiledQuery(query, root.id, row(*fields).not_null(), sink.row_key)


def _collect_sink(graph: ExecGraph, source: str) -> SinkNode:
    roots = list(graph.roots())
    match roots:
        case [SinkNode() as sink] if collects(sink.target):
            return sink
    into = ", ".join(each.target.name if isinstance(each, SinkNode) else str(each.key) for each in roots)
    raise PlanError(
        f"only the plan of one query can be read as a table; this one writes into {into or 'nothing'}",
        where=source,
        hint="Run it with execute_plan. A plan to be read is made by Table.compile_plan or COMPILE PLAN … FOR SELECT.",
    )
