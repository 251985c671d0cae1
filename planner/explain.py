"""EXPLAIN: a tree for each sink, as text; parts that several consumers read are written once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode

DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")
"""What EXPLAIN can be asked for; changelog modes are always shown, and there is no cost model."""


def explain(graph: ExecGraph, details: Collection[str] = ()) -> str:
    """The nodes with id, type, changelog mode and uids; JSON_EXECUTION_PLAN and PLAN_ADVICE add a part below."""
    lines = ["== Optimized Execution Plan =="]
    writer = _Writer(graph)
    for number, root in enumerate(graph.roots()):
        lines += ([""] if number else []) + list(writer.tree(root, "", ""))
    if "PLAN_ADVICE" in details:
        lines += ["", "== Advice ==", *(_advice(graph) or ["No available advice..."])]
    if "JSON_EXECUTION_PLAN" in details:
        lines += ["", "== Physical Execution Plan ==", json.dumps(_json(graph), indent=2)]
    return "\n".join(lines) + "\n"


class _Writer:
    def __init__(self, graph: ExecGraph) -> None:
        self.graph = graph
        shared = [node.id for node in graph.nodes if len(graph.consumers_of(node)) > 1]
        self.reuse_ids = {node_id: number for number, node_id in enumerate(shared, 1)}
        self.written: set[int] = set()

    def tree(self, node: ExecNode, first: str, rest: str) -> Iterator[str]:
        """Lines of a node and of what it reads; `first` leads its own line, `rest` those below."""
        reuse = self.reuse_ids.get(node.id)
        if node.id in self.written:
            yield f"{first}Reused(reference_id=[{reuse}])"
            return
        self.written.add(node.id)
        mark = f"(reuse_id=[{reuse}])" if reuse else ""
        yield f"{first}{node.description}{mark}  {{{_about(node)}}}"
        sources = self.graph.inputs_of(node)
        for number, source in enumerate(sources, 1):
            last = number == len(sources)
            yield from self.tree(source, rest + ("+- " if last else ":- "), rest + ("   " if last else ":  "))


def _about(node: ExecNode) -> str:
    parts = [f"id={node.id}", f"type={node.key}", f"changelogMode=[{node.changelog_mode}]"]
    parts += [f"uid={uid}" for uid in node.uids()]
    parts += [f"ttl({each.name})={each.ttl}" for each in node.state if not each.ttl.startswith("0 ")]
    return ", ".join(parts)


def _advice(graph: ExecGraph) -> list[str]:
    """State that is kept for ever, by node."""
    endless = [node for node in graph.nodes if node.uids() and any(each.ttl.startswith("0 ") for each in node.state)]
    unbounded = [node for node in endless if not node.changelog_mode.insert_only]
    return [
        f"advice[{number}]: node {node.id} ({node.key}) keeps its state for ever; "
        "consider 'table.exec.state.ttl' or a STATE_TTL hint."
        for number, node in enumerate(unbounded, 1)
    ]


def _json(graph: ExecGraph) -> dict[str, object]:
    """Shape of Flink's JSON execution plan."""
    kinds = {True: "Data Source", False: "Operator"}
    roots = {node.id for node in graph.roots()}
    return {
        "nodes": [
            {
                "id": node.id,
                "type": str(node.key),
                "pact": "Data Sink" if node.id in roots else kinds[not graph.inputs.get(node.id)],
                "contents": node.description,
                "parallelism": graph.max_parallelism,
                "predecessors": [{"id": each} for each in graph.inputs.get(node.id, ())],
            }
            for node in graph.nodes
        ]
    }
