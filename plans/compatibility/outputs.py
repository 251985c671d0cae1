"""What is to be known beside the fates of states: what sinks hold already, and what sources could not read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap

from execnodes.core.meaning import RowsMeaning
from execnodes.terms.shown import readable
from plans.compatibility import narrow_reads
from plans.compatibility.carried import carried
from plans.compatibility.physical_tables import moved_sinks
from plans.compatibility.plan_meanings import Meanings, known_name
from plans.format.node_tables import tables_of


def notes(old: Meanings, new: Meanings) -> tuple[str, ...]:
    """A sentence for each table that is not simply written on, and for columns that were too narrow for some values.

    Inline tables hold nothing.
    """
    moved = moved_sinks(old.graph, new.graph) if old.graph is not None and new.graph is not None else frozenset()
    return (*_notes(_written(old), _written(new), moved), *narrow_reads.notes(old, new))


def _notes(before: dict[str, RowsMeaning], after: dict[str, RowsMeaning], moved: frozenset[str]) -> Iterator[str]:
    for table, rows in after.items():
        name = readable(table)
        if table not in before:
            yield f"sink {name} is new: it gets what changes from now on, and nothing of what was before"
        elif table not in moved and not _equal(rows, before[table]):
            yield f"sink {name} holds rows of the old query: those that are not written again stay as they are"
    for table in before:
        if table not in after:
            yield f"sink {readable(table)} is no longer written"


def _equal(one: RowsMeaning, other: RowsMeaning) -> bool:
    """Whether rows that were written are those of the new query, perhaps in wider types."""
    columns = zip(other.columns, one.columns, strict=False)
    ways = [carried(other.rows, one.rows), *starmap(carried, columns)]
    return len(one.columns) == len(other.columns) and all(each is not None and not each.losses for each in ways)


def _written(plan: Meanings) -> dict[str, RowsMeaning]:
    """Table to the rows it gets."""
    graph = plan.graph
    if graph is None:
        return {}
    return {
        known_name(graph, table.name): plan.by_node[node.id].rows
        for node in graph.roots()
        for table in tables_of(node)
        if table.identifier
    }
