"""What a savepoint holds is matched with a pipeline by uid and state name, and refused where it does not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from execnodes.core.errors import StateError
from rekindle.runtime.record import OperatorRecord, Record, record
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, SavedState, checksum, columns_of
from rekindle.savepoints.restore import prepare
from rekindle.table_environment import TableEnvironment

SCRIPT = """
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
SELECT k, {aggregate} FROM t GROUP BY k;
"""
STATE = "groupAggregateState"


def pipeline(aggregate: str) -> Record:
    environment = TableEnvironment.create({"table.optimizer.agg-phase-strategy": "ONE_PHASE"})
    return record(environment.compile_script(SCRIPT.format(aggregate=aggregate)).graph)


def saved(found: Record) -> SavedState:
    step = next(each for each in found.steps.values() if isinstance(each, OperatorRecord))
    spec = step.operator.states[0]
    return SavedState(
        step.operator.uid, spec.name, columns_of(spec), spec.key, spec.bucketed, 0, step.node.description, 8, 3, 0, {}
    )


def write(folder: Path, *states: SavedState) -> None:
    (folder / PLAN).write_text("{}")
    (folder / NAME).write_text(Manifest("1.0", checksum(folder / PLAN), 0, {}, states).text())


def test_the_same_plan_keeps_its_state(tmp_path: Path) -> None:
    write(tmp_path, saved(pipeline("SUM(v)")))
    found = prepare(tmp_path, pipeline("SUM(v)"), drop_unclaimed=False, drop=frozenset())
    assert [(each.fate, each.rows) for each in found.fates] == [("restored", 3)]


def test_state_that_is_not_there_starts_empty(tmp_path: Path) -> None:
    write(tmp_path)
    found = prepare(tmp_path, pipeline("SUM(v)"), drop_unclaimed=False, drop=frozenset())
    assert [each.fate for each in found.fates] == ["empty"]


@pytest.mark.parametrize("now", ["MAX(v)", "SUM(v + 1)", "AVG(v)"])
def test_another_meaning_is_refused(tmp_path: Path, now: str) -> None:
    write(tmp_path, saved(pipeline("SUM(v)")))
    with pytest.raises(StateError, match=STATE):
        prepare(tmp_path, pipeline(now), drop_unclaimed=False, drop=frozenset())


def test_state_without_an_operator_needs_consent(tmp_path: Path) -> None:
    stray = replace(saved(pipeline("SUM(v)")), uid="99_join")
    write(tmp_path, stray)
    graph = pipeline("SUM(v)")
    with pytest.raises(StateError, match="99_join"):
        prepare(tmp_path, graph, drop_unclaimed=False, drop=frozenset())
    for consent in ({"drop_unclaimed": True, "drop": frozenset()}, {"drop_unclaimed": False, "drop": {stray.title}}):
        found = prepare(
            tmp_path, graph, drop_unclaimed=bool(consent["drop_unclaimed"]), drop=frozenset(consent["drop"])
        )  # type: ignore[arg-type]  # both kinds of value in one dict
        assert sorted(each.fate for each in found.fates) == ["dropped", "empty"]


def test_a_state_to_drop_must_exist(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(StateError, match="no such state to drop"):
        prepare(tmp_path, pipeline("SUM(v)"), drop_unclaimed=False, drop=frozenset({"1_x:y"}))
