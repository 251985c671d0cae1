"""Plans as trees of text."""

import json

from execnodes.core.graph import ExecGraph
from plans.describe import describe, describe_json
from tests.plans.nodes import ROW, ProbeCalc, example


def calc(node_id: int, name: str) -> ProbeCalc:
    return ProbeCalc(id=node_id, projection=(), output_type=ROW, description=f"{name}(x)")


def test_a_chain() -> None:
    assert describe(example()) == "Sink\n+- Count\n   +- Calc\n      +- Scan(orders)\n"


def test_changelog_modes() -> None:
    assert describe(example(), changelog_mode=True).splitlines()[2:] == [
        "   +- Calc(changelogMode=[I])",
        "      +- Scan(orders, changelogMode=[I])",
    ]


def test_shared_nodes_are_shown_once() -> None:
    nodes = tuple(calc(at, name) for at, name in enumerate("abcde", 1))
    graph = ExecGraph.of(nodes, {2: (1,), 3: (1, 2), 4: (2, 3), 5: (3,)})
    assert describe(graph) == (
        "d(x)\n"
        ":- b(x)(reuse_id=[2])\n"
        ":  +- a(x)(reuse_id=[1])\n"
        "+- c(x)(reuse_id=[3])\n"
        "   :- Reused(reference_id=[1])\n"
        "   +- Reused(reference_id=[2])\n"
        "\n"
        "e(x)\n"
        "+- Reused(reference_id=[3])\n"
    )


def test_json() -> None:
    nodes = json.loads(describe_json(example()))["nodes"]
    assert nodes[2] == {
        "id": 5,
        "type": "stream-exec-probe-count_1",
        "contents": "Count",
        "uids": ["5_probe-count"],
        "predecessors": [{"id": 2}],
    }
