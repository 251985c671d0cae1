"""Plans as trees of text."""

from __future__ import annotations

import json

import pytest

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from plans.format.explain import TITLE, explain, plan_json, plan_tree
from tests.plans.nodes import ROW, ProbeCalc, example


def calc(node_id: int, name: str) -> ProbeCalc:
    return ProbeCalc(id=node_id, projection=(), output_type=ROW, description=f"{name}(x)")


def test_a_chain_with_changes_and_uids() -> None:
    lines = list(plan_tree(example()))
    assert lines[0].startswith("[6] Sink  [+I")
    heads = [line.strip("│└─ ").split("  ")[0] for line in lines]
    assert [head for head in heads if head.startswith("[")] == ["[6] Sink", "[5] Count", "[2] Calc", "[1] Scan(orders)"]
    assert any("uid 5_probe-count" in line for line in lines)


def test_shared_nodes_are_written_once() -> None:
    nodes = tuple(calc(at, name) for at, name in enumerate("abcde", 1))
    graph = ExecGraph.of(nodes, {2: (1,), 3: (1, 2), 4: (2, 3), 5: (3,)})
    assert list(plan_tree(graph)) == [
        "[4] d(x)  [+I]",
        "├─ [2] b(x)  [+I]  (read 2 times)",
        "│  └─ [1] a(x)  [+I]  (read 2 times)",
        "└─ [3] c(x)  [+I]  (read 2 times)",
        "   ├─ [1] see above",
        "   └─ [2] see above",
        "",
        "[5] e(x)  [+I]",
        "└─ [3] see above",
    ]


def test_json_holds_what_the_tree_shows() -> None:
    nodes = json.loads(plan_json(example()))["nodes"]
    assert (nodes[2]["id"], nodes[2]["uids"], nodes[2]["inputs"]) == (5, ["5_probe-count"], [2])


def test_details_add_parts_and_unknown_ones_are_refused() -> None:
    text = explain(example(), ["plan_advice", "JSON_EXECUTION_PLAN"])
    assert text.startswith(TITLE)
    assert "== Advice ==" in text
    json.loads(text[text.index("== Physical Execution Plan ==") :].split("\n", 1)[1])
    assert "no cost model" in explain(example(), ["ESTIMATED_COST"])
    with pytest.raises(PlanError, match="COLOUR"):
        explain(example(), ["COLOUR"])
