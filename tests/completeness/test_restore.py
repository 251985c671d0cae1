"""Everything that state can be of has its restore test; what there is is found in the tree and in the corpus."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from execnodes.aggregates import FUNCTIONS
from execnodes.core.graph import ExecGraph
from execnodes.core.metadata import NodeKey
from execnodes.core.node import ExecNode
from execnodes.core.options import find
from execnodes.core.registry import lookup
from rekindle.connectors.data_stream import DataStreamSource
from rekindle.connectors.registry import identifiers
from rekindle.testing.restore_fixtures import PLAN, SAVEPOINT
from tests.completeness.tree import KEYS, own_files, texts
from tests.plans.corpus import graphs
from tests.restore.program import FIXTURES, RestoreProgram, programs

Json = Any
pytestmark = pytest.mark.xdist_group("corpus")
STREAM = [key for key in KEYS if key.name.startswith("stream-exec-")]
"""Batch nodes keep no state, so nothing of theirs is ever restored."""


def stream_graphs() -> Iterator[ExecGraph]:
    """Plans of the corpus that keep state."""
    return (graph for graph in graphs().values() if all(node.key in STREAM for node in graph.nodes))


@cache
def plans() -> dict[str, Json]:
    """``node/case`` to the plan of every fixture."""
    files = sorted(FIXTURES.rglob(f"*/*/{PLAN}"))
    read = {file.parent.relative_to(FIXTURES).as_posix(): json.loads(file.read_text("utf-8")) for file in files}
    return {name: plan for name, plan in read.items() if not name.endswith(SAVEPOINT)}


@cache
def saved() -> frozenset[tuple[str, str, str]]:
    """Node type, operator and state of all states that a fixture's savepoint holds."""
    found = set()
    for name, plan in plans().items():
        types = {node["id"]: node["type"] for node in plan["nodes"]}
        manifest = json.loads((FIXTURES / name / SAVEPOINT / "manifest.json").read_text("utf-8"))
        states = [(each["uid"], each["name"]) for each in manifest["states"]]
        for uid, state in [*states, *((uid, "position") for uid in manifest["positions"])]:
            number, _, operator = uid.partition("_")
            kind = types[int(number)]
            found.add((kind, operator.rpartition("_")[2], re.sub(r"\d+$", "", state)))
    return frozenset(found)


def nodes() -> Iterator[Json]:
    """All nodes of all fixtures."""
    return (node for plan in plans().values() for node in plan["nodes"])


@pytest.mark.parametrize("program", programs(), ids=str)
def test_programs_have_fixtures(program: RestoreProgram) -> None:
    assert str(program) in plans(), f"run make fixtures NODE={program.node}"
    assert program.node in {node["type"] for node in plans()[str(program)]["nodes"]}


def test_fixtures_have_programs() -> None:
    assert set(plans()) == {str(each) for each in programs()}


@pytest.mark.parametrize("key", STREAM, ids=str)
def test_node_versions(key: NodeKey) -> None:
    assert str(key) in {node["type"] for plan in plans().values() for node in plan["nodes"]}


@pytest.mark.parametrize("key", STREAM, ids=str)
def test_states_that_kernels_name(key: NodeKey) -> None:
    named = {text for path in own_files(key) for text in texts(path) if re.fullmatch(r"[a-z][A-Za-z]*State", text)}
    served = {str(each.key) for each in lookup(key).METADATA}
    kept = {state for kind, _, state in saved() if kind in served}
    # A node may keep the values behind its accumulators alone.
    assert {name for name in named if f"{name.removesuffix('State')}Values" not in kept} <= kept


@cache
def corpus_states() -> frozenset[tuple[str, str, str]]:
    """As `saved`, of all conformance programs."""
    from plans.compatibility.plan_meanings import meanings

    found = set()
    for graph in stream_graphs():
        for each in meanings(graph):
            number, _, operator = each.uid.partition("_")
            kind = str(graph.by_id[int(number)].key)
            found.add((kind, operator.rpartition("_")[2], re.sub(r"\d+$", "", each.name)))
    return frozenset(found)


