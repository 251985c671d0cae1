"""Finds which intended changes concern a plan: those since its release that touch a node or a call that it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from execnodes.core.expressions import AggregateCall, Call
from execnodes.core.graph import ExecGraph
from execnodes.core.metadata import NodeKey
from execnodes.core.node import ExecNode
from execnodes.core.version import version_tuple
from execnodes.intended_changes import INTENDED_CHANGES, IntendedChange
from plans.format.walk import everywhere, walk


@dataclass(frozen=True, slots=True)
class RelevantChange:
    """An intended change, and where it shows in a plan."""

    change: IntendedChange
    nodes: tuple[int, ...]
    """Ids, ascending."""

    def __str__(self) -> str:
        change, nodes = self.change, ", ".join(map(str, self.nodes))
        return (
            f"intended change {change.id} of {change.since} concerns node {nodes} ({change.component}): "
            f"before: {change.before}; now: {change.now}; reason: {change.reason}"
        )

    def document(self) -> dict[str, object]:
        """Encode it as JSON values."""
        change = self.change
        return {
            "id": change.id, "component": change.component, "since": change.since, "nodes": list(self.nodes),
            "before": change.before, "now": change.now, "reason": change.reason, "program": change.program,
        }  # fmt: skip


def find_intended_changes(
    graph: ExecGraph, engine_version: str, changes: Sequence[IntendedChange] = INTENDED_CHANGES
) -> tuple[RelevantChange, ...]:
    """Return changes since `engine_version`, the release that made or last ran the plan, that concern the plan."""
    newer = [change for change in changes if _engine_version(change) > version_tuple(engine_version)]
    if not newer:
        return ()
    calls = {node.id: tuple(_calls(node)) for node in graph.nodes}
    found = ((change, _find_nodes(graph, change, calls)) for change in newer)
    return tuple(RelevantChange(change, nodes) for change, nodes in found if nodes)


def _engine_version(change: IntendedChange) -> tuple[int, int]:
    """Return that of the release; patches share it."""
    return version_tuple(change.since.rpartition(".")[0])


def _find_nodes(
    graph: ExecGraph, change: IntendedChange, calls: dict[int, tuple[Call | AggregateCall, ...]]
) -> tuple[int, ...]:
    nodes = (node for node in graph.nodes if _has_component(node, change, calls[node.id]))
    return tuple(sorted(node.id for node in nodes if change.concerns is None or change.concerns(graph, node)))


def _has_component(node: ExecNode, change: IntendedChange, calls: tuple[Call | AggregateCall, ...]) -> bool:
    if change.component.startswith("$"):
        named = (call for call in calls if call.internal_name == change.component)
        return any(change.concerns_call is None or change.concerns_call(call) for call in named)
    try:
        return node.key == NodeKey.parse(change.component)
    except ValueError:
        return True


def _calls(node: ExecNode) -> Iterator[Call | AggregateCall]:
    return (value for _, value, _ in walk(node, True, everywhere) if isinstance(value, Call | AggregateCall))
