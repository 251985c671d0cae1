"""Plans and savepoints as releases wrote them go on with the code of today, with other parallelism and key groups."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from execnodes.core.registry import UnknownNodeError, keys
from plans.evolution.evolve import evolve
from plans.evolution.upgrade import upgrade
from plans.format.codec import encode
from plans.format.load import load
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.testing.plugin import Restores
from rekindle.testing.restore_fixtures import PLAN, stored
from rekindle.testing.restore_run import compiled
from releases import Release, releases
from tests.restore.fixture_plans import difference
from tests.restore.program import RestoreProgram, programs
from tests.restore.with_spark import RECOMPILED, WITH_SPARK


@pytest.mark.spark
@pytest.mark.parametrize(
    "program",
    [pytest.param(each, id=str(each), marks=[pytest.mark.long] * (str(each) not in WITH_SPARK)) for each in programs()],
)
def test_a_savepoint_goes_on(assert_restores: Restores, program: RestoreProgram) -> None:
    assert_restores(program, program.fixture)


@pytest.mark.spark
@pytest.mark.parametrize("program", [each for each in programs() if str(each) in RECOMPILED], ids=str)
def test_a_savepoint_goes_on_in_the_plan_of_today(assert_restores: Restores, program: RestoreProgram) -> None:
    assert_restores(program, program.fixture, recompiled=True)


@pytest.mark.parametrize("program", programs(), ids=str)
def test_plans_stay_as_they_were(tmp_path: Path, program: RestoreProgram) -> None:
    """But for node versions that the fixture's release did not have."""
    assert difference(program, tmp_path, releases()) == ""


def test_a_fixture_older_than_its_release_is_seen(tmp_path: Path) -> None:
    program = next(each for each in programs() if each.node == "stream-exec-sink_1" and not each.edits)
    written = json.loads((program.fixture / PLAN).read_text(encoding="utf-8"))["engineVersion"]
    release = Release(f"{written}.9", "", "", "", "", {"stream-exec-sink_2": {}})
    assert "was written before stream-exec-sink_2 of the same release" in difference(program, tmp_path, [release])


@pytest.mark.parametrize("program", programs(), ids=str)
def test_plans_are_written_again_as_they_were(program: RestoreProgram) -> None:
    text = (program.fixture / PLAN).read_text(encoding="utf-8")
    gone = {each["type"] for each in json.loads(text)["nodes"]} - set(map(str, keys()))
    if not gone:
        assert encode(load(text)) == text
        return
    with pytest.raises(UnknownNodeError, match="no longer executes that version") as refused:
        load(text)
    assert "COMPILE PLAN 'new.json' FROM 'old.json', or rekindle upgrade" in str(refused.value)
    migrated = upgrade(text).text
    assert encode(load(migrated)) == migrated


@pytest.mark.parametrize("program", programs(), ids=str)
def test_a_plan_of_today_goes_on_whole(tmp_path: Path, program: RestoreProgram) -> None:
    """Whatever versions its nodes have: the same SQL, compiled anew from the plan of then, keeps all of its state."""
    old = stored(program.fixture)
    # Edits come after compiling: without them the SQL means something else.
    plan = None if program.edits else CompiledPlan.from_json_string(encode(old))
    found = evolve(old, compiled(program, tmp_path, old=plan).plan.graph)
    assert found.comparison.verdict == "full", [(each.title, each.reason) for each in found.comparison.judgements]
    assert {each.fate for each in found.comparison.judgements} <= {"keep", "convert"}
