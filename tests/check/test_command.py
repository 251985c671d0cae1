"""`rekindle check`: exit codes, JSON, text, and what it says of input that is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from plans.compatibility.plan_meanings import meanings
from plans.format.load import load
from rekindle.cli import main
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, SavedState, checksum
from tests.check.plans import JOIN, plan

SUM = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
QUERIES = {
    "old": SUM,
    "renamed": SUM.replace("AS s", "AS total"),
    "max": SUM.replace("SUM", "MAX"),
    "moved": SUM.replace("GROUP", "WHERE v > 0 GROUP"),
    "join": JOIN.format("r.v"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plans")
    for name, query in QUERIES.items():
        (made / f"{name}.json").write_text(plan(query))
    (made / "aged.json").write_text(plan(SUM, table__exec__state__ttl="1 h"))
    (made / "broken.json").write_text("{")
    return made


def call(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> int:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["rekindle", "check", *arguments])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize(
    ("new", "code", "verdict", "fates"),
    [
        ("old", 0, "full", {"keep"}),
        ("renamed", 0, "full", {"keep", "convert"}),
        ("max", 3, "incompatible", {"keep", "incompatible"}),
        ("join", 4, "partial", {"keep", "empty", "drop"}),
        ("aged", 5, "unknown", {"keep"}),
    ],
)
def test_verdicts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, new: str, code: int,
    verdict: str, fates: set[str],
) -> None:  # fmt: skip
    assert call(monkeypatch, folder, "old.json", f"{new}.json", "--json") == code
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == verdict
    assert {each["fate"] for each in found["operators"]} == fates
    assert all({"uid", "state", "fate", "reason"} <= set(each) for each in found["operators"])
    assert call(monkeypatch, folder, "old.json", f"{new}.json") == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"verdict: {verdict}"
    assert [line.split()[0] for line in lines[:-1]] == [each["fate"] for each in found["operators"]]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["old.json", "nowhere.json"], 1, "error: there is no such plan file"),
        (["broken.json", "old.json"], 1, "error: the JSON ends too early"),
        (["old.json", "."], 1, "error: the plan file cannot be read"),
        (["old.json", "old.json", "--savepoint", "."], 1, "error: this is no savepoint"),
        (["old.json"], 2, "give two plans, not 1"),
    ],
)
def test_wrong_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str],
    code: int, message: str,
) -> None:  # fmt: skip
    assert call(monkeypatch, folder, *arguments) == code
    assert message in capsys.readouterr().err


def test_a_plan_against_itself_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert call(monkeypatch, folder, "old.json", "old.json") == 0
    assert "compared with itself" in capsys.readouterr().err


def test_a_terminal_gets_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert call(monkeypatch, folder, "old.json", "max.json") == 3
    shown = capsys.readouterr().out
    assert "verdict: incompatible" in shown
    assert "globalGroupAggregateState" in shown.replace("\n", "") or "globalGroup" in shown


def test_it_starts_no_engine(folder: Path) -> None:
    program = (
        "import sys\nfrom rekindle.cli.app import app_of\n"
        "try: app_of()(['check', 'old.json', 'max.json'])\nexcept SystemExit: pass\n"
        "print(*sorted({'pyspark', 'pandas', 'duckdb', 'pyarrow'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr.split() == []
    assert "verdict: incompatible" in done.stdout


def test_a_savepoint_tells_what_the_state_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Its own meanings are compared with NEW, whatever OLD says."""
    savepoint = folder / "savepoint"
    savepoint.mkdir()
    (savepoint / PLAN).write_text("{}")
    position, state = meanings(load((folder / "max.json").read_text()))
    saved = SavedState(
        state.uid, state.name, tuple((each.name, each.type) for each in state.columns), ("k0",), False, 0,
        state.parts, tuple(each.meaning for each in state.columns), tuple(state.sources), 8, 1234, 567, {},
    )  # fmt: skip
    manifest = Manifest("1.0", checksum(savepoint / PLAN), 0, {}, {position.uid: position.parts}, (saved,))
    (savepoint / NAME).write_text(manifest.text())
    assert call(monkeypatch, folder, "old.json", "max.json", "--savepoint", "savepoint", "--json") == 0
    (found,) = (each for each in json.loads(capsys.readouterr().out)["operators"] if each["state"] != "position")
    assert (found["fate"], found["rows"], found["bytes"]) == ("keep", 1234, 567)
    assert call(monkeypatch, folder, "max.json", "old.json", "--savepoint", "savepoint") == 3
    assert "(1234 rows, 567 bytes)  column s$sum: function: MAX(t.v) -> SUM(t.v)" in capsys.readouterr().out


def test_state_that_is_made(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """As `compile --bootstrap` judges it; the commands that follow make it."""
    uid = next(each.uid for each in meanings(load((folder / "max.json").read_text())) if each.columns)
    assert call(monkeypatch, folder, "old.json", "max.json", "--json", "--bootstrap", uid) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["bootstrap"]) == ("full", [uid])
    assert call(monkeypatch, folder, "old.json", "max.json", "--markdown", "--bootstrap", uid) == 0
    assert f"rekindle bootstrap max.json {uid} --savepoint SAVEPOINT --to WHOLE" in capsys.readouterr().out
    assert call(monkeypatch, folder, "old.json", "max.json", "--markdown") == 3
    assert f"rekindle check old.json max.json --bootstrap {uid}" in capsys.readouterr().out
    assert call(monkeypatch, folder, "old.json", "renamed.json", "--bootstrap", uid) == 1
    assert "is no operator whose state would have to be made" in capsys.readouterr().err
