"""`rekindle migrate`, `state import` and `state edit` from outside: what they say, and their exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main
from rekindle.savepoints.contents import read
from rekindle.savepoints.planned import planned_states
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.writer import SavepointWriter

SCRIPT = """
CREATE TABLE t (k STRING, j STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
CREATE TABLE u (k STRING, s INT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print');
INSERT INTO u SELECT {0}, {1} AS s, COUNT(*) AS c FROM t GROUP BY {0};
"""
OPERATOR = "3_group-aggregate"
STATE = f"{OPERATOR}:groupAggregateState"
FUNCTIONS = """
import pyarrow as pa
import pyarrow.compute as pc

def doubled(rows: pa.Table) -> pa.Table:
    return rows.set_column(1, "s$sum", pc.multiply(rows["s$sum"], 2))

def broken(rows):
    raise ValueError("no such luck")

number = 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The plans old.json, new.json and other.json, functions.py, and a savepoint of the old plan."""
    for name, key, call in (("old", "k", "SUM(v)"), ("new", "k", "MAX(v)"), ("other", "j", "SUM(v)")):
        environment = TableEnvironment.create({"table.optimizer.agg-phase-strategy": "ONE_PHASE"})
        plan = environment.compile_script(SCRIPT.format(key, call))
        plan.write_to_file(tmp_path / f"{name}.json")
        if name == "old":
            rows = pa.table({"k0": ["a", "b", "c"], "s$sum": [1, 2, 3], "c$count": [1, 1, 1]})
            assert [each.title for each in planned_states(plan.graph).values()] == [STATE]
            SavepointWriter.new_savepoint(plan).with_state(STATE, rows).write(tmp_path / "saved")
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    (tmp_path / "rows.csv").write_text("k0,s$sum,c$count\nx,7,1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "functions", raising=False)
    return tmp_path


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["rekindle", *arguments])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        main.run()
    return ended.value.code


def test_several_things_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--rename-uid", f"{OPERATOR}=9_x", "--split", "9_x=10_a, 11_b WHERE k0 < 'c'", "--drop", "1_source"]
    arguments += ["--transform", "10_a=functions:doubled", "--max-parallelism", "4", "--export", "10_a=a.csv"]
    assert call(monkeypatch, "migrate", "saved", "--to", "made/new", *arguments) == 0
    lines = [line.rpartition(", ")[0] or line for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "drop 1_source:position the source begins at its beginning",
        f"rename 9_x:groupAggregateState from {STATE}, 3 rows",
        "split 10_a:groupAggregateState from 9_x where (k0 < 'c') IS TRUE, 3 -> 2 rows",
        "split 11_b:groupAggregateState from 9_x where (k0 < 'c') IS NOT TRUE, 3 -> 1 rows",
        "transform 10_a:groupAggregateState by functions:doubled, 2 rows",
        "repartition 10_a:groupAggregateState max parallelism 8 -> 4, now 0 to 1 rows a key group, 2 rows",
        "repartition 11_b:groupAggregateState max parallelism 8 -> 4, now 0 to 1 rows a key group, 1 rows",
        "export 10_a:groupAggregateState to a.csv, 2 rows",
        "2 states",
        "Savepoint made/new",
    ]
    assert (folder / "a.csv").read_text().splitlines() == ["k0,s$sum,c$count", "a,2,1", "b,4,1"]
    assert read(folder / "made" / "new").positions == {}


def test_merged_and_split_by_columns(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "migrate", "saved", "--to", "1", "--split", f"{OPERATOR}=4_a(s$sum), 5_b(c$count)") == 0
    assert [[name for name, _ in each.schema] for each in read(folder / "1").states] == [
        ["k0", "s$sum"],
        ["k0", "c$count"],
    ]
    assert call(monkeypatch, "migrate", "saved", "--to", "2", "--split", f"{OPERATOR}=4_a,5_b where k0 = 'a'") == 0
    capsys.readouterr()
    assert call(monkeypatch, "migrate", "2", "--to", "3", "--merge", f"4_a, 5_b={OPERATOR}", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["savepoint"] == "3"
    (step,) = found["steps"]
    assert (step["operation"], step["rows_before"], step["rows_after"]) == ("merge", 3, 3)
    assert [(each["uid"], each["rows"]) for each in found["states"]] == [(OPERATOR, 3)]


def test_a_dry_run_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    assert call(monkeypatch, "migrate", "saved", "--dry-run", "--export", f"{STATE}=x.csv") == 0
    assert capsys.readouterr().out.endswith("1 state, 3 rows.\nDry run: nothing has been written.\n")
    broken = ["--transform", f"{STATE}=functions:broken"]
    assert call(monkeypatch, "migrate", "saved", "--to", "new", "--dry-run", *broken) == 1
    assert "error: rows 0 to 2: functions:broken failed: ValueError: no such luck" in capsys.readouterr().err
    assert [each for each in sorted(folder.iterdir()) if each.name != "__pycache__"] == before


def test_rows_are_imported_and_edited(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "state", "import", "saved", STATE, "rows.csv", "--to", "1") == 0
    assert f"import {STATE} from rows.csv, 3 -> 1 rows" in capsys.readouterr().out
    assert SavepointReader.read(folder / "1").table(STATE).to_pylist() == [{"k0": "x", "s$sum": 7, "c$count": 1}]
    sql = """UPDATE "3_group-aggregate".groupAggregateState SET "s$sum" = 8 WHERE k0 = 'x'"""
    assert call(monkeypatch, "state", "edit", "1", "--sql", sql, "--to", "2", "--json") == 0
    assert json.loads(capsys.readouterr().out)["steps"][0]["detail"] == "1 rows out, 1 in"
    assert SavepointReader.read(folder / "2").table(STATE)["s$sum"].to_pylist() == [8]
    assert call(monkeypatch, "state", "edit", "1", "--sql", sql, "--dry-run") == 0
    assert call(monkeypatch, "state", "edit", "1", "--sql", sql, "--to", "2") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--plan", "old.json"], 0, ""),
        (["--plan", "other.json"], 3, f"{STATE} incompatible: key: t.k -> t.j"),
        (["--plan", "other.json", "--allow-non-restored-state"], 3, f"{STATE} incompatible: key: t.k -> t.j"),
        (["--plan", "new.json"], 4, f"{STATE} convert: "),
        (["--plan", "new.json"], 4, "MAX(t.v).max (INT) is new; nothing in the state tells it, so it starts empty"),
        (["--plan", "new.json", "--allow-non-restored-state"], 0, ""),
        (["--plan", "old.json", "--drop", STATE], 4, f"{STATE} empty: the old plan has no such state; it starts empty"),
        (["--plan", "old.json", "--drop", STATE, "--allow-non-restored-state"], 0, ""),
        (["--plan", "new.json", "--accept-meaning", STATE], 1, "lack columns of the plan's state: column s$max INT"),
        (["--plan", "nowhere.json"], 1, "there is no such plan file"),
    ],
)
def test_another_plan(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    says: str,
) -> None:
    assert call(monkeypatch, "migrate", "saved", "--to", "new", *arguments) == code
    error = capsys.readouterr().err
    assert says in error
    assert error.startswith("error: " if code else "")
    assert (folder / "new").exists() == (code == 0)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 2, "give --to NEW, or --dry-run"),
        (["--to", "x", "--rename-uid", "a"], 2, "is not of the form OLD=NEW"),
        (["--to", "x", "--rename-uid", "a="], 2, "is not of the form OLD=NEW"),
        (["--to", "x", "--move-files", "a"], 2, "is not of the form OLD=NEW"),
        (["--to", "x", "--move-files", "/a=/b"], 1, "no source has read a file below /a"),
        (["--to", "x", "--split", "a=b"], 2, "is neither of the form"),
        (["--to", "x", "--split", "a=b(c"], 2, "is neither of the form"),
        (["--to", "x", "--split", f"{OPERATOR}=b(s$sum)"], 1, "a split needs two different uids"),
        (["--to", "x", "--merge", f"{OPERATOR}=x"], 1, "a merge needs two or more"),
        (["--to", "x", "--accept-meaning", STATE], 2, "this is about the states of --plan"),
        (["--to", "x", "--transform", STATE], 2, "is not of the form"),
        (["--to", "x", "--transform", f"{STATE}=functions"], 1, "names no function"),
        (["--to", "x", "--transform", f"{STATE}=functions:nope"], 1, "cannot be loaded: AttributeError"),
        (["--to", "x", "--transform", f"{STATE}=nope:nope"], 1, "cannot be loaded: ModuleNotFoundError"),
        (["--to", "x", "--transform", f"{STATE}=functions:number"], 1, "is no function"),
        (["--to", "x", "--import", f"{STATE}=nope.csv"], 1, "there is no such file"),
        (["--to", "x", "--export", f"{STATE}=rows.csv"], 1, "the file exists already"),
        (["--to", "x", "--export", f"{STATE}=rows.doc"], 1, "tells no format"),
        (["--to", "x", "--export", "9_x=y.csv"], 1, "there is no state 9_x"),
        (["--to", "x", "--max-parallelism", "0"], 1, "is not between 1 and 32768"),
        (["--to", "saved"], 1, "the folder exists already"),
    ],
)
def test_wrong_commands(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    says: str,
) -> None:
    assert call(monkeypatch, "migrate", "saved", *arguments) == code
    assert says in capsys.readouterr().err
    assert not (folder / "x").exists()


def test_only_savepoints_are_migrated(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "migrate", "old.json", "--to", "x") == 1
    assert "this is no savepoint" in capsys.readouterr().err
