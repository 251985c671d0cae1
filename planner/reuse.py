"""Equal sub-plans become one node: a node is made once for the same inputs and the same fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode


class PlanBuilder:
    """Collects nodes; ids count from 1 in the order in which nodes are first needed, inputs before consumers.

    Nodes of compiled plans come first, under the ids they have; the count then goes on behind the largest.
    """

    def __init__(self, reuse: bool) -> None:
        """`reuse` False makes a new node each time (`table.optimizer.reuse-sub-plan-enabled`)."""
        self.reuse = reuse
        self.nodes: dict[int, ExecNode] = {}
        self.inputs: dict[int, tuple[int, ...]] = {}
        self._max_parallelism: int | None = None
        self._known: dict[tuple[type[ExecNode], tuple[int, ...], str], ExecNode] = {}

    def add(self, cls: type[ExecNode], inputs: Sequence[ExecNode], fields: Mapping[str, Any], share: bool) -> ExecNode:
        """The node with these fields over these inputs: an earlier one if there is one and both may `share`."""
        node = cls.model_validate({"id": max(self.nodes, default=0) + 1, **fields})
        sources = tuple(each.id for each in inputs)
        if share and self.reuse:
            key = (cls, sources, node.model_dump_json(exclude={"id"}))
            known = self._known.setdefault(key, node)
            if known is not node:
                return known
        self.nodes[node.id] = node
        self.inputs[node.id] = sources
        return node

    def graft(self, graph: ExecGraph) -> None:
        """Take the nodes of a compiled plan as they are; PlanError if other nodes have their ids already."""
        for node in graph.nodes:
            known = self.nodes.get(node.id, node)
            if known != node or self.inputs.get(node.id, graph.inputs[node.id]) != graph.inputs[node.id]:
                raise node.fail(
                    f"another compiled plan that is read with it has a different node {node.id} ({known.key})",
                    "Plans keep the ids of their nodes, so both must be parts of one plan: compile one of the queries "
                    "and write the other in SQL.",
                )
            self.nodes[node.id] = node
            self.inputs[node.id] = graph.inputs[node.id]
        if self._max_parallelism not in (None, graph.max_parallelism):
            raise PlanError(
                f"compiled plans that are read together have a max parallelism of {self._max_parallelism} and of "
                f"{graph.max_parallelism}, by which their state is split",
                hint="Compile the plans with the same pipeline.max-parallelism.",
            )
        self._max_parallelism = graph.max_parallelism

    def graph(self, max_parallelism: int) -> ExecGraph:
        """All nodes; PlanError if they do not fit together. The max parallelism of a compiled plan stays in force."""
        return ExecGraph.of(tuple(self.nodes.values()), self.inputs, self._max_parallelism or max_parallelism)
