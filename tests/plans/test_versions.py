"""What releases have changed in shipped nodes and functions, and what plans and savepoints of older ones make of it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.errors import OptionError, PlanError
from execnodes.core.options import Configuration
from execnodes.core.version import ENGINE_VERSION
from plans.compatibility.compare import compare
from plans.compatibility.plan_meanings import Meanings, meanings
from plans.evolution.upgrade import upgrade
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.savepoints.contents import read
from rekindle.savepoints.restore import prepare
from rekindle.testing.restore_fixtures import stored
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


def test_options_of_flinks_runtime_are_accepted_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    configuration = Configuration()
    with caplog.at_level(logging.WARNING, logger="rekindle.options"):
        for key in ("execution.checkpointing.interval", "execution.checkpointing.mode", "python.files", "yarn.queue"):
            configuration.put(key, "x")
    assert [record.args[0] for record in caplog.records if isinstance(record.args, tuple)] == [
        "execution.checkpointing.interval", "python.files", "yarn.queue",
    ]  # fmt: skip
    assert "execution.micro-batch.interval spaces them" in caplog.text
    assert (configuration.job_options(), configuration.unkept_keys()) == ({}, ())
    for misspelt in ("execution.checkpointing.savepoint-dri", "execution.jobsdir"):
        with pytest.raises(OptionError, match=f"unknown option '{misspelt}'"):
            configuration.put(misspelt, "x")


def test_a_node_reads_an_option_by_its_old_name() -> None:
    text = fixture("stream-exec-watermark-assigner_1/row")
    (old, *_) = [each for each in load(text).nodes if each.key.name == "stream-exec-watermark-assigner"]
    (new, *_) = [each for each in load(upgrade(text).text).nodes if each.key.name == "stream-exec-watermark-assigner"]
    assert (old.key.version, new.key.version) == (1, 2)
    assert [each.option("table.exec.lateness.granularity") for each in (old, new)] == ["row", "row"]
    assert "table.exec.watermark.granularity" not in new.configuration


def test_the_newest_value_of_an_option_wins() -> None:
    configuration = Configuration()
    configuration.put("table.exec.lateness.granularity", "batch")
    configuration.put("table.exec.watermark.granularity", "row")
    assert configuration == {"table.exec.lateness.granularity": "row"}


def test_a_dropped_version_is_refused_with_the_way_out_which_keeps_the_state(tmp_path: Path) -> None:
    folder = FIXTURES / "stream-exec-changelog-normalize_1" / "repeated"
    old, new = folder / "plan.json", tmp_path / "new.json"
    environment = TableEnvironment.create()
    with pytest.raises(PlanError, match=r"changelog-normalize_1: this engine has .*_2, and no longer executes") as why:
        environment.execute_sql(f"EXECUTE PLAN '{old}'")
    assert why.value.hint is not None
    assert "COMPILE PLAN 'new.json' FROM 'old.json'" in why.value.hint
    environment.execute_sql(f"COMPILE PLAN '{new}' FROM '{old}'")
    assert {each["type"] for each in nodes(new.read_text(encoding="utf-8"), "stream-exec-changelog-normalize")} == {
        "stream-exec-changelog-normalize_2"
    }
    restore = prepare(
        folder / "savepoint", load(new.read_text(encoding="utf-8")), drop_unclaimed=False, drop=frozenset()
    )
    assert {each.fate for each in restore.fates} == {"restored"}


def test_plans_keep_their_version_of_a_function() -> None:
    environment = TableEnvironment.create()
    environment.execute_sql("CREATE TABLE t (s STRING) WITH ('connector' = 'datagen')")
    plan = environment.compile_plan_sql("SELECT IS_DECIMAL(s) AS d FROM t").as_json_string()
    assert "$IS_DECIMAL$2" in plan
    of_1_1 = plan.replace("$IS_DECIMAL$2", "$IS_DECIMAL").replace(f'"{ENGINE_VERSION}"', '"1.1"')
    of_1_1 = of_1_1.replace(f"plan-{ENGINE_VERSION}", "plan-1.1")
    assert "$IS_DECIMAL$1" in encode(load(of_1_1))
    assert "$IS_DECIMAL$1" in upgrade(of_1_1).text
    assert "$IS_DECIMAL$2" not in upgrade(of_1_1).text


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
    old = stored(FIXTURES / "stream-exec-changelog-normalize_1" / "repeated")
    before = [each for each in meanings(old) if each.name == "changelogNormalizeState"]
    new = load(fixture("stream-exec-changelog-normalize_2/filter"))
    after = [each for each in meanings(new) if each.name == "changelogNormalizeState"]
    assert [len(each.earlier) for each in after] == [1, 1]
    assert ["filter" in each.parts for each in (*before, *after)] == [False] * len(before) + [True] * len(after)
