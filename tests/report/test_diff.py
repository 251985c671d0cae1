"""What two plans differ in, over pairs of queries and edited plans."""

from __future__ import annotations

import json

import pytest

from execnodes.core.graph import ExecGraph
from plans.evolution.diff import PlanDifference, Standing, difference
from plans.format.load import load
from tests.check.plans import JOIN, plan
from tests.plans.corpus import graphs

SUM = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
FILTERED = "SELECT k, v + 1 AS x FROM r WHERE w > 5"


def of(old: str, new: str) -> PlanDifference:
    return difference(load(old), load(new))


@pytest.mark.xdist_group("corpus")
def test_a_plan_equals_itself() -> None:
    for name, graph in graphs().items():
        found = difference(graph, graph)
        assert not found, name
        assert {each.standing for each in found.nodes} == {Standing.SAME}
        assert found.summary == "the plans are equal"


@pytest.mark.parametrize(
    ("old", "new", "node", "path", "values"),
    [
        (SUM, SUM.replace("SUM", "MAX"), 6, "aggCalls[0].internalName", ('"$SUM$1"', '"$MAX$1"')),
        (FILTERED, FILTERED.replace("5", "3"), 2, "condition", ("$>$1(#2, 5)", "$>$1(#2, 3)")),
        (FILTERED, FILTERED.partition(" WHERE")[0], 2, "condition", ("$>$1(#2, 5)", None)),
    ],
)
def test_changed_properties(old: str, new: str, node: int, path: str, values: tuple[str, str | None]) -> None:
    (changed,) = (each for each in of(plan(old), plan(new)).nodes if each.id == node)
    assert changed.standing is Standing.CHANGED
    assert changed.changes[0].path == "description"
    assert {each.path: (each.old, each.new) for each in changed.changes}[path] == values


def test_options_types_and_the_frame() -> None:
    text = plan(SUM)
    edited = (
        text.replace('"table.exec.mini-batch.size": "-1"', '"table.exec.mini-batch.size": "7"')
        .replace('"maxParallelism": 8', '"maxParallelism": 16')
        .replace('"ttl": "0 ms"', '"ttl": "1 h"')
    )
    found = of(text, edited)
    assert [each.text for each in found.header] == ["maxParallelism: 8 -> 16"]
    texts = [change.text for node in found.changed for change in node.changes]
    assert 'configuration[\'table.exec.mini-batch.size\']: "-1" -> "7"' in texts
    assert 'state[0].ttl: "0 ms" -> "1 h"' in texts
    assert found.edges_added + found.edges_removed == ()


def test_expressions_that_look_alike_are_told_apart() -> None:
    """Only the type of an operand differs: then all of it is shown."""
    text = plan(FILTERED)
    document = json.loads(text)
    (calc,) = (node for node in document["nodes"] if "condition" in node)
    calc["condition"]["operands"][1]["type"] = "BIGINT"
    (changed,) = of(text, json.dumps(document)).changed
    (change,) = changed.changes
    assert change.old != change.new
    assert "INT NOT NULL" in str(change.old)


def test_nodes_and_edges_that_come_and_go() -> None:
    found = of(plan(SUM), plan(JOIN.format("r.v")))
    standings = {each.id: each.standing for each in found.changed}
    assert standings == {**dict.fromkeys((4, 5, 6, 7), Standing.REPLACED), **dict.fromkeys((8, 9), Standing.ADDED)}
    assert {each.id: each.uids for each in found.changed if each.uids} == {
        6: ("6_global-group-aggregate",), 7: ("7_join",),
    }  # fmt: skip
    assert found.edges_added == ((4, 7), (7, 8), (8, 9))
    assert found.edges_removed == ((4, 5),)
    back = of(plan(JOIN.format("r.v")), plan(SUM))
    assert [each.id for each in back.nodes if each.standing is Standing.REMOVED] == [8, 9]
    assert (back.edges_added, back.edges_removed) == (found.edges_removed, found.edges_added)


def test_equal_nodes_under_other_ids_are_pointed_at() -> None:
    graph = load(plan(SUM))
    nodes = tuple(node.replaced(id=node.id + 100) for node in graph.nodes)
    inputs = {target + 100: tuple(each + 100 for each in sources) for target, sources in graph.inputs.items()}
    found = difference(graph, ExecGraph.of(nodes, inputs, graph.max_parallelism, graph.engine_version))
    assert {each.id: each.twin for each in found.nodes} == {
        **{node.id: node.id + 100 for node in graph.nodes},
        **{node.id + 100: node.id for node in graph.nodes},
    }
