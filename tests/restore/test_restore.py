"""Plans and savepoints as releases wrote them go on with the code of today, with other parallelism and key groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from rekindle.testing.plugin import Restores
from rekindle.testing.restore_fixtures import PLAN
from rekindle.testing.restore_run import compiled
from tests.restore.program import RestoreProgram, programs


@pytest.mark.spark
@pytest.mark.parametrize(
    "program", [pytest.param(each, id=str(each), marks=[pytest.mark.long] * each.long) for each in programs()]
)
def test_a_savepoint_goes_on(assert_restores: Restores, program: RestoreProgram) -> None:
    assert_restores(program, program.fixture)


@pytest.mark.parametrize("program", programs(), ids=str)
def test_plans_stay_as_they_were(tmp_path: Path, program: RestoreProgram) -> None:
    """Before 1.0 a plan may change; from then on only by a new version of a node."""
    made = compiled(program, tmp_path)
    text = (program.fixture / PLAN).read_text(encoding="utf-8")
    assert made.plan.as_json_string() == text, f"make the fixture again: remove {program.fixture} and run make fixtures"
