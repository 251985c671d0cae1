"""What connectors can do is asked while a plan is made; from then on the plan itself says what was decided."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import pytest

import execnodes.connectors.blackhole
from execnodes.core.changelog import RETRACT
from execnodes.core.connectors import ConnectorDeclaration, SinkAbilities, Takes
from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.stream.sink import Sink
from plans.compatibility.plan_meanings import meanings
from plans.evolution.upgrade import upgrade
from plans.format.load import load, read_node
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.record import record
from tests.plans.corpus import graphs

DDL = """
CREATE TABLE t (k INT, n INT) WITH ('connector' = 'datagen');
CREATE TABLE shown (n BIGINT, k INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
SET 'table.exec.sink.upsert-materialize' = 'NONE';
SET 'table.exec.sink.require-on-conflict' = 'false';
"""
INSERT = """
INSERT INTO shown
SELECT c, CAST(MAX(n) AS INT) FROM (SELECT k, COUNT(*) AS c, n FROM t GROUP BY k, n) GROUP BY c
"""


@pytest.fixture
def learns(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """The connector learns to take all changes."""
    grown = ConnectorDeclaration("blackhole", sink=SinkAbilities(Takes.CHANGES))
    return lambda: monkeypatch.setattr(execnodes.connectors.blackhole, "CONNECTOR", grown)


@pytest.fixture
def plan() -> str:
    env = TableEnvironment.create()
    env.execute_script(DDL)
    return str(env.compile_plan_sql(INSERT).as_json_string())


def of_version_1(plan: str) -> str:
    raw = json.loads(plan)
    for node in raw["nodes"]:
        if node["type"] == "stream-exec-sink_2":
            node["type"] = "stream-exec-sink_1"
            del node["acceptedChangelogMode"]
    return json.dumps(raw)


def sink_of(text: str) -> Sink:
    node = load(text).nodes[-1]
    assert isinstance(node, Sink)
    return node


def written(graph: ExecGraph) -> list[object]:
    """The rows that sinks are given, and how the whole pipeline runs."""
    recorded = record(graph)
    return [recorded.every_change, *((each.table.name, each.rows) for each in recorded.sinks)]


def test_a_stored_plan_goes_on_as_it_did(plan: str, learns: Callable[[], None]) -> None:
    then = written(load(plan))
    assert then[0] is True
    learns()
    assert written(load(plan)) == then


def test_version_1_follows_its_connector_and_is_left_so(plan: str, learns: Callable[[], None]) -> None:
    old = of_version_1(plan)
    migrated = upgrade(old).text
    assert written(load(old)) == written(load(plan)) == written(load(migrated))
    learns()
    assert written(load(old)) != written(load(plan))
    assert written(load(migrated)) == written(load(plan))


def test_its_migration_stores_what_it_was_told(plan: str) -> None:
    assert json.loads(upgrade(of_version_1(plan)).text)["nodes"] == json.loads(plan)["nodes"]


def test_what_nobody_knew_when_it_was_migrated_is_asked_again(plan: str, learns: Callable[[], None]) -> None:
    raw = json.loads(of_version_1(plan))
    options = raw["nodes"][-1]["dynamicTableSink"]["table"]["resolvedTable"].pop("options")
    (sink,) = (each for each in json.loads(upgrade(json.dumps(raw)).text)["nodes"] if "dynamicTableSink" in each)
    assert sink["type"] == "stream-exec-sink_2"
    assert "acceptedChangelogMode" not in sink or sink["acceptedChangelogMode"] is None
    sink["dynamicTableSink"]["table"]["resolvedTable"]["options"] = options
    assert read_node(sink).needs_every_change
    learns()
    assert not read_node(sink).needs_every_change


def test_hints_count(plan: str) -> None:
    """Version 1 did not look at them; the planner does."""
    env = TableEnvironment.create()
    env.execute_script(DDL.replace("'connector' = 'blackhole'", "'connector' = 'collect'"))
    hinted = INSERT.replace("shown", "shown /*+ OPTIONS('changelog-mode' = 'upsert') */")
    for insert, by_key in ((INSERT, False), (hinted, True)):
        node = sink_of(str(env.compile_plan_sql(insert).as_json_string()))
        assert node.accepted_changelog_mode is not None
        assert node.accepted_changelog_mode.retract != by_key
        assert node.needs_every_change == by_key


def test_state_goes_on_from_version_1() -> None:
    env = TableEnvironment.create()
    env.execute_script(DDL.replace("'NONE'", "'FORCE'"))
    new = str(env.compile_plan_sql(INSERT).as_json_string())
    before, after = meanings(load(of_version_1(new))), meanings(load(new))
    assert any(each.name == "sinkMaterializeState" for each in after)
    assert before == after


def test_what_arrives_is_taken(plan: str) -> None:
    node = sink_of(plan)
    broken: Any = {**json.loads(node.model_dump_json(by_alias=True)), "acceptedChangelogMode": "I"}
    with pytest.raises(PlanError, match=r"shown takes I, but its input gives I,UB,UA,D"):
        Sink.model_validate(broken).check((node.output_type,))
    assert node.input_changelog_mode == RETRACT


def test_no_plan_asks_a_connector_when_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = {name: graph for name, graph in graphs().items() if not name.startswith("batch/")}
    assert len(plans) > 150

    def asked(*given: object) -> NoReturn:
        raise AssertionError("a stored plan asks what a connector can do")

    monkeypatch.setattr(execnodes.connectors, "_of", asked)
    for graph in plans.values():
        # Some are refused when they run.
        with suppress(PlanError):
            record(graph)
