"""Plans that 2.4 compiled without all conditions of lookup joins are named by all that reads a plan."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from execnodes.core.errors import JobError
from execnodes.core.options import Configuration
from execnodes.core.version import ENGINE_VERSION
from plans.evolution.evolve import evolve
from plans.evolution.upgrade import upgrade
from plans.format.find_lost_conditions import find_lost_conditions
from plans.format.lint import lint
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.files.job_folder import JobFolder
from rekindle.report.checked import checked
from rekindle.results.plan_reference import PlanReference
from rekindle.runtime.batch_job import job_of
from rekindle.statements.plan_upgrade import upgrade_plan

FOLDER = Path(__file__).parent / "lost_conditions"
OLD = (FOLDER / "plan-2.4.json").read_text(encoding="utf-8")
SCRIPT = (FOLDER / "script.sql").read_text(encoding="utf-8")
LOST = "has lost a condition on column e, so that it joins rows that do not match"
MAY = "may have lost a condition"
EXPECTED = {3: LOST, 7: LOST, 9: MAY, 11: MAY, 15: MAY}
"""By node, in the order of the script. The plan does not show which of the last three have lost one."""


def new() -> str:
    return TableEnvironment.create().compile_script(SCRIPT).as_json_string()


def test_each_join_is_judged_by_what_its_keys_show() -> None:
    found = find_lost_conditions(load(OLD))
    assert {each.node: EXPECTED[each.node] in each.message for each in found} == dict.fromkeys(EXPECTED, True)
    assert [each.node for each in found if each.is_visible] == [3, 7, 9, 15]
    assert not find_lost_conditions(load(new()))


def test_an_upgraded_plan_is_still_named_where_its_keys_show_it() -> None:
    upgraded = load(upgrade(OLD).text)
    assert upgraded.engine_version == ENGINE_VERSION
    assert [each.node for each in find_lost_conditions(upgraded)] == [3, 7]


def test_lint_names_it() -> None:
    found = [each for each in lint(OLD, source="p.json") if "lost a condition" in each.message]
    assert [each.severity for each in found] == ["warning"] * 5
    assert found[0].where == "p.json, node 3 (stream-exec-lookup-join_1), table default_catalog.default_database.r"
    assert found[0].hint.startswith("Compile the statement again")
    assert not [each for each in lint(new()) if "lost a condition" in each.message]


def test_upgrade_names_it() -> None:
    found = upgrade_plan(PlanReference.from_file(FOLDER / "plan-2.4.json"))
    assert [each.document()["node"] for each in found.lost_conditions] == list(EXPECTED)
    assert LOST in "\n".join(found.lines())


def test_statements_name_it(tmp_path: Path) -> None:
    environment = TableEnvironment.create()
    tables, _, body = SCRIPT.partition("EXECUTE STATEMENT SET")
    environment.execute_script(tables)
    for number, what in enumerate(("", f" FOR STATEMENT SET {body}")):
        statement = f"COMPILE PLAN '{tmp_path / str(number)}' FROM '{FOLDER / 'plan-2.4.json'}'{what}"
        message = environment.execute_sql(statement).message
        assert message is not None
        assert LOST in message


def test_check_names_it_in_either_plan() -> None:
    old, today = load(OLD), load(new())
    for pair, name in (((old, today), "old plan: node 3"), ((today, old), "new plan: node 3")):
        found = checked(("a", pair[0]), ("b", pair[1])).comparison.remarks
        assert len([each for each in found if each.startswith(name) and LOST in each]) == 1
        assert len([each for each in found if "lost a condition" in each]) == len(EXPECTED)
    assert LOST in "\n".join(evolve(old, today).comparison.remarks)


def test_a_run_logs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(folder: JobFolder) -> None:
        raise JobError("not here")

    monkeypatch.setattr(JobFolder, "acquire", refuse)
    job = job_of(load(OLD), OLD, Configuration({"execution.job-dir": str(tmp_path)}))
    with caplog.at_level(logging.WARNING), pytest.raises(JobError, match="not here"):
        job.start()
    assert [text.partition(" (")[0] for text in caplog.messages] == ["node 3", "node 7", "node 9", "node 15"]
    assert json.loads(OLD)["engineVersion"] == "2.4"
