"""What every state of a plan means, and what its sources read: computed from the plan alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.inner_names import inner_type, with_inner_names
from execnodes.core.meaning import RowsMeaning, StateMeaning
from execnodes.core.node import ExecNode
from execnodes.core.tables import TableReference
from execnodes.terms.term import leaf
from plans.format.node_tables import FIXED, map_tables, tables_of

POSITION = "position"
"""Name under which the position of a source stands among the states of operators."""
NOTHING: frozenset[str] = frozenset()


class Meanings(tuple[StateMeaning, ...]):
    """Positions of sources and states of operators, with the plan they are those of."""

    graph: ExecGraph | None = None
    """None where the plan is not known: only what it says of its states is."""
    by_node: Mapping[int, Meant] = {}
    """Node id to what the node means; empty where the plan is not known."""

    @classmethod
    def of(cls, states: Iterable[StateMeaning], graph: ExecGraph | None) -> Meanings:
        """States of a plan."""
        made = cls(states)
        made.graph = graph
        return made


@dataclass(frozen=True, slots=True)
class Meant:
    """What one node means."""

    node: ExecNode
    rows: RowsMeaning
    states: tuple[StateMeaning, ...]


_RECENT: deque[tuple[ExecGraph, frozenset[str], Meanings]] = deque(maxlen=4)
"""The start of a job, a savepoint and a report ask several times what the same plan means."""


def meanings(graph: ExecGraph, without: frozenset[str] = NOTHING) -> Meanings:
    """Positions of sources and states of operators, inputs first; `unknown` where a table would have to be known.

    `without`: uids of sources that are taken for not being there. A UNION ALL then has the other inputs; whatever
    else reads such a source has no meaning and is left out.
    """
    for known, left_out, made in tuple(_RECENT):
        if known is graph and left_out == without:
            return made
    found = meant(graph, without)
    made = Meanings.of((state for each in found.values() for state in each.states), graph)
    made.by_node = found
    _RECENT.append((graph, without, made))
    return made


def meant(graph: ExecGraph, without: frozenset[str] = NOTHING) -> Mapping[int, Meant]:
    """Node id to what the node means; see `meanings`."""
    found: dict[int, Meant] = {}
    operators: dict[int, frozenset[str]] = {}
    retracting: set[int] = set()
    for node in graph.nodes:
        below = [each for each in graph.inputs[node.id] if each in found]
        inputs = tuple(found[each].rows for each in below)
        complete = len(below) == len(graph.inputs[node.id])
        inside = with_inner_names(node) if inputs else node
        named = _by_known_names(inside, graph)
        rows = named.meaning(inputs) if complete else named.meaning_of_rest(inputs)
        if rows is None or (not inputs and rows.sources and rows.sources <= without):
            continue
        uids = frozenset(uid for each in below for uid in operators[each])
        operators[node.id] = uids.union(node.uids())
        taken_back = any(each in retracting for each in below)
        if not node.changelog_mode.insert_only or (taken_back and not node.uids()):
            retracting.add(node.id)
        surprised = taken_back and not node.takes_unknown_deletes
        times = frozenset(each.time for each in inputs)
        states = (replace(each, operators=uids, retracting=surprised, times=times) for each in _states(inside, inputs))
        positions = () if inputs else _positions(node, rows)
        if not inputs:
            rows = replace(rows, type=inner_type(rows.type))
        found[node.id] = Meant(node, rows, (*positions, *states))
    return found


def known_name(graph: ExecGraph, table: str) -> str:
    """The name by which the states of a plan mean a table."""
    return graph.table_aliases.get(table, table)


def _by_known_names(node: ExecNode, graph: ExecGraph) -> ExecNode:
    def rename(table: TableReference) -> TableReference:
        known = graph.table_aliases.get(table.name)
        if known is None or table.identifier is None:
            return table
        catalog, database, name = known.split(".", 2)
        return table.model_copy(update={"identifier": (catalog, database, name)})

    return map_tables(node, rename) if graph.table_aliases else node


def _states(node: ExecNode, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
    try:
        return node.state_meanings(inputs)
    except PlanError as error:
        return tuple(StateMeaning(uid, each.name, {}, unknown=str(error)) for uid in node.uids() for each in node.state)


def _positions(node: ExecNode, rows: RowsMeaning) -> Iterator[StateMeaning]:
    parts = {"source": rows.origin}
    for table in tables_of(node):
        if table.resolved_table is not None:
            options = table.resolved_table.options or {}
            parts |= {key: leaf("option", options[key]) for key in FIXED if key in options}
            parts |= {
                f"METADATA {each.name}": leaf("metadata", each.metadata_key or each.name)
                for each in table.resolved_table.table_schema.metadata
            }
    for uid in sorted(rows.sources):
        yield StateMeaning(uid, POSITION, parts, sources=rows.sources)
