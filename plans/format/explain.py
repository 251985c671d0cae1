"""EXPLAIN: a plan as a tree, what each node does, which changes it emits, where its state is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from execnodes.core.errors import PlanError
from execnodes.core.explain_details import DETAILS
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.words import one_line

"""What EXPLAIN can be asked for; changelog modes are always shown."""
TITLE = "== Optimized Execution Plan =="


def explain(graph: ExecGraph, details: Collection[str] = ()) -> str:
    """The tree under a title; JSON_EXECUTION_PLAN and PLAN_ADVICE add a part. PlanError for an unknown detail."""
    wanted = {each.upper() for each in details}
    unknown = sorted(wanted - set(DETAILS))
    if unknown:
        raise PlanError(
            f"a plan cannot be explained with {', '.join(unknown)}",
            hint=f"There is {', '.join(DETAILS)}.",
        )
    lines = [TITLE, *plan_tree(graph)]
    if "ESTIMATED_COST" in wanted:
        lines += [
            "",
            "== Estimated Cost ==",
            "Unknown: plans do not depend on the size of the data, so there is no cost model.",
        ]
    if "PLAN_ADVICE" in wanted:
        lines += ["", "== Advice ==", *(_advice(graph) or ["No available advice."])]
    if "JSON_EXECUTION_PLAN" in wanted:
        lines += ["", "== Physical Execution Plan ==", plan_json(graph)]
    return "\n".join(lines) + "\n"


def plan_tree(graph: ExecGraph) -> Iterator[str]:
    """Lines of the tree, sinks first, inputs below their consumers; a node that several read is written once."""
    readers = Counter(node.id for node in graph.nodes for _ in graph.consumers_of(node))
    shown: set[int] = set()
    for at, root in enumerate(graph.roots()):
        if at:
            yield ""
        yield from _subtree(graph, root, readers, shown, "", "")


def _subtree(
    graph: ExecGraph, node: ExecNode, readers: Counter[int], shown: set[int], first: str, rest: str
) -> Iterator[str]:
    if node.id in shown:
        yield f"{first}[{node.id}] see above"
        return
    shown.add(node.id)
    shared = f"  (read {readers[node.id]} times)" if readers[node.id] > 1 else ""
    yield f"{first}[{node.id}] {one_line(node.description)}  {_changes(node)}{shared}"
    inputs = graph.inputs_of(node)
    bar = "│  " if inputs else "   "
    for line in _state_lines(node):
        yield f"{rest}{bar}  {line}"
    for at, each in enumerate(inputs):
        last = at == len(inputs) - 1
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield from _subtree(graph, each, readers, shown, rest + branch, rest + below)


def _changes(node: ExecNode) -> str:
    return "[" + ", ".join(kind.short for kind in sorted(node.changelog_mode)) + "]"


def _state_lines(node: ExecNode) -> Iterator[str]:
    uids = node.uids()
    if uids:
        states = ", ".join(f"{each.name} (ttl {each.ttl})" for each in node.state)
        yield one_line(f"uid {', '.join(uids)}{f': {states}' if states else ''}")


def plan_json(graph: ExecGraph) -> str:
    """The same as JSON: nodes in the order of the plan."""
    nodes: list[dict[str, Any]] = [
        {
            "id": node.id,
            "type": str(node.key),
            "description": node.description,
            "changelogMode": [kind.short for kind in sorted(node.changelog_mode)],
            "uids": list(node.uids()),
            "state": [{"name": each.name, "ttl": each.ttl} for each in node.state],
            "inputs": list(graph.inputs[node.id]),
            "outputType": str(node.output_type),
        }
        for node in graph.nodes
    ]
    document = {"engineVersion": graph.engine_version, "maxParallelism": graph.max_parallelism, "nodes": nodes}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _advice(graph: ExecGraph) -> list[str]:
    """State that is kept for ever although rows change, by node."""
    endless = [
        node
        for node in graph.nodes
        if not node.changelog_mode.insert_only and node.uids() and any(each.ttl.startswith("0 ") for each in node.state)
    ]
    return [
        f"advice[{number}]: node {node.id} ({node.key}) keeps its state for ever; "
        "consider 'table.exec.state.ttl' or a STATE_TTL hint."
        for number, node in enumerate(endless, 1)
    ]
