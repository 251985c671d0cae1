"""`rekindle state inspect` on a savepoint."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rekindle.cli import main
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
        UID, STATE, (("k", "STRING"), ("raw", "BYTES")), ("k",), False, 3000, {"input": "t"},
        ("t.k{STRING}", "$MAX$1(t.raw)"), ("1_source",), 8, 30, 1234, {FILE: checksum(folder / FILE)},
    )  # fmt: skip
    manifest = Manifest("1.0", hashlib.sha256(b"{}").hexdigest(), 7, {}, {}, (state,))
    (folder / NAME).write_text(manifest.text())
    return folder


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["rekindle", "state", "inspect", *arguments])
    with pytest.raises(SystemExit) as ended:
        main.run()
    return ended.value.code


def test_states_are_described(
    savepoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, str(savepoint)) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{UID}:{STATE}  30 rows, 1,234 bytes, max parallelism 8, ttl 3000 ms",
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
