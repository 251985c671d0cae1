"""ExecGraph: where fresh and restored plans meet. Nodes in topological order, and who feeds whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from execnodes.core.errors import PlanError
from execnodes.core.node import ExecNode
from execnodes.core.version import ENGINE_VERSION


@dataclass(frozen=True, slots=True)
class ExecGraph:
    """A pipeline of nodes; make one with `of`."""

    nodes: tuple[ExecNode, ...]
    """Inputs before consumers."""
    inputs: Mapping[int, tuple[int, ...]]
    """Node id to the ids of its inputs, in order."""
    max_parallelism: int = 8
    """Number of key groups of every stateful operator."""
    by_id: Mapping[int, ExecNode] = field(default_factory=dict)
    engine_version: str = ENGINE_VERSION
    """Release that compiled the plan."""
    last_node_id: int | None = None
    """Largest id ever given in this plan and those it evolved from; None: no larger one than those of the nodes."""
    job_options: Mapping[str, str] = field(default_factory=dict)
    """Defaults of the job that runs the plan; what the plan means does not depend on them."""
    table_aliases: Mapping[str, str] = field(default_factory=dict)
    """Dotted names of tables to those by which plans before this one knew them, and by which states mean them."""

    @classmethod
    def of(
        cls,
        nodes: tuple[ExecNode, ...],
        inputs: Mapping[int, tuple[int, ...]],
        max_parallelism: int = 8,
        engine_version: str = ENGINE_VERSION,
    ) -> ExecGraph:
        """Check ids, edges, uids and types; PlanError says what does not fit."""
        check_order(nodes, inputs)
        every = {node.id: tuple(inputs.get(node.id, ())) for node in nodes}
        graph = cls(nodes, every, max_parallelism, {node.id: node for node in nodes}, engine_version)
        graph._check_modes()
        graph._check_types()
        graph._check_uids()
        return graph

    def with_nodes(self, nodes: tuple[ExecNode, ...]) -> ExecGraph:
        """The same plan with other nodes under the same ids."""
        made = ExecGraph.of(nodes, self.inputs, self.max_parallelism, self.engine_version)
        return replace(
            made, last_node_id=self.last_node_id, job_options=self.job_options, table_aliases=self.table_aliases
        )

    @property
    def batch(self) -> bool:
        """Whether the nodes are those of a batch job; all are, or none."""
        return any(node.key.batch for node in self.nodes)

    def inputs_of(self, node: ExecNode) -> tuple[ExecNode, ...]:
        """The nodes that feed `node`, in order."""
        return tuple(self.by_id[each] for each in self.inputs.get(node.id, ()))

    def consumers_of(self, node: ExecNode) -> tuple[ExecNode, ...]:
        """The nodes that read `node`; one that reads it twice occurs twice."""
        return tuple(other for other in self.nodes for each in self.inputs.get(other.id, ()) if each == node.id)

    def roots(self) -> Iterator[ExecNode]:
        """Nodes that nothing consumes: the sinks."""
        consumed = {each for sources in self.inputs.values() for each in sources}
        return (node for node in self.nodes if node.id not in consumed)

    def event_times(self) -> Mapping[int, frozenset[int]]:
        """Output columns that are event time, by node id."""
        found: dict[int, frozenset[int]] = {}
        for node in self.nodes:
            found[node.id] = node.event_times(tuple(found[each] for each in self.inputs[node.id]))
        return found

    def _check_modes(self) -> None:
        if not self.batch:
            return
        for node in self.nodes:
            if not node.key.batch:
                raise node.fail(
                    "streaming and batch nodes do not mix in one plan",
                    "Compile the statement anew, with one execution.runtime-mode.",
                )

    def _check_types(self) -> None:
        for node in self.nodes:
            node.check(tuple(each.output_type for each in self.inputs_of(node)))

    def _check_uids(self) -> None:
        owners: dict[str, ExecNode] = {}
        for node in self.nodes:
            for uid in node.addresses():
                if uid in owners:
                    raise node.fail(
                        f"its operator uid {uid!r} is also one of node {owners[uid].id}",
                        "Make table.exec.uid.format contain <id> and <operator>.",
                    )
                owners[uid] = node


def check_order(nodes: tuple[ExecNode, ...], inputs: Mapping[int, tuple[int, ...]]) -> None:
    """PlanError unless every id is there once, and inputs come before those that read them."""
    ids = Counter(node.id for node in nodes)
    for node_id, times in ids.items():
        if times > 1:
            raise PlanError(f"node id {node_id} occurs {times} times", where="nodes", hint="Give every node its own.")
    seen: set[int] = set()
    for node in nodes:
        for source in inputs.get(node.id, ()):
            if source not in ids:
                raise node.fail(f"its input {source} is not a node of the plan")
            if source not in seen:
                raise node.fail(f"its input {source} comes after it", "List the nodes inputs first, without cycles.")
        seen.add(node.id)
