"""What a user sees of a savepoint that is refused: exit code 1, the file or state, the reason; no traceback."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from execnodes.terms.shown import TEXT
from execnodes.terms.term import leaf
from plans.compatibility.plan_meanings import meanings
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main
from rekindle.savepoints.contents import read
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, SavedState, checksum, sealed

SCRIPT = """
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
CREATE TABLE u (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO u SELECT k, SUM(v) FROM t GROUP BY k;
"""
FILE = "state/part-0.parquet"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plan, and a savepoint of its one state."""
    plan = TableEnvironment.create({"table.optimizer.agg-phase-strategy": "ONE_PHASE"}).compile_script(SCRIPT)
    (tmp_path / "plan.json").write_text(plan.as_json_string(), encoding="utf-8")
    savepoint = tmp_path / "savepoint"
    (savepoint / "state").mkdir(parents=True)
    (savepoint / FILE).write_bytes(b"PAR1 rows PAR1")
    (savepoint / PLAN).write_text("{}")
    position, meaning = meanings(plan.graph)
    state = SavedState(
        meaning.uid, meaning.name, tuple((each.name, each.type) for each in meaning.columns), ("k0",), False, 0,
        meaning.parts, tuple(each.meaning for each in meaning.columns), ("1_source",), 8, 3, 14,
        {FILE: checksum(savepoint / FILE)},
    )  # fmt: skip
    sources = {position.uid: position.parts}
    manifest = Manifest("1.0", checksum(savepoint / PLAN), 0, {}, sources, (state,))
    (savepoint / NAME).write_text(manifest.text())
    return tmp_path


def state_with(**values: object) -> Callable[[Path], object]:
    def change(savepoint: Path) -> None:
        manifest = read(savepoint)
        (state,) = manifest.states
        changed = replace(state, **values)  # type: ignore[arg-type]  # any field
        (savepoint / NAME).write_text(replace(manifest, states=(changed,)).text())

    return change


def manifest_with(**values: object) -> Callable[[Path], object]:
    def change(savepoint: Path) -> None:
        found = json.loads((savepoint / NAME).read_text())
        (savepoint / NAME).write_text(sealed({**found, **values}))

    return change


def source_is(name: str) -> Callable[[Path], object]:
    def change(savepoint: Path) -> None:
        sources = {"1_source": {"source": leaf("table", name)}}
        (savepoint / NAME).write_text(replace(read(savepoint), sources=sources).text())

    return change


STATE = "3_group-aggregate:groupAggregateState"


@pytest.mark.parametrize(
    ("damage", "arguments", "says"),
    [
        (shutil.rmtree, [], ["manifest.json", "this is no savepoint"]),
        (lambda s: (s / NAME).write_text((s / NAME).read_text()[:100]), [], ["manifest.json", "damaged"]),
        (lambda s: (s / NAME).write_bytes(b"\xff\xfe"), [], ["manifest.json", "damaged"]),
        (lambda s: (s / NAME).write_text('{"format": "flink"}'), [], ["manifest.json", "not a manifest"]),
        (manifest_with(version=3), [], ["manifest.json", "format 3", "newer"]),
        (manifest_with(states=[{"uid": "x"}]), [], ["manifest.json", "damaged"]),
        (lambda s: (s / FILE).unlink(), [], ["part-0.parquet", "missing"]),
        (lambda s: (s / FILE).write_bytes(b"PAR1 rows PAR"), [], ["part-0.parquet", "checksum"]),
        (lambda s: (s / PLAN).write_text("{ }"), [], ["plan.json", "checksum"]),
        (state_with(schema=(("k", "INT"),)), [], ["manifest.json", "damaged"]),
        (
            state_with(meanings=(leaf(TEXT, "other"), leaf(TEXT, "$MAX$1(t.v).max"))),
            [],
            [STATE, "column k0: other -> t.k", "MAX(t.v).max -> SUM"],
        ),
        (state_with(parts={"key": leaf(TEXT, "()")}), [], [STATE, "key: () -> (t.k)", "input added: t"]),
        (source_is("v"), [], ["1_source:position (0 rows): source: v -> "]),
        (state_with(uid="9_join"), [], ["9_join:groupAggregateState (3 rows)", "no such operator"]),
        (manifest_with(positions={"7_source": "[]"}), [], ["7_source:position", "no such source"]),
        (lambda s: None, ["--allow-drop-state", "1_x:y"], ["1_x:y", "no such state to drop"]),
    ],
)
def test_refused(
    folder: Path,
    damage: Callable[[Path], object],
    arguments: list[str],
    says: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damage(folder / "savepoint")
    command = ["rekindle", "run", str(folder / "plan.json"), "-s", str(folder / "savepoint"), *arguments]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        main.run()
    error = capsys.readouterr().err
    assert ended.value.code == 1
    assert error.startswith("error: ")
    assert "Traceback" not in error
    for text in says:
        assert text in error
