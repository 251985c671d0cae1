"""Nodes of compiled plans in one graph: ids give way to each other, the addresses of state do not."""

from __future__ import annotations

from collections.abc import Mapping

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.node import DEFAULT_UID_FORMAT, UID_FORMAT, ExecNode


class CompiledNodes:
    """Takes the nodes of plans one after the other; see docs/decisions/0007."""

    def __init__(self) -> None:
        self.nodes: dict[int, ExecNode] = {}
        self.inputs: dict[int, tuple[int, ...]] = {}
        self.max_parallelism: int | None = None
        self._uids: dict[str, ExecNode] = {}
        self._placed: dict[int, list[tuple[ExecNode, tuple[int, ...], int]]] = {}
        """Id in its own plan to the nodes that had it, their inputs here and their id here."""

    def add(self, graph: ExecGraph) -> Mapping[int, int]:
        """Ids in the plan to ids here. A node that is here already, over the same inputs, is not taken twice.

        PlanError if another plan's node has the same uid for its state, or the plans split state in another way.
        """
        self._check_parallelism(graph.max_parallelism)
        ids: dict[int, int] = {}
        free = max([*self.nodes, *graph.by_id], default=0) + 1
        for node in graph.nodes:
            inputs = tuple(ids[each] for each in graph.inputs[node.id])
            known = self._known(node, inputs)
            if known is None:
                known = node.id if node.id not in self.nodes else free
                free += known == free
                self._place(node, inputs, known)
            ids[node.id] = known
        return ids

    def _known(self, node: ExecNode, inputs: tuple[int, ...]) -> int | None:
        placed = self._placed.get(node.id, [])
        return next((at for other, below, at in placed if other == node and below == inputs), None)

    def _place(self, node: ExecNode, inputs: tuple[int, ...], at: int) -> None:
        placed = node if at == node.id else _moved(node, at)
        for uid in placed.addresses():
            if uid in self._uids:
                raise node.fail(
                    f"another compiled plan that runs with it has {self._uids[uid].description} under the same uid "
                    f"{uid!r}",
                    "State belongs to its uid, so only one can have it. Read one of the plans under other uids, where "
                    "it starts without state: add_plan(plan, uid_prefix='b') or from_plan(plan, uid_prefix='b').",
                )
            self._uids[uid] = node
        self.nodes[at], self.inputs[at] = placed, inputs
        self._placed.setdefault(node.id, []).append((node, inputs, at))

    def _check_parallelism(self, given: int) -> None:
        if self.max_parallelism not in (None, given):
            raise PlanError(
                f"compiled plans that are read together have a max parallelism of {self.max_parallelism} and of "
                f"{given}, by which their state is split",
                hint="Compile the plans with the same pipeline.max-parallelism.",
            )
        self.max_parallelism = given


def prefixed(graph: ExecGraph, prefix: str | None) -> ExecGraph:
    """The same plan with ``<prefix>_`` before the uids of all that a savepoint has."""
    if prefix is None:
        return graph
    if not prefix.replace("_", "a").isalnum() or not prefix.isascii():
        raise PlanError(f"{prefix!r} is no prefix for uids", hint="Write letters, digits and '_'.")
    nodes = tuple(_formatted(each, f"{prefix}_{_format(each)}") if each.addresses() else each for each in graph.nodes)
    return graph.with_nodes(nodes)


def _moved(node: ExecNode, at: int) -> ExecNode:
    """Under another id, but where a savepoint has something of it, with the uid it had."""
    kept = _formatted(node, _format(node).replace("<id>", str(node.id))) if node.addresses() else node
    return kept.replaced(id=at)


def _format(node: ExecNode) -> str:
    return node.configuration.get(UID_FORMAT, DEFAULT_UID_FORMAT)


def _formatted(node: ExecNode, uid_format: str) -> ExecNode:
    return node.replaced(configuration=dict(sorted({**node.configuration, UID_FORMAT: uid_format}.items())))
