"""The tree of nodes of a plan as text, in the form of Flink's EXPLAIN: consumers above their inputs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode

TITLE = "== Optimized Execution Plan =="


def describe(graph: ExecGraph, *, changelog_mode: bool = False) -> str:
    """One line a node, a blank line between sinks; a node with several consumers is shown in full once.

    With `changelog_mode` each line also tells the kinds of row that the node emits.
    """
    used = Counter(node.id for node in graph.nodes for _ in graph.consumers_of(node))
    numbers = {node.id: at for at, node in enumerate((n for n in graph.nodes if used[n.id] > 1), 1)}
    shown: set[int] = set()
    trees = ["\n".join(_tree(graph, root, numbers, shown, changelog_mode, "", "")) for root in graph.roots()]
    return "\n\n".join(trees) + "\n"


def describe_json(graph: ExecGraph) -> str:
    """The nodes with their predecessors as JSON (EXPLAIN JSON_EXECUTION_PLAN)."""
    nodes = [
        {
            "id": node.id,
            "type": str(node.key),
            "contents": node.description,
            "uids": list(node.uids()),
            "predecessors": [{"id": each} for each in graph.inputs[node.id]],
        }
        for node in graph.nodes
    ]
    return json.dumps({"nodes": nodes}, indent=2, ensure_ascii=False) + "\n"


def _tree(
    graph: ExecGraph, node: ExecNode, numbers: dict[int, int], shown: set[int], mode: bool, first: str, rest: str
) -> Iterator[str]:
    number = numbers.get(node.id)
    if node.id in shown:
        yield f"{first}Reused(reference_id=[{number}])"
        return
    shown.add(node.id)
    yield first + _line(node, number, mode)
    inputs = graph.inputs_of(node)
    for at, each in enumerate(inputs):
        last = at == len(inputs) - 1
        yield from _tree(graph, each, numbers, shown, mode, f"{rest}+- " if last else f"{rest}:- ", rest + _bar(last))


def _bar(last: bool) -> str:
    return "   " if last else ":  "


def _line(node: ExecNode, number: int | None, mode: bool) -> str:
    text = node.description
    if mode:
        added = f"changelogMode=[{node.changelog_mode}]"
        text = f"{text[:-1]}, {added})" if text.endswith(")") else f"{text}({added})"
    return f"{text}(reuse_id=[{number}])" if number else text
