"""What a savepoint holds is matched with a pipeline by uid and state name, and refused where it does not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from execnodes.core.errors import StateError
from execnodes.core.graph import ExecGraph
from plans.compatibility.plan_meanings import POSITION, meanings
from rekindle.api.table_environment import TableEnvironment
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, SavedState, Step, checksum
from rekindle.savepoints.restore import Restore, prepare

SCRIPT = """
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
SELECT k, {aggregate} FROM {table} GROUP BY k;
"""


def pipeline(aggregate: str, table: str = "t WHERE v > 0") -> ExecGraph:
    environment = TableEnvironment.create({"table.optimizer.agg-phase-strategy": "ONE_PHASE"})
    return environment.compile_script(SCRIPT.format(aggregate=aggregate, table=table)).graph


def saved(graph: ExecGraph) -> SavedState:
    state = next(each for each in meanings(graph) if each.name != POSITION)
    return SavedState(
        state.uid, state.name, tuple((each.name, each.type) for each in state.columns), ("k0",), state.bucketed, 0,
        state.parts, tuple(each.meaning for each in state.columns), tuple(state.sources), 8, 3, 0, {},
    )  # fmt: skip


def write(folder: Path, graph: ExecGraph, *states: SavedState, history: tuple[Step, ...] = ()) -> None:
    (folder / PLAN).write_text("{}")
    sources = {each.uid: dict(each.parts) for each in meanings(graph) if each.name == POSITION}
    manifest = Manifest("1.0", checksum(folder / PLAN), 0, dict.fromkeys(sources, "[]"), sources, states, history)
    (folder / NAME).write_text(manifest.text())


def prepared(folder: Path, graph: ExecGraph, *drop: str, unclaimed: bool = False) -> Restore:
    return prepare(folder, graph, drop_unclaimed=unclaimed, drop=frozenset(drop))


def fates(restore: Restore) -> dict[str, tuple[str, int]]:
    return {f"{each.uid}:{each.name}": (each.fate, each.rows) for each in restore.fates}


GRAPH = pipeline("SUM(v) AS s")
UID = saved(GRAPH).title


def test_the_same_plan_keeps_its_state(tmp_path: Path) -> None:
    write(tmp_path, GRAPH, saved(GRAPH))
    found = prepared(tmp_path, GRAPH)
    assert fates(found) == {"1_source:position": ("restored", 0), UID: ("restored", 3)}
    assert found.positions == {"1_source": "[]"}


def test_an_alias_leads_to_the_column_of_its_meaning(tmp_path: Path) -> None:
    write(tmp_path, GRAPH, saved(GRAPH))
    found = prepared(tmp_path, pipeline("SUM(v) AS total"))
    ((_, kept),) = found.kept.items()
    assert dict(kept.columns) == {"k0": "k0", "total$sum": "s$sum"}


def test_what_a_restore_changes_joins_the_history(tmp_path: Path) -> None:
    uid, _, name = UID.partition(":")
    before = Step("edit", uid, name, 5, 3)
    write(tmp_path, GRAPH, saved(GRAPH), history=(before,))
    assert prepared(tmp_path, GRAPH).history == (before,)
    found = prepared(tmp_path, pipeline("SUM(v) AS total")).history
    assert [str(each) for each in found[1:]] == [
        f"convert {UID} columns are found by their meaning: s$sum as total$sum, 3 rows"
    ]
    assert found[1].schema_before == saved(GRAPH).schema
    dropped = prepared(tmp_path, pipeline("MAX(v) AS s"), UID).history
    assert [str(each) for each in dropped[1:]] == [f"drop {UID}, 3 -> 0 rows"]


def test_state_that_is_not_there_starts_empty(tmp_path: Path) -> None:
    write(tmp_path, GRAPH)
    assert fates(prepared(tmp_path, GRAPH))[UID] == ("empty", 0)


@pytest.mark.parametrize("now", ["MAX(v) AS s", "SUM(v + 1) AS s", "AVG(v) AS s", "SUM(v) AS s, COUNT(*) AS c"])
def test_another_meaning_is_refused(tmp_path: Path, now: str) -> None:
    write(tmp_path, GRAPH, saved(GRAPH))
    with pytest.raises(StateError, match=rf"{UID} \(3 rows\): column"):
        prepared(tmp_path, pipeline(now))
    assert fates(prepared(tmp_path, pipeline(now), UID))[UID] == ("dropped", 3)


def test_another_input_is_refused(tmp_path: Path) -> None:
    write(tmp_path, GRAPH, saved(GRAPH))
    with pytest.raises(StateError, match=r"input: filter: t\.v > 0 -> t\.v > 1"):
        prepared(tmp_path, pipeline("SUM(v) AS s", "t WHERE v > 1"))


def test_state_without_an_operator_needs_consent(tmp_path: Path) -> None:
    stray = replace(saved(GRAPH), uid="99_join")
    write(tmp_path, GRAPH, stray)
    with pytest.raises(StateError, match="99_join"):
        prepared(tmp_path, GRAPH)
    for found in (prepared(tmp_path, GRAPH, unclaimed=True), prepared(tmp_path, GRAPH, stray.title)):
        assert (fates(found)[stray.title][0], fates(found)[UID][0]) == ("dropped", "empty")


def test_a_state_does_not_go_on_without_its_source(tmp_path: Path) -> None:
    write(tmp_path, GRAPH, saved(GRAPH))
    with pytest.raises(StateError, match="seen rows of 1_source, which does not go on"):
        prepared(tmp_path, GRAPH, "1_source:position")
    found = prepared(tmp_path, GRAPH, "1_source:position", UID)
    assert {fate for fate, _ in fates(found).values()} == {"dropped"}
    assert found.positions == {}


def test_a_state_to_drop_must_exist(tmp_path: Path) -> None:
    write(tmp_path, GRAPH)
    with pytest.raises(StateError, match="no such state to drop"):
        prepared(tmp_path, GRAPH, "1_x:y")


@pytest.mark.parametrize("consent", ["await_approval", "allow", "reject"])
def test_columns_that_start_empty_need_consent(tmp_path: Path, consent: str) -> None:
    write(tmp_path, GRAPH, saved(GRAPH))
    graph = pipeline("SUM(v) AS s, COUNT(*) AS c")
    if consent != "allow":
        with pytest.raises(StateError, match=rf"{UID} \(3 rows\): column c\$count: .*, so it starts empty"):
            prepare(tmp_path, graph, drop_unclaimed=True, drop=frozenset(), consent=consent)
        return
    found = prepare(tmp_path, graph, drop_unclaimed=False, drop=frozenset(), consent=consent)
    ((_, kept),) = found.kept.items()
    assert dict(kept.columns) == {"k0": "k0", "s$sum": "s$sum"}
    assert [str(each) for each in found.fates if "so it starts empty" in str(each)]


def test_consent_to_every_loss_drops_what_has_no_operator(tmp_path: Path) -> None:
    write(tmp_path, GRAPH, saved(GRAPH), replace(saved(GRAPH), uid="9_join"))
    with pytest.raises(StateError, match="9_join:groupAggregateState"):
        prepare(tmp_path, GRAPH, drop_unclaimed=False, drop=frozenset())
    found = prepare(tmp_path, GRAPH, drop_unclaimed=False, drop=frozenset(), consent="allow")
    assert fates(found)["9_join:groupAggregateState"] == ("dropped", 3)


def test_not_even_a_new_operator_starts_empty_where_losses_are_rejected(tmp_path: Path) -> None:
    write(tmp_path, GRAPH)
    with pytest.raises(StateError, match=rf"{UID} \(0 rows\): the old plan has no such state"):
        prepare(tmp_path, GRAPH, drop_unclaimed=False, drop=frozenset(), consent="reject")
