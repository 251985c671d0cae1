"""What the sinks of a changed plan hold already: their rows were written by the old query."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap

from execnodes.core.meaning import RowsMeaning
from execnodes.terms.forms import same
from execnodes.terms.shown import readable
from plans.compatibility.plan_meanings import Meanings
from plans.format.node_tables import tables_of


def notes(old: Meanings, new: Meanings) -> tuple[str, ...]:
    """A sentence for each table that is not simply written on; inline tables hold nothing."""
    return tuple(_notes(_written(old), _written(new)))


def _notes(before: dict[str, RowsMeaning], after: dict[str, RowsMeaning]) -> Iterator[str]:
    for table, rows in after.items():
        name = readable(table)
        if table not in before:
            yield f"sink {name} is new: it gets what changes from now on, and nothing of what was before"
        elif not _equal(rows, before[table]):
            yield f"sink {name} holds rows of the old query: those that are not written again stay as they are"
    for table in before:
        if table not in after:
            yield f"sink {readable(table)} is no longer written"


def _equal(one: RowsMeaning, other: RowsMeaning) -> bool:
    columns = zip(one.columns, other.columns, strict=False)
    return same(one.rows, other.rows) and len(one.columns) == len(other.columns) and all(starmap(same, columns))


def _written(plan: Meanings) -> dict[str, RowsMeaning]:
    """Table to the rows it gets."""
    sinks = plan.graph.roots() if plan.graph is not None else ()
    return {table.name: plan.by_node[node.id].rows for node in sinks for table in tables_of(node) if table.identifier}
