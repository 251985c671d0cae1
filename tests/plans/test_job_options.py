"""Options of the job in a plan: which are kept, as what, and what wins over them."""

from __future__ import annotations

import ast
import json
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from execnodes.core.errors import PlanError
from execnodes.core.options import OPTIONS, Configuration
from plans.evolution.evolve import evolve
from plans.evolution.upgrade import upgrade
from plans.format.codec import encode
from plans.format.job_options import is_same_pipeline
from plans.format.lint import lint
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.files.job_folder import JobFolder
from tests.completeness.tree import ROOT, sources, tree

SCRIPT = """
SET 'pipeline.name' = 'my-job';
SET 'parallelism.default' = '4';
SET 'table.exec.state.ttl' = '1 d';
SET 'execution.job-dir' = '/tmp/job';
SET 'spark.sql.files.maxPartitionBytes' = '1m';
SET 'restart-strategy' = 'none';
CREATE TABLE s (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3');
CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');
INSERT INTO t SELECT a FROM s;
"""
KEPT = {"parallelism.default": "4", "pipeline.name": "my-job", "restart-strategy.type": "none"}


def compiled(script: str = SCRIPT) -> str:
    return TableEnvironment.create().compile_script(script).as_json_string()


def test_what_belongs_to_the_job_is_kept() -> None:
    text = compiled()
    assert json.loads(text)["configuration"] == KEPT
    assert load(text).job_options == KEPT
    assert encode(load(text)) == text
    assert [each for each in lint(text) if each.severity == "error"] == []


def test_a_plan_without_options_has_no_such_property() -> None:
    bare = "".join(line for line in SCRIPT.splitlines(keepends=True) if not line.startswith("SET"))
    assert "configuration" not in json.loads(compiled(bare))


def test_options_stay_through_upgrade_and_evolution() -> None:
    text = compiled()
    assert load(upgrade(text).text).job_options == KEPT
    changed = load(compiled(SCRIPT.replace("my-job", "other")))
    assert evolve(load(text), changed).graph.job_options == {**KEPT, "pipeline.name": "other"}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("pipeline.nam", "x", "unknown option 'pipeline.nam'"),
        ("parallelism.default", "many", "is not a value of this option"),
        ("execution.micro-batch.one-task-size", "4 acres", "is not a size"),
        ("pipeline.classes.allowed", "os", "is not an option that a plan keeps"),
        ("execution.job-dir", "/etc", "is not an option that a plan keeps"),
        ("table.exec.state.ttl", "1 d", "is not an option that a plan keeps"),
    ],
)
def test_a_plan_cannot_set_other_options(key: str, value: str, message: str) -> None:
    plan = json.loads(compiled())
    plan["configuration"] = {key: value}
    with pytest.raises(PlanError, match=message) as caught:
        load(json.dumps(plan), source="p.json")
    assert caught.value.where == "p.json, configuration"


@pytest.mark.parametrize("session", [{}, {"parallelism.default": "1", "pipeline.name": "of the session"}])
def test_the_session_wins(session: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}

    def job_of(graph: object, plan: str, configuration: Configuration, **more: object) -> object:
        seen.update(configuration=configuration, name=more["name"])
        raise PlanError("enough")

    monkeypatch.setattr("rekindle.runtime.batch_job.job_of", job_of)
    environment = TableEnvironment.create(session)
    with pytest.raises(PlanError, match="enough"):
        environment.execute_plan(TableEnvironment.create().compile_script(SCRIPT))
    expected = {**KEPT, **session}
    assert (seen["configuration"], seen["name"]) == (expected, expected["pipeline.name"])
    assert environment.configuration == session


def test_a_job_folder_takes_the_plan_with_other_options(tmp_path: Path) -> None:
    one, other = compiled(), compiled(SCRIPT.replace("'4'", "'8'"))
    assert is_same_pipeline(one, other)
    assert not is_same_pipeline(one, compiled(SCRIPT.replace("SELECT a", "SELECT a + 1")))
    folder = JobFolder(tmp_path / "job")
    folder.acquire()
    assert folder.open(one, "job") == folder.open(other, "job")
    assert folder.plan_file.read_text() == other


def test_compile_names_what_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rekindle.cli.main import run

    script, plan = tmp_path / "q.sql", tmp_path / "p.json"
    script.write_text(SCRIPT)
    unkept = ["execution.job-dir", "spark.sql.files.maxPartitionBytes"]
    for more in ([], ["--json", "--force"]):
        monkeypatch.setattr(sys, "argv", ["rekindle", "compile", "-f", str(script), "-o", str(plan), *more])
        with suppress(SystemExit):
            run()
        output = capsys.readouterr()
        assert output.err == f"not kept: {', '.join(unkept)} (of a session, not of a plan)\n"
    document = json.loads(output.out)
    assert (document["configuration"], document["notKept"]) == (KEPT, unkept)
    (tmp_path / "other.json").unlink(missing_ok=True)
    statement = SCRIPT.replace("INSERT", f"COMPILE PLAN '{tmp_path / 'other.json'}' FOR INSERT")
    *_, result = TableEnvironment.create().execute_script(statement)
    assert f"not kept: {', '.join(unkept)}" in (result.message or "")


def test_options_that_only_running_reads_are_no_options_of_the_planner() -> None:
    """Whoever adds an option says what it belongs to: one that the planner never reads is not of scope `plan`."""
    read = {
        constant.value
        for path in sources("planner", "plans", "execnodes")
        if path != ROOT / "execnodes" / "core" / "options.py"
        for constant in ast.walk(tree(path))
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    }
    # Read where plans are compiled, by the house above the planner.
    compiling = {
        "table.plan.compile.catalog-objects", "table.plan.force-recompile", "table.plan.evolution.consent",
        "table.plan.evolution.bootstrap", "table.plan.evolution.map", "table.sql-dialect", "pipeline.max-parallelism",
    }  # fmt: skip
    planners = ("table.exec.", "table.optimizer.", "__table.exec.")
    plan = {key for key, option in OPTIONS.items() if option.scope == "plan" and not option.inert}
    plan = {key for key in plan if not key.startswith(planners)}
    assert plan - read - compiling == set()
