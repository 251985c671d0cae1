"""What every state of a plan means, and what its sources read: computed from the plan alone."""

from __future__ import annotations

from collections.abc import Iterator

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.meaning import RowsMeaning, StateMeaning
from execnodes.core.node import ExecNode
from plans.tables import tables_of

POSITION = "position"
"""Name under which the position of a source stands among the states of operators."""
_FIXED = ("connector", "format", "key.format", "value.format")


def meanings(graph: ExecGraph) -> tuple[StateMeaning, ...]:
    """Positions of sources and states of operators, inputs first; `unknown` where a table would have to be known."""
    found: list[StateMeaning] = []
    rows: dict[int, RowsMeaning] = {}
    for node in graph.nodes:
        inputs = tuple(rows[each] for each in graph.inputs[node.id])
        rows[node.id] = node.meaning(inputs)
        if not inputs:
            found += _positions(node, rows[node.id])
        try:
            found += node.state_meanings(inputs)
        except PlanError as error:
            found += [
                StateMeaning(uid, each.name, {}, unknown=str(error)) for uid in node.uids() for each in node.state
            ]
    return tuple(found)


def _positions(node: ExecNode, rows: RowsMeaning) -> Iterator[StateMeaning]:
    parts = {"source": rows.origin}
    for table in tables_of(node):
        if table.resolved_table is not None:
            options = table.resolved_table.options or {}
            parts |= {key: options[key] for key in _FIXED if key in options}
            parts |= {
                f"METADATA {each.name}": each.metadata_key or each.name
                for each in table.resolved_table.table_schema.metadata
            }
    for uid in sorted(rows.sources):
        yield StateMeaning(uid, POSITION, parts, sources=rows.sources)
