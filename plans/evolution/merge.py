"""Two plans as one graph: what both have stands in it once, what only one has beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from plans.evolution.diff import NodeDifference, PlanDifference, Standing, difference


@dataclass(frozen=True, slots=True)
class Box:
    """A node of the merged graph."""

    key: str
    """Unique; the node's id, with ``-old`` behind it where another kind of node has that id now."""
    difference: NodeDifference
    """Never REPLACED: such a node is two boxes."""

    @property
    def node(self) -> ExecNode:
        """The node of the new plan, if it has it."""
        return self.difference.node

    @property
    def standing(self) -> Standing:
        """What has become of it."""
        return self.difference.standing


@dataclass(frozen=True, slots=True)
class MergedEdge:
    """From box to box."""

    source: str
    target: str
    standing: Standing
    """SAME, ADDED or REMOVED."""


@dataclass(frozen=True, slots=True)
class MergedGraph:
    """Both plans."""

    boxes: tuple[Box, ...]
    """By id."""
    edges: tuple[MergedEdge, ...]
    difference: PlanDifference


def merge(old: ExecGraph, new: ExecGraph) -> MergedGraph:
    """Nodes are one where id and kind are the same, and with them the uids of their operators."""
    found = difference(old, new)
    replaced = {each.id for each in found.nodes if each.standing is Standing.REPLACED}
    boxes: list[Box] = []
    for each in found.nodes:
        if each.standing is not Standing.REPLACED:
            boxes.append(Box(str(each.id), each))
            continue
        boxes.append(Box(f"{each.id}-old", NodeDifference(each.id, each.old, None, Standing.REMOVED)))
        boxes.append(Box(str(each.id), NodeDifference(each.id, None, each.new, Standing.ADDED, twin=each.twin)))

    before = _edges(old, lambda id: f"{id}-old" if id in replaced else str(id))
    after = _edges(new, str)
    edges = [MergedEdge(*ends, Standing.SAME if ends in before else Standing.ADDED) for ends in after]
    edges += [MergedEdge(*ends, Standing.REMOVED) for ends in before if ends not in after]
    return MergedGraph(tuple(boxes), tuple(edges), found)


def _edges(graph: ExecGraph, key: Callable[[int], str]) -> list[tuple[str, str]]:
    """Each once, in the order of nodes and inputs."""
    return list(dict.fromkeys((key(source), key(node.id)) for node in graph.nodes for source in graph.inputs[node.id]))
