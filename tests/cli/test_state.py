"""`rekindle state` on a savepoint."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execnodes.terms.shown import TEXT
from execnodes.terms.term import leaf
from rekindle.cli import main
from rekindle.cli.state import bar
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, SavedState, checksum

UID, STATE = "4_group-aggregate", "groupAggregateState"
FILE = f"state/{UID}/{STATE}.parquet/part-0.parquet"


@pytest.fixture
def savepoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REKINDLE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "saved"
    (folder / FILE).parent.mkdir(parents=True)
    rows = {"k": [f"region {i}" for i in range(30)], "raw": [bytes([i]) for i in range(30)], "rk_written": [None] * 30}
    pq.write_table(pa.table(rows), folder / FILE)
    (folder / PLAN).write_text("{}")
    state = SavedState(
        UID, STATE, (("k", "STRING"), ("raw", "BYTES")), ("k",), False, 3000, {"input": leaf("table", "t")},
        (leaf(TEXT, "t.k{STRING}"), leaf(TEXT, "$MAX$1(t.raw)")), ("1_source",), 8, 30, 1234,
        {FILE: checksum(folder / FILE)},
    )  # fmt: skip
    manifest = Manifest("1.0", hashlib.sha256(b"{}").hexdigest(), 7, {}, {}, (state,))
    (folder / NAME).write_text(manifest.text())
    return folder


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str, command: str = "inspect") -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["rekindle", "state", command, *arguments])
    with pytest.raises(SystemExit) as ended:
        main.run()
    return ended.value.code


def test_states_are_described(
    savepoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, str(savepoint)) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{UID}:{STATE}  30 rows, 1,234 bytes, max parallelism 8, ttl 3000 ms",
        "    key groups: ▂▂▄▅█▂▃▃  min 2, median 3, max 9 rows",
        "    input: t",
        "    k STRING  key  t.k",
        "    raw BYTES  MAX(t.raw)",
    ]


@pytest.mark.parametrize("address", [UID, f"{UID}:{STATE}"])
def test_rows_are_shown(
    savepoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    assert call(monkeypatch, str(savepoint), address, "--limit", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-7:] == [
        "+----------+-------+",
        "| k        | raw   |",
        "+----------+-------+",
        "| region 0 | x'00' |",
        "| region 1 | x'01' |",
        "+----------+-------+",
        "The first 2 of 30 rows; --limit N shows more.",
    ]


def test_json(savepoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, str(savepoint), UID, "--limit", "1", "--json") == 0
    [state] = json.loads(capsys.readouterr().out)
    assert state["columns"] == [{"name": "k", "type": "STRING"}, {"name": "raw", "type": "BYTES"}]
    assert (state["rows"], state["bytes"], state["ttl_ms"], state["max_parallelism"]) == (30, 1234, 3000, 8)
    assert state["values"] == [{"k": "region 0", "raw": "x'00'", "rk_written": None}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["saved", "5_nope"], "error: there is no state 5_nope\n  hint: States:\n        4_group-aggregate:"),
        (["nowhere"], "error: this is neither a savepoint nor a job\n  at nowhere\n"),
        (["home"], "error: this is neither a savepoint nor a job\n  at home\n"),
    ],
)
def test_what_is_not_there(
    savepoint: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(savepoint.parent)
    assert call(monkeypatch, *arguments) == 1
    assert capsys.readouterr().err.startswith(message)


def test_damage_is_named(savepoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (savepoint / FILE).write_bytes(b"")
    assert call(monkeypatch, str(savepoint)) == 1
    assert "its checksum is wrong" in capsys.readouterr().err


def test_states_are_listed(
    savepoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, str(savepoint), command="list") == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[3:4]] == [
        f"| {UID} | {STATE} | 30 | 1,234 | k | 8 | 2 | 3 | 9 | ▂▂▄▅█▂▃▃ |".split()
    ]
    assert call(monkeypatch, str(savepoint), "--json", command="list") == 0
    [state] = json.loads(capsys.readouterr().out)
    assert (state["uid"], state["rows"], sum(state["key_groups"]["rows"])) == (UID, 30, 30)


@pytest.mark.parametrize(
    ("counts", "drawn"),
    [([0, 0], "··"), ([1, 100, 50], "▁█▄"), ([3] * 64, "█" * 32), ([1] * 33, "█" * 16 + "▄")],
)
def test_bars(counts: list[int], drawn: str) -> None:
    assert bar(counts) == drawn


def test_sql(savepoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    sql = f"SELECT k, raw FROM {STATE} WHERE k LIKE '%9' ORDER BY k"
    assert call(monkeypatch, str(savepoint), sql, command="query") == 0
    assert capsys.readouterr().out.splitlines()[3:] == [
        "| region 19 | x'13' |",
        "| region 29 | x'1d' |",
        "| region 9  | x'09' |",
        "+-----------+-------+",
        "3 rows in set",
    ]
    assert call(monkeypatch, str(savepoint), sql, "--json", command="query") == 0
    assert json.loads(capsys.readouterr().out)[0] == {"k": "region 19", "raw": "x'13'"}
    assert call(monkeypatch, str(savepoint), "SELECT 1 WHERE false", "--json", command="query") == 0
    assert json.loads(capsys.readouterr().out) == []
    assert call(monkeypatch, str(savepoint), "DROP VIEW x", command="query") == 1
    assert capsys.readouterr().err.startswith("error: this is not one SELECT")


def test_a_key_is_searched(
    savepoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, str(savepoint), "region 7", command="find") == 0
    assert "| 3         | region 7 | x'07' | <NULL>     |" in capsys.readouterr().out.splitlines()
    assert call(monkeypatch, str(savepoint), "region 77", command="find") == 0
    assert capsys.readouterr().out == "No state has a row with region 77 in its key.\n"
    assert call(monkeypatch, str(savepoint), "region 7", "--json", command="find") == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row == {
        "uid": UID, "name": STATE, "key_group": 3, "row": {"k": "region 7", "raw": "x'07'", "rk_written": None},
    }  # fmt: skip


def test_rows_are_exported(
    savepoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = savepoint.parent / "rows.csv"
    assert call(monkeypatch, str(savepoint), UID, "-o", str(target), command="export") == 0
    assert capsys.readouterr().out == f"30 rows of {UID} in {target}\n"
    assert target.read_text().splitlines()[:2] == ["k,raw,rk_written", "region 0,\\x00,"]
    assert call(monkeypatch, str(savepoint), UID, "-o", str(target), command="export") == 1
    assert capsys.readouterr().err.startswith(f"error: the file exists already\n  at {target}")
