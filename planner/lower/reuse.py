"""Equal sub-plans become one node: a node is made once for the same inputs and the same fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from execnodes.core.errors import SqlError
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from planner.limits import MAX_NODES
from planner.lower.compiled import CompiledNodes
from planner.lower.digest import content


class PlanBuilder:
    """Collects nodes; ids count from 1 in the order in which nodes are first needed, inputs before consumers.

    Nodes of compiled plans come first, under the ids they have where those are free; the count then goes on behind
    the largest.
    """

    def __init__(self, reuse: bool) -> None:
        """`reuse` False makes a new node each time (`table.optimizer.reuse-sub-plan-enabled`)."""
        self.reuse = reuse
        self.nodes: dict[int, ExecNode] = {}
        self.inputs: dict[int, tuple[int, ...]] = {}
        self._last_id = 0
        self._plans = CompiledNodes()
        self._known: dict[tuple[type[ExecNode], tuple[int, ...], str], ExecNode] = {}

    def add(self, node: ExecNode, inputs: Sequence[ExecNode], share: bool) -> ExecNode:
        """The node over these inputs, with its id; an earlier equal one, if there is one and both may `share`."""
        node = node.replaced(id=self._last_id + 1)
        sources = tuple(each.id for each in inputs)
        if share and self.reuse:
            key = (type(node), sources, content(node, frozenset({"id"})))
            known = self._known.setdefault(key, node)
            if known is not node:
                return known
        if len(self.nodes) == MAX_NODES:
            raise SqlError(
                f"the plan has more than {MAX_NODES} nodes",
                hint="Split the statement into several, or SET 'table.optimizer.reuse-sub-plan-enabled' = 'true'.",
            )
        self.nodes[node.id] = node
        self.inputs[node.id] = sources
        self._last_id = node.id
        return node

    def include(self, graph: ExecGraph) -> Mapping[int, int]:
        """Take the nodes of a compiled plan, before any other is added; its ids to those here. See `CompiledNodes`."""
        ids = self._plans.add(graph)
        self.nodes.update(self._plans.nodes)
        self.inputs.update(self._plans.inputs)
        self._last_id = max(self.nodes, default=0)
        return ids

    def graph(self, max_parallelism: int) -> ExecGraph:
        """All nodes; PlanError if they do not fit together. The max parallelism of a compiled plan stays in force."""
        return ExecGraph.of(tuple(self.nodes.values()), self.inputs, self._plans.max_parallelism or max_parallelism)
