"""Where in the SQL expressions and nodes of a plan stand, beside the nodes: what the plan means does not ask it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from execnodes.core.expressions import AggregateCall, Call
from execnodes.core.node import ExecNode, PlanModel
from execnodes.core.places import Place
from plans.format.walk import Path, everywhere, pointer, walk


class PlaceOfCall(PlanModel):
    """The place of a call, or of a node, that can fail while the plan runs."""

    node: int
    """Id of the node that has it."""
    path: str
    """Where in the node: names of properties and numbers from 0, each behind a slash; empty for the node itself."""
    line: int
    """In the script or statement that was compiled, or in the text of a view; from 1."""
    column: int
    text: str
    """The expression, shortened; empty for the statement itself."""
    statement: str = ""
    """What it is a part of, e.g. ``INSERT INTO shop.db.sales``; empty for a query of its own."""


def places_of(nodes: Iterable[ExecNode]) -> tuple[PlaceOfCall, ...]:
    """Of all calls that have one."""
    return tuple(
        PlaceOfCall(
            node=node.id, path=pointer(path), line=at.line, column=at.column, text=at.text, statement=at.statement
        )
        for node in nodes
        for path, call in _calls(node)
        if (at := call.place) is not None
    )  # fmt: skip


def put_places(nodes: Iterable[ExecNode], places: Iterable[PlaceOfCall]) -> None:
    """Give calls their places; one that leads to no call is passed over, since it says nothing about the rows."""
    by_node: dict[int, dict[str, PlaceOfCall]] = {}
    for each in places:
        by_node.setdefault(each.node, {})[each.path] = each
    for node in nodes:
        known = by_node.get(node.id)
        for path, call in _calls(node) if known else ():
            if known and (found := known.get(pointer(path))) is not None:
                call.put(Place(found.statement, found.line, found.column, found.text))


def without_places(plan: str) -> str:
    """The text of a plan as it is without them, to tell whether two are the same but for how their SQL was laid out."""
    # They stand last, and the two characters before the end close the plan.
    cut = plan.rfind(_BEGIN)
    return plan if cut < 0 or plan.find(_END, cut) != len(plan) - len(_END) else plan[:cut] + _CLOSE


_BEGIN, _END, _CLOSE = ',\n  "places": [\n', "\n  ]\n}\n", "\n}\n"


def _calls(node: ExecNode) -> Iterator[tuple[Path, Call | AggregateCall | ExecNode]]:
    found = ((path, value) for path, value, _ in walk(node, True, everywhere))
    return ((path, value) for path, value in found if isinstance(value, Call | AggregateCall | ExecNode))
