"""Query evolution: a newly compiled plan takes over the ids of the nodes of an old one that mean the same.

A uid begins with its node's id, and state is found by its uid; so this decides what goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from execnodes.core.graph import ExecGraph
from execnodes.core.node import DEFAULT_UID_FORMAT, UID_FORMAT, ExecNode, StateMetadata
from plans.compatibility.compare import Comparison, compare
from plans.compatibility.find_intended_changes import find_intended_changes
from plans.compatibility.outputs import notes
from plans.compatibility.physical_tables import Moves, with_moved_names, with_places
from plans.compatibility.plan_meanings import Meanings, meanings
from plans.evolution.match import Matching
from plans.format.find_lost_conditions import find_lost_conditions

NO_TTL = "0 ms"


@dataclass(frozen=True, slots=True)
class Evolution:
    """A plan that goes on where another one was."""

    graph: ExecGraph
    comparison: Comparison
    """What becomes of the old plan's state."""
    before: Meanings
    after: Meanings
    """What was compared."""


def evolve(
    old: ExecGraph,
    new: ExecGraph,
    *,
    keep_ttl: bool = True,
    keep_parallelism: bool = True,
    moves: Moves = MappingProxyType({}),
) -> Evolution:
    """`new` with the ids of the nodes of `old` that mean the same; all others get ids that `old` has never used.

    `keep_ttl`: states without TTL take over that of the state they go on from, so that edits of a plan survive;
    `keep_parallelism`: the old plan's max parallelism stays; `moves`: tables that have other names or places now.
    """
    new = with_moved_names(old, new, moves)
    kept = Matching(old, new).pairs()
    ids = _ids(old, new, kept)
    nodes = tuple(_renamed(node, ids[node.id], old.by_id.get(kept.get(node.id, -1)), keep_ttl) for node in new.nodes)
    inputs = {ids[node]: tuple(ids[each] for each in below) for node, below in new.inputs.items()}
    groups = old.max_parallelism if keep_parallelism else new.max_parallelism
    made = ExecGraph.of(nodes, inputs, groups, new.engine_version)
    last = max(_used(old), *ids.values())
    unused = last if last > max(made.by_id) else None
    graph = replace(made, last_node_id=unused, job_options=new.job_options, table_aliases=new.table_aliases)
    before, after = meanings(old), meanings(graph)
    changes = find_intended_changes(old, old.engine_version)
    found = with_places(compare(before, after, compiling=True), old, graph, moves)
    lost = (f"old plan: {each}" for each in find_lost_conditions(old))
    comparison = replace(found, notes=(*found.notes, *notes(before, after), *lost), intended_changes=changes)
    return Evolution(graph, comparison, before, after)


def _ids(old: ExecGraph, new: ExecGraph, kept: Mapping[int, int]) -> dict[int, int]:
    """Ids in `new` to ids in the plan that is made; new ones count on, in the order of the nodes."""
    taken = {uid for node in old.nodes for uid in node.addresses()}
    free = _used(old)
    ids = dict(kept)
    for node in new.nodes:
        if node.id not in ids:
            free += 1
            while taken & set(node.replaced(id=free).addresses()):
                free += 1
            ids[node.id] = free
    return ids


def _used(graph: ExecGraph) -> int:
    """The largest id that has ever been given; uids may begin with ids that their nodes had in other plans."""
    return max(graph.last_node_id or 0, *graph.by_id, *_numbers(graph.nodes))


def _numbers(nodes: Iterable[ExecNode]) -> Iterable[int]:
    uids = (uid for node in nodes for uid in node.addresses())
    return [int(match[0]) for uid in uids if (match := re.match(r"\d{1,9}(?=_)", uid))]


def _renamed(node: ExecNode, id: int, origin: ExecNode | None, keep_ttl: bool) -> ExecNode:
    if origin is None:
        return node.replaced(id=id)
    changes: dict[str, object] = {"id": id}
    if UID_FORMAT in node.metadata.consumed_options:
        changes["configuration"] = _addressed(node, origin)
    if keep_ttl:
        changes["state"] = tuple(_aged(each, origin) for each in node.state)
    return node.replaced(**changes)


def _addressed(node: ExecNode, origin: ExecNode) -> dict[str, str]:
    """The options of a node, with the form of uid that leads to those of its origin."""
    options = {key: value for key, value in node.configuration.items() if key != UID_FORMAT}
    form = pinned(origin, node)
    return dict(sorted({**options, UID_FORMAT: form}.items())) if form is not None else options


def pinned(origin: ExecNode, node: ExecNode) -> str | None:
    """The form of uid of a node, for one that takes its place: versions and names in it stay what they were."""
    form = origin.configuration.get(UID_FORMAT)
    if form is None or origin.key == node.key:
        return form
    said = form.replace("<version>", str(origin.key.version)).replace("<type>", origin.key.name)
    return said if said != DEFAULT_UID_FORMAT else None


def _aged(state: StateMetadata, origin: ExecNode) -> StateMetadata:
    before = next((each.ttl for each in origin.state if each.name == state.name), NO_TTL)
    return state.model_copy(update={"ttl": before}) if state.ttl == NO_TTL else state
