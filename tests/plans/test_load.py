"""Reading plans: what is refused, and what the message says."""

import json
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from execnodes.core.errors import PlanError
from execnodes.core.registry import UnknownNodeError
from execnodes.core.version import ENGINE_VERSION
from plans.format.codec import encode
from plans.format.document import Edge
from plans.format.load import inputs_of, load
from tests.plans.nodes import example

Document = dict[str, Any]
TEXT = encode(example())


def changed(change: Callable[[Document], object]) -> str:
    document = json.loads(TEXT)
    change(document)
    return json.dumps(document)


def node(document: Document, node_id: int) -> Document:
    found: Document = next(each for each in document["nodes"] if each["id"] == node_id)
    return found


def put(node_id: int, **properties: object) -> Callable[[Document], object]:
    return lambda document: node(document, node_id).update(properties)


def edge(source: object, target: object) -> Document:
    return {"source": source, "target": target, "shuffle": {"type": "FORWARD"}, "shuffleMode": "PIPELINED"}


def operand(document: Document, **properties: object) -> None:
    node(document, 2)["condition"]["operands"][0].update(properties)


BAD: dict[str, tuple[Callable[[Document], object], str]] = {
    "no version": (lambda d: d.pop("engineVersion"), "p.json: property engineVersion is missing"),
    "odd version": (lambda d: d.update(engineVersion="one"), "p.json: 'one' is not an engine version"),
    "version as a number": (lambda d: d.update(engineVersion=1.0), "p.json: 1.0 is not an engine version"),
    "older version": (lambda d: d.update(engineVersion="0.9"), f"version 0.9, this engine ({ENGINE_VERSION}) reads"),
    "another schema": (lambda d: d.update({"$schema": "x"}), "p.json: $schema is 'x'"),
    "no schema": (lambda d: d.pop("$schema"), "p.json, plan: property $schema is missing"),
    "no edges": (lambda d: d.pop("edges"), "p.json, plan: property edges is missing"),
    "unknown on top": (lambda d: d.update(flags=1), "p.json, plan: property flags is unknown"),
    "nodes is no list": (lambda d: d.update(nodes={}), "p.json, plan: property nodes: input should be a list"),
    "no key groups": (lambda d: d.update(maxParallelism=0), "property maxParallelism: input should be greater than"),
    "no type": (lambda d: node(d, 2).pop("type"), "p.json, node 2: property type is missing"),
    "odd type": (put(2, type="Calc"), "p.json, node 2: 'Calc' is not a node type"),
    "no id": (lambda d: node(d, 2).pop("id"), "node (without id) (stream-exec-probe-calc_1): property id is missing"),
    "id as text": (put(2, id="2"), "property id: input should be a valid integer, not '2'"),
    "id as boolean": (put(2, id=True), "property id: input should be a valid integer, not True"),
    "missing property": (
        lambda d: node(d, 2).pop("projection"),
        "p.json, node 2 (stream-exec-probe-calc_1): property projection is missing",
    ),
    "unknown property": (put(2, filters=[]), "node 2 (stream-exec-probe-calc_1): property filters is unknown"),
    "spelling": (put(2, output_type="INT"), "property output_type is unknown (is it 'outputType'?)"),
    "wrong type": (put(2, description=7), "property description: input should be a valid string, not 7"),
    "odd column type": (put(2, outputType="ROW<`a` INTT>"), "property outputType: 'ROW<`a` INTT>' is not a type"),
    "odd changelog": (put(2, changelogMode="I,X"), "property changelogMode: 'I,X' is not a changelog mode"),
    "deep inside": (lambda d: operand(d, inputIndex="1"), "condition.operands[0].inputIndex: input should be a valid"),
    "deep and missing": (
        lambda d: node(d, 2)["condition"]["operands"][0].pop("inputIndex"),
        "property condition.operands[0].inputIndex is missing",
    ),
    "odd expression": (lambda d: operand(d, kind="REF"), "property condition.operands[0]: input tag 'REF'"),
    "unknown function": (
        lambda d: node(d, 2)["condition"].update(internalName="$GUESS$1"),
        "p.json, node 2 (stream-exec-probe-calc_1): unknown function $GUESS$1",
    ),
    "unknown version of a function": (
        lambda d: node(d, 2)["condition"].update(internalName="$=$9"),
        "unknown function $=$9",
    ),
    "several": (put(2, a=1, b=2), "property a is unknown; property b is unknown"),
    "foreign option": (
        put(2, configuration={"table.exec.state.ttl": "1 d"}),
        "node 2 (stream-exec-probe-calc_1): configuration: the node does not read option 'table.exec.state.ttl'",
    ),
    "bad option value": (
        put(5, configuration={"table.exec.mini-batch.enabled": "maybe"}),
        "configuration: table.exec.mini-batch.enabled: 'maybe' is not a value",
    ),
    "bad ttl": (
        put(5, state=[{"index": 0, "ttl": "long", "name": "probeState"}]),
        "node 5 (stream-exec-probe-count_1): state 'probeState': ttl: 'long' is not a duration",
    ),
    "state index": (put(5, state=[{"index": 1, "ttl": "0 ms", "name": "s"}]), "state: the indexes are [1]"),
    "state name": (
        put(5, state=[{"index": i, "ttl": "0 ms", "name": "s"} for i in (0, 1)]),
        "state: the names are ['s', 's']",
    ),
    "inputs": (put(2, inputProperties=[{}, {}]), "inputProperties has 2 entries, but 1 edge leads to the node"),
    "distribution": (
        put(2, inputProperties=[{"requiredDistribution": {"type": "ALL"}}]),
        "property inputProperties[0].requiredDistribution.type: input should be 'ANY', 'HASH' or",
    ),
    "double id": (lambda d: d["nodes"].append(d["nodes"][0]), "p.json, nodes: node id 1 occurs 2 times"),
    "edge from nowhere": (lambda d: d["edges"].append(edge(9, 2)), "p.json, edge 9 -> 2: its source 9 is not a node"),
    "edge to nowhere": (lambda d: d["edges"].append(edge(1, 9)), "p.json, edge 1 -> 9: its target 9 is not a node"),
    "edge as text": (lambda d: d["edges"].append(edge("1", 2)), "property edges[3].source: input should be a valid"),
    "cycle": (lambda d: d["edges"].append(edge(5, 2)), "p.json, edges: the edges 2 -> 5 -> 2 form a cycle"),
    "order": (lambda d: d["nodes"].reverse(), "p.json, node 6 (stream-exec-probe-sink_1): its input 5 comes after it"),
    "shuffle": (
        lambda d: d["edges"][0].update(shuffle={"type": "HASH"}),
        "property edges[0].shuffle.type: input should be 'FORWARD', not 'HASH'",
    ),
    "types do not fit": (put(5, outputType="ROW<`id` INT>"), "outputType: it has 1 column, but its input 0 gives 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_plan_is_refused(name: str) -> None:
    change, message = BAD[name]
    with pytest.raises(PlanError, match=re.escape(message)) as caught:
        load(changed(change), source="p.json")
    assert caught.value.hint


def test_a_newer_plan_is_refused_before_anything_else_is_read() -> None:
    text = json.dumps({"engineVersion": "99.0", "nodes": "unreadable", "more": 1})
    with pytest.raises(
        PlanError,
        match=rf"p.json: the plan was compiled by engine version 99.0, this engine is version {ENGINE_VERSION}",
    ):
        load(text, source="p.json")


@pytest.mark.parametrize("kind", ["stream-exec-probe-calc_7", "stream-exec-nothing_1"])
def test_unknown_nodes_say_what_migrates_the_plan(kind: str) -> None:
    with pytest.raises(UnknownNodeError, match=rf"p.json, node 2: unknown node {kind}") as caught:
        load(changed(put(2, type=kind)), source="p.json")
    assert "COMPILE PLAN 'new.json' FROM 'old.json'" in str(caught.value)


@pytest.mark.parametrize("at", range(0, len(TEXT) - 2, 97))
def test_a_cut_file_is_seen(at: int) -> None:
    with pytest.raises(PlanError, match=r"line [0-9]+, column [0-9]+, p\.json: "):
        load(TEXT[:at], source="p.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  "engineVersion": 1.0,\n  x}', "line 3, column 3, p.json: this is not JSON"),
        ('{"engineVersion": "1.0"', "p.json: the JSON ends too early: the file is cut"),
        ("[1]", "p.json: a plan is a JSON object"),
        ('{"engineVersion": NaN}', "p.json: NaN is not JSON"),
        ('{"a": 1, "a": 2}', "p.json: property 'a' occurs twice"),
        ("[" * 100_000, "p.json: the JSON is nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        load(text, source="p.json")


def test_a_script_given_for_a_plan_is_told_how_to_become_one() -> None:
    with pytest.raises(PlanError) as refused:
        load("INSERT INTO t SELECT 1;", source="q.sql")
    assert "rekindle compile -f script.sql -o plan.json" in str(refused.value)


def test_a_ttl_may_be_edited() -> None:
    entry = {"index": 0, "ttl": "36 h", "name": "probeState"}
    graph = load(changed(put(5, state=[entry])))
    assert graph.by_id[5].state_ttl() == "36 h"


@pytest.mark.parametrize("name", ["$=", "="])
def test_a_function_without_version_is_that_of_the_plans_release(name: str) -> None:
    text = changed(lambda d: node(d, 2)["condition"].update(internalName=name))
    assert load(text) == load(changed(lambda d: node(d, 2)["condition"].update(internalName="$=$2")))


def test_inputs_are_in_the_order_of_the_edges() -> None:
    """Sides of a join are told apart by it."""
    nodes: Any = [SimpleNamespace(id=each) for each in (1, 2, 3)]
    for first, second in ((1, 2), (2, 1)):
        edges = [Edge(source=first, target=3), Edge(source=second, target=3)]
        assert inputs_of(nodes, edges) == {1: (), 2: (), 3: (first, second)}
