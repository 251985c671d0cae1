"""Plans and savepoints as releases wrote them go on with the code of today, with other parallelism and key groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import RekindleError
from rekindle.testing.compare import compare
from tests.restore.program import RestoreProgram, programs
from tests.restore.running import BEFORE, EXPECTED, PLAN, Changes, compiled, put, rows, run, stored, unpacked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
@pytest.mark.parametrize(
    "program", [pytest.param(each, id=str(each), marks=[pytest.mark.long] * each.long) for each in programs()]
)
def test_a_savepoint_goes_on(spark: SparkSession, tmp_path: Path, program: RestoreProgram) -> None:
    # What has been read already is not there any more: nobody may look at it again.
    put({name: text if name.endswith(".duckdb") else "" for name, text in program.before.items()}, tmp_path, 0)
    put(program.after, tmp_path, 1)
    made = compiled(program, tmp_path)

    def go_on() -> Changes:
        savepoint = unpacked(program, tmp_path)
        return run(spark, program, made, stored(program), folder=tmp_path, savepoint=savepoint, parallelism=2, groups=3)

    if program.refused:
        with pytest.raises(RekindleError, match=program.refused):
            go_on()
        return
    later = go_on()
    before = json.loads((program.fixture / BEFORE).read_text(encoding="utf-8"))
    found = rows(made, {sink: before[sink] + changes for sink, changes in later.items()})
    expected = json.loads((program.fixture / EXPECTED).read_text(encoding="utf-8"))
    assert set(found) == set(expected)
    problems = {sink: compare(expected[sink], found[sink]).lines() for sink in found}
    assert {sink: lines for sink, lines in problems.items() if compare(expected[sink], found[sink])} == {}


@pytest.mark.parametrize("program", programs(), ids=str)
def test_plans_stay_as_they_were(tmp_path: Path, program: RestoreProgram) -> None:
    """Before 1.0 a plan may change; from then on only by a new version of a node."""
    made = compiled(program, tmp_path)
    text = (program.fixture / PLAN).read_text(encoding="utf-8")
    assert made.plan.as_json_string() == text, f"make the fixture again: remove {program.fixture} and run make fixtures"
