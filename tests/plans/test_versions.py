"""What version 1.1 changed in shipped nodes, and what plans and savepoints of 1.0 make of it."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from execnodes.core.errors import PlanError
from execnodes.core.options import Configuration
from plans.compare import compare
from plans.load import load, read_node
from plans.meaning import Meanings, meanings
from plans.migrate import migrate
from rekindle.savepoints.manifest import read
from rekindle.table_environment import TableEnvironment
from tests.restore.program import FIXTURES

WATERMARKS = """
CREATE TABLE t (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
"""


def fixture(name: str) -> str:
    return (FIXTURES / name / "plan.json").read_text(encoding="utf-8")


def nodes(text: str, name: str) -> list[dict[str, Any]]:
    return [each for each in json.loads(text)["nodes"] if each["type"].startswith(f"{name}_")]


@pytest.mark.parametrize("key", ["table.exec.watermark.granularity", "table.exec.lateness.granularity"])
def test_an_option_is_known_by_both_names(key: str, caplog: pytest.LogCaptureFixture) -> None:
    environment = TableEnvironment.create()
    with caplog.at_level(logging.WARNING, logger="rekindle.options"):
        environment.execute_script(f"SET '{key}' = 'row'; {WATERMARKS}")
    assert ("is called table.exec.lateness.granularity now" in caplog.text) == ("watermark" in key)
    plan = environment.compile_plan_sql("SELECT k, ts FROM t").as_json_string()
    (assigner,) = nodes(plan, "stream-exec-watermark-assigner")
    assert assigner["configuration"]["table.exec.lateness.granularity"] == "row"


def test_a_node_reads_an_option_by_its_old_name() -> None:
    text = fixture("stream-exec-watermark-assigner_1/row")
    (old, *_) = [each for each in load(text).nodes if each.key.name == "stream-exec-watermark-assigner"]
    (new, *_) = [each for each in load(migrate(text).text).nodes if each.key.name == "stream-exec-watermark-assigner"]
    assert (old.key.version, new.key.version) == (1, 2)
    assert [each.option("table.exec.lateness.granularity") for each in (old, new)] == ["row", "row"]
    assert "table.exec.watermark.granularity" not in new.configuration


def test_the_newest_value_of_an_option_wins() -> None:
    configuration = Configuration()
    configuration.put("table.exec.lateness.granularity", "batch")
    configuration.put("table.exec.watermark.granularity", "row")
    assert configuration == {"table.exec.lateness.granularity": "row"}


def test_a_property_of_a_later_version_is_refused_in_an_older_one() -> None:
    text = fixture("stream-exec-changelog-normalize_2/filter")
    raw = next(each for each in nodes(text, "stream-exec-changelog-normalize") if "filterCondition" in each)
    assert read_node(raw).key.version == 2
    with pytest.raises(PlanError, match=r"filterCondition is a property of version 2, this is .*_1"):
        read_node({**raw, "type": "stream-exec-changelog-normalize_1"})


@pytest.mark.parametrize("name", ["stream-exec-deduplicate_1/event_time", "stream-exec-deduplicate_1/ttl"])
def test_an_operator_moves_state_of_1_0(name: str) -> None:
    plan = load(fixture(name))
    found = compare(Meanings.of(read(FIXTURES / name / "savepoint").meanings, plan), meanings(plan))
    assert found.verdict == "full"
    moved = {each.state: each for each in found.judgements if each.taken_over}
    assert set(moved) == {"deduplicateWaitingState", "deduplicateSeenState"}
    assert {(each.fate, each.was) for each in moved.values()} == {("convert", "deduplicateState")}
    assert all("makes it of deduplicateState" in each.reason for each in moved.values())


def test_a_condition_takes_over_the_state_that_had_none() -> None:
    old = load(fixture("stream-exec-changelog-normalize_1/repeated"))
    before = [each for each in meanings(old) if each.name == "changelogNormalizeState"]
    new = load(fixture("stream-exec-changelog-normalize_2/filter"))
    after = [each for each in meanings(new) if each.name == "changelogNormalizeState"]
    assert [len(each.earlier) for each in after] == [1, 1]
    assert ["filter" in each.parts for each in (*before, *after)] == [False] * len(before) + [True] * len(after)