@pytest.mark.parametrize("key", [key for key in KEYS if key not in STREAM], ids=str)
def test_batch_nodes_keep_no_state(key: NodeKey) -> None:
    assert lookup(key).uids is ExecNode.uids
    assert lookup(key).state_meanings is ExecNode.state_meanings


def test_operators_and_states_of_the_corpus() -> None:
    assert corpus_states() <= saved()


@pytest.mark.parametrize("key", STREAM, ids=str)
def test_consumed_options_are_varied(key: NodeKey) -> None:
    (metadata,) = (each for each in lookup(key).METADATA if each.key == key)
    varied = {
        option
        for node in nodes()
        if node["type"] == str(key)
        for option, value in node.get("configuration", {}).items()
        if value != find(option).default
    }
    assert varied == set(metadata.consumed_options)


@pytest.mark.parametrize("key", STREAM, ids=str)
def test_choices_of_fields(key: NodeKey) -> None:
    """Every value that a choice (BOOLEAN, or one of some texts) has in the corpus occurs in a fixture, too."""
    wanted = {
        choice
        for graph in stream_graphs()
        for node in graph.nodes
        if node.key == key
        for choice in choices(
            json.loads(node.model_dump_json(by_alias=True, exclude={"output_type", "input_properties"}))
        )
    }
    given = {choice for node in nodes() if node["type"] == str(key) for choice in choices(_filled(key, node))}
    assert wanted <= given


def _filled(key: NodeKey, node: Json) -> Json:
    """A node with its defaults."""
    from plans.format.load import read_node

    read = read_node(node)
    return json.loads(read.model_dump_json(by_alias=True, exclude={"output_type", "input_properties"}))


_CHOICES = ("joinType", "strategy", "conflictStrategy", "property")


def choices(value: Json, path: str = "") -> Iterator[tuple[str, object]]:
    """Places and values of BOOLEANs and choices; types, functions and tables have tests of their own."""
    if isinstance(value, bool) or (isinstance(value, str) and path.rpartition(".")[2] in _CHOICES):
        yield path, value
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in (
                "table",
                "projection",
                "projects",
                "condition",
                "watermarkExpr",
                "tuples",
                "nonEquiCondition",
                "filterOnTemporalTable",
                "projectionOnTemporalTable",
                "joinCondition",
                "lookupKeys",
            ):
                yield from choices(each, f"{path}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from choices(each, path)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_accumulators(name: str) -> None:
    """Every aggregate function, over rows that only come and, where a plan can, over rows that also go.

    Those that SQL cannot name are over results of other aggregates, which are taken back.
    """
    internal = f"${name}$1"
    used = {
        node["needRetraction"]
        for node in nodes()
        if node["type"].startswith("stream-exec-group-aggregate_")
        for call in node["aggCalls"]
        if call["internalName"] == internal
    }
    used_anywhere = {
        call.internal_name
        for graph in stream_graphs()
        for node in graph.nodes
        for call in getattr(node, "agg_calls", ())
    }
    assert used == ({True} if name.startswith("$") else {True, False}) or internal not in used_anywhere


@pytest.mark.parametrize("role", ["source", "sink"])
def test_connectors(role: str) -> None:
    tables = "".join(each.sql for each in programs())
    # A data stream is a DataFrame of the program that runs the plan; no DDL can name it.
    assert set(identifiers(role)) - {DataStreamSource.declaration.identifier} <= set(
        re.findall(r"'connector' = '([\w-]+)'", tables)
    )


def test_fixtures_hold_no_paths_of_a_machine() -> None:
    for file in FIXTURES.rglob("*.json"):
        text = file.read_text("utf-8")
        assert "/tmp/" not in text, file
        assert str(Path.home()) not in text, file
