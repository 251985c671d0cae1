"""What sources have made of values that did not fit the types that their columns had: it is in states that go on."""

from __future__ import annotations

from collections.abc import Iterator

from execnodes.core.widening import Widening, widens
from execnodes.terms.shown import shown
from execnodes.terms.term import Term, below
from plans.compatibility.plan_meanings import Meanings, known_name
from plans.compatibility.term_types import type_of
from plans.format.node_tables import tables_of

_CUT = Widening.DIGITS | Widening.SCALE | Widening.FRACTION
"""Values that connectors cut or take for NULL where they do not fit; texts pass, other numbers fail."""
_LENIENT = "ignore-parse-errors"


def notes(old: Meanings, new: Meanings) -> tuple[str, ...]:
    """A sentence for each column that states hold of which something may be missing."""
    before = {_place(each): each for each in _columns(old)}
    lenient = _lenient(old)
    return tuple(dict.fromkeys(_notes(before, _columns(new), lenient)))


def _notes(before: dict[tuple[Term, Term], Term], after: Iterator[Term], lenient: frozenset[str]) -> Iterator[str]:
    for column in after:
        was, now = type_of(before.get(_place(column), column)), type_of(column)
        how = widens(was, now) if was is not None and now is not None else None
        cut = _CUT | Widening.INTEGER if column["table"][0].says in lenient else _CUT
        if how is not None and how & cut:
            yield f"{shown(column)} was {was}: of rows that have been read, what did not fit it is cut or NULL"


def _place(column: Term) -> tuple[Term, Term]:
    return column["table"][0], column["name"][0]


def _columns(plan: Meanings) -> Iterator[Term]:
    """Columns of tables that states hold, or depend on, each once."""
    seen: set[str] = set()
    for state in plan:
        for term in (*state.parts.values(), *(each.meaning for each in state.columns)):
            for each in below(term, lambda term: term.digest not in seen):
                seen.add(each.digest)
                if each.kind == "column" and each["table"]:
                    yield each


def _lenient(plan: Meanings) -> frozenset[str]:
    """Tables that take NULL for what they cannot read."""
    graph = plan.graph
    if graph is None:
        return frozenset()
    return frozenset(
        known_name(graph, table.name)
        for node in graph.nodes
        for table in tables_of(node)
        if table.resolved_table is not None
        for key, value in (table.resolved_table.options or {}).items()
        if key.endswith(_LENIENT) and value == "true"
    )
