"""What is said before anything is read again: which operators can be given state, and which sources can be read."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from execnodes.core.errors import PlanError, RekindleError
from plans.compatibility.compare import Fate
from plans.compatibility.plan_meanings import POSITION, meanings
from plans.evolution.bootstrap import offered
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.runtime.bootstrap import _whole
from rekindle.savepoints.contents import read
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, SavedState, checksum
from rekindle.statements.evolution import EvolutionError
from tests.evolution.compiling import compiled
from tests.evolution.matrix import TABLES
from tests.savepoints.saved import AGGREGATES

PLACED = TABLES.replace("${dir}", "/nowhere")
"""As `compiled` has them."""
SUM = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
NESTED = f"SELECT s, COUNT(*) AS c FROM ({SUM}) GROUP BY s"


def bootstrapped(*uids: str) -> CompiledPlan:
    options = {"table.plan.evolution.bootstrap": ",".join(uids)}
    return TableEnvironment.create(options).compile_script(PLACED + NESTED, from_plan=compiled(SUM))


def test_an_operator_that_cannot_start_empty_is_made() -> None:
    with pytest.raises(EvolutionError, match="cannot start empty") as refused:
        compiled(NESTED, compiled(SUM))
    (uid,) = (each.uid for each in refused.value.comparison.judgements if each.fate is Fate.INCOMPATIBLE)
    plan = bootstrapped(uid)
    assert plan.comparison is not None
    assert plan.comparison.verdict == "full"
    assert [each.reason for each in plan.comparison.judgements if each.uid == uid] == [
        "the old plan has no such state; it is made from its sources: rekindle bootstrap"
    ]


FILTERED = SUM.replace("GROUP", "WHERE w > 1 GROUP")
BOOTSTRAP = "table.plan.evolution.bootstrap"


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (FILTERED, "input: filter added: t.w > 1"),
        (SUM.replace("k, ", "k2, ").replace("BY k", "BY k2"), "key: t.k -> t.k2"),
        (SUM.replace("(v)", "(w)"), "argument: t.v -> t.w"),
        (SUM.replace("SUM(v)", "SUM(v) FILTER (WHERE w > 1)"), "filter added: t.w > 1"),
    ],
)
def test_it_is_said_what_has_changed_and_how_nothing_is_lost(new: str, reason: str) -> None:
    """As without the old plan; where state is made, nobody is asked about what it replaces."""
    with pytest.raises(EvolutionError) as refused:
        TableEnvironment.create({}).compile_script(PLACED + new, from_plan=compiled(SUM))
    comparison = refused.value.comparison
    (uid,) = offered(comparison)
    assert reason in str(refused.value)
    assert f"rekindle compile --bootstrap {uid}" in str(refused.value)
    made = TableEnvironment.create({BOOTSTRAP: uid, "table.plan.evolution.consent": "reject"})
    plan = made.compile_script(PLACED + new, from_plan=compiled(SUM))
    assert plan.comparison is not None
    assert plan.comparison.verdict == "full"


def test_what_cannot_be_read_again_is_not_offered() -> None:
    tables = re.sub(
        r"'connector' = '\w+'[^)]*(?=\))", "'connector' = 'spark', 'spark.format' = 'rate'", TABLES, count=1
    )
    before = TableEnvironment.create({}).compile_script(tables + SUM)
    with pytest.raises(EvolutionError) as refused:
        TableEnvironment.create({}).compile_script(tables + FILTERED, from_plan=before)
    assert not tuple(offered(refused.value.comparison))
    assert "--bootstrap" not in str(refused.value)


def test_an_operator_that_goes_on_with_a_loss_is_made() -> None:
    more = SUM.replace("AS s", "AS s, COUNT(w) AS c")
    with pytest.raises(EvolutionError) as refused:
        TableEnvironment.create({}).compile_script(PLACED + more, from_plan=compiled(SUM))
    (uid,) = offered(refused.value.comparison)
    plan = TableEnvironment.create({BOOTSTRAP: uid}).compile_script(PLACED + more, from_plan=compiled(SUM))
    assert plan.comparison is not None
    assert plan.comparison.verdict == "full"


@pytest.mark.parametrize("uid", ["1_source", "6_global-group-aggregate", "99_join"])
def test_only_operators_that_lose_their_state_are_made(uid: str) -> None:
    with pytest.raises(PlanError, match="is no operator whose state would have to be made") as refused:
        bootstrapped(uid)
    assert "11_global-group-aggregate" in str(refused.value)


@pytest.mark.parametrize(
    ("uids", "message"),
    [
        (["99_join"], "the plan has no operator '99_join'"),
        (["1_source"], "the plan has no operator '1_source'"),
        (["6_global-group-aggregate"], "the savepoint has the state of '6_global-group-aggregate' already"),
        (["11_global-group-aggregate"], "a file that this micro-batch is to read is gone"),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], uids: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    bootstrapped("11_global-group-aggregate").write_to_file("new.json")
    saved(Path("savepoint"), compiled(SUM))
    monkeypatch.setattr(sys, "argv", ["rekindle", "bootstrap", "new.json", *uids, "-s", "savepoint", "--to", "whole"])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == RekindleError.exit_code
    assert message in " ".join(capsys.readouterr().err.split())
    assert not Path("whole").exists()


def saved(folder: Path, plan: CompiledPlan) -> None:
    """A savepoint that says what it has, but has no rows."""
    folder.mkdir()
    (folder / PLAN).write_text(plan.as_json_string())
    positions = {each.uid: each for each in meanings(plan.graph) if each.name == POSITION}
    states = tuple(
        SavedState(
            each.uid, each.name, tuple((c.name, c.type) for c in each.columns), ("k0",), each.bucketed, 0, each.parts,
            tuple(c.meaning for c in each.columns), tuple(each.sources), 8, 0, 0, {},
        )
        for each in meanings(plan.graph)
        if each.name != POSITION
    )  # fmt: skip
    manifest = Manifest(
        "1.0", checksum(folder / PLAN), 0, dict.fromkeys(positions, '["/nowhere/t/1.json"]'),
        {uid: each.parts for uid, each in positions.items()}, states,
    )  # fmt: skip
    (folder / NAME).write_text(manifest.text())


@pytest.mark.parametrize(
    ("before", "made", "expected"), [(5_000, 9_000, 5_000), (5_000, 3_000, 5_000), (0, 9_000, 9_000)]
)
def test_the_watermark_is_that_of_the_savepoint_if_it_has_one(before: int, made: int, expected: int) -> None:
    """The states that it has had have got no further, whatever the sources of new ones have given."""
    manifest = replace(read(AGGREGATES), watermark=before)
    whole = _whole(manifest, manifest.states[:1], made, frozenset(), manifest.meanings, "made")
    assert whole.watermark == expected
    assert [each.title for each in whole.states] == [each.title for each in (*manifest.states[1:], manifest.states[0])]
