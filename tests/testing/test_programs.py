"""Finding program folders and reading what they expect."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from execnodes.core.errors import JobError, PlanError, SqlError
from execnodes.core.tables import Column, PrimaryKey, Schema
from execnodes.core.types import INT, STRING
from rekindle.testing import report
from rekindle.testing.materialize import Message
from rekindle.testing.programs import Mode, Program, discover
from rekindle.testing.runner import Assessment, Outcome, Result, Settings, SinkRows, compared, refused
from tests.conformance.unsupported import has_event_time


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def program(folder: Path, **files: str) -> Program:
    write(folder, program__sql="SELECT 1;", **files)
    return discover([folder])[0]


def test_folders_are_found_once_in_order(tmp_path: Path) -> None:
    for name in ("b/two", "a/one", "b/one"):
        write(tmp_path / name, program__sql="SELECT 1;")
    found = discover([tmp_path, tmp_path / "b", tmp_path / "a" / "one" / "program.sql"])
    assert [each.name for each in found] == ["a/one", "b/one", "b/two"]


@pytest.mark.parametrize(("name", "message"), [("nowhere", "there is no such folder"), ("", "no program below")])
def test_nothing_to_run_is_an_error(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(JobError, match=message):
        discover([tmp_path / name])


def test_dir_stands_for_the_folder_and_stub_links_for_their_targets(tmp_path: Path) -> None:
    write(tmp_path / "data", rows__jsonl='{"a": 1}\n')
    folder = write(
        tmp_path / "q", program__sql="WITH ('path' = '${dir}/input/rows.jsonl', 'x' = '${dir}/input/own.jsonl')"
    )
    write(folder / "input", rows__jsonl="../../data/rows.jsonl", own__jsonl="../missing")
    sql = discover([folder])[0].sql
    assert f"'path' = '{tmp_path}/data/rows.jsonl'" in sql
    assert f"'x' = '{folder}/input/own.jsonl'" in sql


def test_expected_rows_by_precedence(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    assert program(folder).expected("sink") is None
    assert not program(folder).judged
    for stem, value in (("expected", 1), ("sink-expected", 2), ("rekindle-expected", 3), ("rekindle-expected.sink", 4)):
        found = program(folder, **{f"{stem.replace('.', '__')}__jsonl": f"[{value}]\n\n"})
        assert found.expected("sink") == [[value]]
        assert found.judged
    assert program(folder).expected("other") == [[3]]


@pytest.mark.parametrize(("text", "message"), [("[1]\n[2\n", "line 2"), ('{"a": 1}\n', "a row is a JSON array")])
def test_broken_expectations_are_errors(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(JobError, match=message):
        program(tmp_path, expected__jsonl=text).expected("sink")


def test_refusals(tmp_path: Path) -> None:
    must_refuse = program(tmp_path / "a", refused__txt="stage: run\n/ by zero")
    judged = program(tmp_path / "b", expected__jsonl="[1]\n")
    error = SqlError("RANK is not supported")
    assert refused(must_refuse, error, at_compile=True).outcome is Outcome.PASSED
    assert refused(must_refuse, JobError("/ by zero"), at_compile=False).outcome is Outcome.PASSED
    assert refused(judged, error, at_compile=True).outcome is Outcome.UNSUPPORTED
    assert refused(judged, error, at_compile=False).outcome is Outcome.FAILED
    assert refused(judged, PlanError("types do not fit"), at_compile=True).outcome is Outcome.FAILED
    assert refused(judged, error, at_compile=True).detail == ("RANK is not supported",)


def sink(*rows: tuple[int, str], key: bool = False) -> SinkRows:
    columns = (Column(name="id", data_type=INT.with_nullable(not key)), Column(name="name", data_type=STRING))
    primary_key = PrimaryKey(name="PK_id", columns=("id",)) if key else None
    messages = tuple(Message(kind, list(row)) for kind, row in ((0, row) for row in rows))  # type: ignore[arg-type]
    return SinkRows(Schema(columns=columns, primary_key=primary_key), messages, (0,) if key else None)


def test_rows_and_types_are_compared(tmp_path: Path) -> None:
    schema = json.dumps({"id": "INT", "name": "STRING"})
    folder = program(tmp_path, expected__jsonl='[1, "a"]\n[2, "b"]\n', schema__json=schema)
    assert compared(folder, {"sink": sink((1, "a"), (2, "b"))}).outcome is Outcome.PASSED
    verdict = compared(folder, {"sink": sink((1, "a"), (1, "a"))})
    assert verdict.outcome is Outcome.FAILED
    assert verdict.detail[-2:] == ('sink: - [2, "b"]', 'sink: + [1, "a"]')
    keyed = compared(folder, {"sink": sink((1, "x"), (1, "a"), (2, "b"), key=True)})
    assert keyed.detail == ("sink: column id is INT NOT NULL, not INT",)


def test_several_sinks_have_their_own_rows(tmp_path: Path) -> None:
    folder = program(tmp_path, expected__one__jsonl='[1, "a"]\n')
    verdict = compared(folder, {"one": sink((1, "a")), "two": sink()})
    assert verdict.detail == ("two: the folder does not say which rows to expect",)


def results(tmp_path: Path) -> list[Result]:
    outcomes = [
        ("a/ok", Assessment(Outcome.PASSED), 0.84),
        ("a/no", Assessment(Outcome.PASSED, ("line 1: no",)), 0.1),
        ("b/bad", Assessment(Outcome.FAILED, ("1 expected row is missing", "- [1]")), 2.0),
        ("b/later", Assessment(Outcome.UNSUPPORTED, ("RANK is not supported",)), 0.0),
    ]
    return [Result(Program(tmp_path / name, name), verdict, seconds) for name, verdict, seconds in outcomes]


def test_report(tmp_path: Path) -> None:
    ran = results(tmp_path)
    assert [line for result in ran for line in report.lines_of(result)] == [
        "PASS a/ok (0.8 s)",
        "PASS a/no (0.1 s): refused, as it must be",
        "FAIL b/bad (2.0 s)",
        "    1 expected row is missing",
        "    - [1]",
        "UNSUPPORTED b/later (0.0 s)",
        "    RANK is not supported",
    ]
    assert report.summary(ran, allow_unsupported=False) == ["1 unsupported, counted as failed", "2 passed, 2 failed"]
    assert report.summary(ran, allow_unsupported=True) == ["1 unsupported, not counted", "2 passed, 1 failed"]
    assert report.summary(ran[:2], allow_unsupported=False) == ["2 passed, 0 failed"]
    slower = replace(ran[0], seconds=1.0)
    expected = ["median of a program: 0.92 s", "3 passed, 0 failed"]
    assert report.summary([*ran[:2], slower], allow_unsupported=False) == expected
    written = json.loads(report.as_json(ran, allow_unsupported=False))
    assert (written["passed"], written["failed"], len(written["programs"])) == (2, 2, 4)
    assert written["programs"][3]["outcome"] == "unsupported"


def test_a_program_with_a_late_row_runs_by_rows(tmp_path: Path) -> None:
    punctual, late = program(tmp_path / "a"), program(tmp_path / "b", late="Line 2 is.\n")
    assert (punctual.mode, late.mode) == (Mode.DEFAULT, Mode.ROW)
    granularity = "table.exec.lateness.granularity"
    assert granularity not in Settings().options(punctual)
    assert Settings().options(late)[granularity] == "row"
    assert Settings(mode=Mode.DEFAULT).options(late) == Settings().options(punctual)
    assert Settings(mode=Mode.BATCH).options(late)["execution.runtime-mode"] == "batch"
    assert Settings({granularity: "batch"}).options(late)[granularity] == "batch"


def test_event_time_is_a_watermark(tmp_path: Path) -> None:
    found = [
        Program(write(tmp_path / each, program__sql=each), each) for each in ("watermark for ts AS ts", "PROCTIME()")
    ]
    assert [has_event_time(each) for each in found] == [True, False]
