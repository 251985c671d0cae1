"""Tables of a plan as they resolved: what a job needs of one, and the plan for readers that have no catalog."""

from __future__ import annotations

from collections.abc import Mapping

from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.tables import ResolvedTable, TableReference
from plans.format.codec import encode
from plans.format.node_tables import map_tables


def in_full(node: ExecNode, table: TableReference) -> tuple[ResolvedTable, Mapping[str, str]]:
    """A table that a node reads or writes, and its options; PlanError if the plan leaves them to a catalog that has not
    got the table.
    """
    resolved = table.resolved_table
    if resolved is None or resolved.options is None:
        raise node.fail(
            f"table {table.name} has no options in the plan",
            "Create the table in the session before the plan runs (it was compiled without its options).",
        )
    return resolved, resolved.options


def resolved_text(graph: ExecGraph) -> str:
    """The plan of a graph that is about to run: schemas in full, of the options only connector and formats."""
    nodes = tuple(map_tables(node, _described) for node in graph.nodes)
    return encode(graph.with_nodes(nodes))


def _described(table: TableReference) -> TableReference:
    resolved = table.resolved_table
    if resolved is None or resolved.options is None or table.identifier is None:
        # The options of an inline table are all there is to know it by; they stand in the plan anyway.
        return table
    kept = {key: value for key, value in resolved.options.items() if key == "connector" or key.endswith("format")}
    return table.model_copy(update={"resolved_table": resolved.model_copy(update={"options": kept})})
