"""Equal sub-plans become one node: a node is made once for the same inputs and the same fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode


class PlanBuilder:
    """Collects nodes; ids count from 1 in the order in which nodes are first needed, inputs before consumers."""

    def __init__(self, reuse: bool) -> None:
        """`reuse` False makes a new node each time (`table.optimizer.reuse-sub-plan-enabled`)."""
        self.reuse = reuse
        self.nodes: list[ExecNode] = []
        self.inputs: dict[int, tuple[int, ...]] = {}
        self._known: dict[tuple[type[ExecNode], tuple[int, ...], str], ExecNode] = {}

    def add(self, cls: type[ExecNode], inputs: Sequence[ExecNode], fields: Mapping[str, Any], share: bool) -> ExecNode:
        """The node with these fields over these inputs: an earlier one if there is one and both may `share`."""
        node = cls.model_validate({"id": len(self.nodes) + 1, **fields})
        sources = tuple(each.id for each in inputs)
        if share and self.reuse:
            key = (cls, sources, node.model_dump_json(exclude={"id"}))
            known = self._known.setdefault(key, node)
            if known is not node:
                return known
        self.nodes.append(node)
        self.inputs[node.id] = sources
        return node

    def graph(self, max_parallelism: int) -> ExecGraph:
        """All nodes; PlanError if they do not fit together."""
        return ExecGraph.of(tuple(self.nodes), self.inputs, max_parallelism)
