"""What a release has compiled, run and saved goes on with every later one, and gives the rows of a run in one piece."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import JobError
from execnodes.core.version import ENGINE_VERSION, version_tuple
from rekindle.files.job_folder import JobFolder
from rekindle.pipeline.record import record
from rekindle.pipeline.state_layout import layout_of, read_layout
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.savepoints.manifest import NAME, VERSION, Manifest, checksum
from rekindle.testing import RestoreProgram
from rekindle.testing.restore_fixtures import PLAN, SAVEPOINT
from rekindle.testing.restore_run import Compiled, compiled, put, rows, run
from releases import Release, releases
from tests.upgrade.engines import Engine
from tests.upgrade.program import EVERYTHING, MOVED, SHORT, STEADY, runnable
from tests.upgrade.work import DROPPED, Order, data_of, gone_on

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL = releases()
OLD = ALL[0]
Install = Callable[[Release], Engine]


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Installs a release once."""
    known: dict[str, Engine] = {}

    def installed(release: Release) -> Engine:
        if release.version not in known:
            known[release.version] = Engine.install(release, tmp_path_factory.mktemp("engines"))
        return known[release.version]

    return installed


@pytest.fixture(scope="module")
def made(install: Install, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fixture of the oldest release."""
    folder = tmp_path_factory.mktemp("made")
    fixture = folder / "fixture"
    answer = install(OLD).work(Order([(data_of(SHORT), str(fixture))], []), folder)
    assert answer["write"] == {str(fixture): []}
    return fixture


def right(answer: dict[str, Any]) -> bool:
    """No wrong rows; a plan is refused only for versions that were dropped, with the way on, which then works."""
    if answer["refused"]:
        told = DROPPED in answer["refused"] and "rekindle upgrade" in answer["refused"]
        return told and bool(answer["migrated"] == [])
    return bool(answer["as it is"] == [] and answer["migrated"] == [])


@pytest.mark.long
@pytest.mark.spark
def test_the_oldest_release_goes_on_today(made: Path, spark: SparkSession, tmp_path: Path) -> None:
    assert json.loads((made / SAVEPOINT / "manifest.json").read_text())["engine"] == OLD.engine_version
    answer = gone_on(spark, SHORT, made, tmp_path)
    assert right(answer), answer


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("old", ALL, ids=lambda each: each.version)
@pytest.mark.parametrize("apart", [False, True], ids=["one pipeline", "programs of each node"])
def test_programs_go_on_with_every_later_release(
    old: Release, apart: bool, install: Install, spark: SparkSession, tmp_path: Path
) -> None:
    programs = list(runnable(old)) if apart else [EVERYTHING]
    fixtures = [(each, tmp_path / "fixtures" / each.name) for each in programs]
    made = install(old).work(Order([(data_of(each), str(path)) for each, path in fixtures], []), tmp_path / "write")
    assert {path: problems for path, problems in made["write"].items() if problems} == {}
    wrong: dict[str, Any] = {}
    for release in ALL[ALL.index(old) + 1 :]:
        orders = list(_orders(fixtures, tmp_path / release.version))
        answers = install(release).work(Order([], orders), tmp_path / "go_on")
        wrong |= {f"{release.version} {path}": each for path, each in answers["go_on"].items() if not right(each)}
    for program, path in fixtures:
        answer = gone_on(spark, program, path, tmp_path / "today" / program.name)
        wrong |= {} if right(answer) else {f"today {path}": answer}
    assert wrong == {}


@pytest.mark.spark
@pytest.mark.parametrize(
    "old", [pytest.param(each, marks=[pytest.mark.long] * (each is not ALL[-1]), id=each.version) for each in ALL]
)
def test_a_job_goes_on_in_its_folder_or_by_way_of_its_savepoint(
    old: Release, install: Install, spark: SparkSession, tmp_path: Path
) -> None:
    """In its folder where this engine lays out the state of its nodes as the old one did."""
    folders = [(program, tmp_path / program.name) for program in (MOVED, STEADY)]
    order = Order([], [], [(data_of(program), str(folder)) for program, folder in folders])
    before = install(old).work(order, tmp_path)["stop"]
    for program, folder in folders:
        put(program.after, folder, 1)
        settled = replace(program, configuration={**program.configuration, "execution.job-dir": str(folder / "job")})
        environment = compiled(settled, folder).environment
        text = JobFolder(folder / "job").plan_file.read_text(encoding="utf-8")
        made = Compiled(environment, CompiledPlan.from_json_string(text, executor=environment))
        known = read_layout(JobFolder(folder / "job"))
        assert known is not None
        assert known.engine == old.engine_version
        same = known.states == layout_of(made.plan.graph, record(made.plan.graph).steps.values()).states
        assert same or program is MOVED
        if same:
            after = run(spark, settled, made, made.plan.graph, folder=folder)
            assert old.engine_version == ENGINE_VERSION or not _goes_back(folder, install(old))
            if version_tuple(old.engine_version) >= (2, 0):
                # Its log has the files that there were when it began; a savepoint's job looks for them anew.
                assert rows(made, _both(before[str(folder)], after)) == _at_once(
                    spark, program, tmp_path / "begun" / program.name, program.before
                )
                anew = Compiled(compiled(program, folder).environment, made.plan)
                after = run(spark, program, anew, made.plan.graph, folder=folder, savepoint=folder / "savepoint")
        else:
            with pytest.raises(JobError, match=f"was written by engine version {old.engine_version}") as refused:
                run(spark, settled, made, made.plan.graph, folder=folder)
            assert f"savepoint of the job with Rekindle {old.engine_version}" in str(refused.value)
            anew = Compiled(compiled(program, folder).environment, made.plan)
            after = run(spark, program, anew, made.plan.graph, folder=folder, savepoint=folder / "savepoint")
        expected = _at_once(spark, program, tmp_path / "whole" / program.name, program.before, program.after)
        assert rows(made, _both(before[str(folder)], after)) == expected


def _both(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What each sink was given by two jobs."""
    return {sink: [*map(tuple, before[sink]), *found] for sink, found in after.items()}


def _at_once(spark: SparkSession, program: RestoreProgram, folder: Path, *files: Mapping[str, str]) -> Any:
    """Rows of one job over all files."""
    for number, each in enumerate(files):
        put(each, folder, number)
    fresh = compiled(program, folder)
    return rows(fresh, run(spark, program, fresh, fresh.plan.graph, folder=folder))


_ASKS = """
import sys
from pathlib import Path
from rekindle.files.job_folder import JobFolder
try:
    from rekindle.pipeline.state_layout import read_layout
except ModuleNotFoundError:  # 1.3
    from rekindle.pipeline.layout import read_layout
read_layout(JobFolder(Path(sys.argv[1])))
"""


def _goes_back(folder: Path, engine: Engine) -> bool:
    """Whether a release goes on with a job that a newer one has run."""
    done = engine.run("-c", _ASKS, str(folder / "job"))
    assert f"run by engine version {ENGINE_VERSION}, this engine is version" in done.stderr
    return done.returncode == 0


@pytest.mark.parametrize(
    "old", [pytest.param(each, marks=[pytest.mark.long] * (each is not OLD), id=each.version) for each in ALL]
)
def test_what_a_newer_engine_has_made_is_refused_by_name(old: Release, install: Install, tmp_path: Path) -> None:
    if old.engine_version == ENGINE_VERSION:
        pytest.skip("the sources are of that release")
    plan, savepoint, script = tmp_path / "plan.json", tmp_path / "savepoint", tmp_path / "script.sql"
    plan.write_text(compiled(EVERYTHING, tmp_path).plan.as_json_string(), encoding="utf-8")
    savepoint.mkdir()
    (savepoint / PLAN).write_text(plan.read_text(encoding="utf-8"), encoding="utf-8")
    manifest = Manifest(ENGINE_VERSION, checksum(savepoint / PLAN), 0, {}, {}, ())
    (savepoint / NAME).write_text(manifest.text(), encoding="utf-8")
    script.write_text("SELECT 1", encoding="utf-8")
    engines = rf"engine version {ENGINE_VERSION}, this engine is version {old.engine_version}"
    named = f"Rekindle {ENGINE_VERSION} or newer"
    by_format = (f"the savepoint has format {VERSION}, this engine reads up to", "the engine version that wrote it")
    saved = by_format if version_tuple(old.engine_version) < (1, 3) else (f"taken by {engines}", named)
    for arguments, (says, hint) in {
        ("lint", str(plan)): (f"compiled by {engines}", named),
        ("run", str(plan)): (f"compiled by {engines}", named),
        ("check", str(plan), str(plan)): (f"compiled by {engines}", named),
        ("upgrade", str(plan), "-o", str(tmp_path / "new.json")): (f"compiled by {engines}", named),
        ("compile", "-f", str(script), "--from", str(plan)): (f"compiled by {engines}", named),
        ("state", "list", str(savepoint)): saved,
    }.items():
        done = install(old).run("-m", "rekindle", *arguments)
        text = " ".join((done.stdout + done.stderr).split())
        assert done.returncode in (1, 2), text
        assert says in text
        assert hint in text
        assert "Traceback" not in text


def _orders(fixtures: Iterable[tuple[RestoreProgram, Path]], folder: Path) -> Iterable[tuple[dict[str, Any], str, str]]:
    for program, path in fixtures:
        yield data_of(program), str(path), str(folder / program.name)
