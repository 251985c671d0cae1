"""A plan with what its tables resolved to, for readers of a job folder that have no catalog."""

from __future__ import annotations

from execnodes.core.graph import ExecGraph
from execnodes.core.tables import TableReference
from plans.codec import encode
from plans.tables import map_tables


def resolved_text(graph: ExecGraph) -> str:
    """The plan of a graph that is about to run: schemas in full, of the options only connector and formats."""
    nodes = tuple(map_tables(node, _described) for node in graph.nodes)
    return encode(ExecGraph.of(nodes, graph.inputs, graph.max_parallelism, graph.engine_version))


def _described(table: TableReference) -> TableReference:
    resolved = table.resolved_table
    if resolved is None or resolved.options is None or table.identifier is None:
        # The options of an inline table are all there is to know it by; they stand in the plan anyway.
        return table
    kept = {key: value for key, value in resolved.options.items() if key == "connector" or key.endswith("format")}
    return table.model_copy(update={"resolved_table": resolved.model_copy(update={"options": kept})})
