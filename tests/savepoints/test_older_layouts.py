"""Savepoints with a layout of an older release: migrated to a plan of today, they keep it for the job that takes it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from execnodes.core.graph import ExecGraph
from plans.evolution.upgrade import upgrade
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.savepoints.contents import read
from rekindle.savepoints.manifest import PLAN
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.restore import prepare
from rekindle.savepoints.writer import SavepointWriter
from tests.restore.program import FIXTURES

OLD = FIXTURES / "stream-exec-deduplicate_1" / "ttl"
"""Of 1.0, which kept whole rows of keys that are done."""
NAME = "deduplicateState"


@pytest.fixture
def upgraded() -> CompiledPlan:
    return CompiledPlan.from_json_string(upgrade((OLD / PLAN).read_text(encoding="utf-8")).text)


def handed(savepoint: Path, graph: ExecGraph) -> dict[tuple[str, str], int]:
    """Rows that operators get, by uid and name."""
    restore = prepare(savepoint, graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}
    return {address: kept.state.rows for address, kept in restore.kept.items()}


def test_a_plan_of_today_is_put_in_and_the_rows_stay(tmp_path: Path, upgraded: CompiledPlan) -> None:
    old = OLD / "savepoint"
    made = SavepointWriter.from_existing_savepoint(old).with_plan(upgraded).write(tmp_path / "made")
    steps = [step for step, _ in made.steps if step.name == NAME]
    assert [step.operation for step in steps] == ["keep"] * len(steps)
    before, after = read(old), read(tmp_path / "made")
    assert [(each.title, each.rows, each.meanings) for each in after.states] == [
        (each.title, each.rows, each.meanings) for each in before.states
    ]
    for state in before.states:
        assert SavepointReader.read(old).table(state.title) == SavepointReader.read(tmp_path / "made").table(
            state.title
        )
    assert handed(tmp_path / "made", upgraded.graph) == handed(old, upgraded.graph)


def test_the_plan_of_then_gets_the_same_rows(tmp_path: Path, upgraded: CompiledPlan) -> None:
    shutil.copytree(OLD / "savepoint", tmp_path / "savepoint")
    then = CompiledPlan.from_json_string((OLD / PLAN).read_text(encoding="utf-8"))
    rows = handed(tmp_path / "savepoint", then.graph)
    assert rows == handed(tmp_path / "savepoint", upgraded.graph)
    assert {name for _, name in rows} == {NAME}
