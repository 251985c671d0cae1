"""What is said when it is of use: lines of misspelt options, guesses, counts over restarts, SQL in `check`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from execnodes.core.errors import Position, RekindleError
from planner.parse import parse
from plans.evolution.evolve import evolve
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main
from rekindle.jobs.status import read_progress, write_progress
from rekindle.runtime.attendant import Attendant
from rekindle.runtime.progress import Activity, Progress

TABLES = """
CREATE TABLE s (k STRING, a INT) WITH ('connector' = 'filesystem', 'path' = '/d/in', 'format' = 'json');
CREATE TABLE t (k STRING, a INT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '/d/o.duckdb', 'table' = 't');
"""


def code(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["rekindle", *arguments])
    try:
        main.run()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.parametrize("statement", ["SET 'parallelism.defualt' = '3'", "SET 'parallelism.default' = 'x'"])
def test_an_option_that_is_wrong_in_a_script_names_its_line(statement: str) -> None:
    with pytest.raises(RekindleError) as caught:
        TableEnvironment.create().execute_script(f"SET 'pipeline.name' = 'x';\n\n  {statement};")
    assert caught.value.position == Position(3, 3)


def test_an_unknown_option_that_is_reset_names_its_line() -> None:
    with pytest.raises(RekindleError) as caught:
        TableEnvironment.create().execute_script("SET 'pipeline.name' = 'x';\nRESET 'pipeline.nam';")
    assert caught.value.position == Position(2, 1)


TABLE = """CREATE TABLE u (a INT) WITH ('connector' = 'print');
CREATE TABLE t (a INT) WITH (
  'connector' = 'datagen',
  'rows-per-secnd' = '5'
);
"""


@pytest.mark.parametrize(
    ("script", "position"),
    [
        (f"{TABLE}SELECT a FROM t", Position(4, 3)),
        (f"{TABLE}INSERT INTO u SELECT a FROM t", Position(4, 3)),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'nope' = '5'); SELECT a FROM t", Position(1, 55)),
        (
            f"{TABLE}ALTER TABLE t RESET ('rows-per-secnd'); ALTER TABLE t SET ('x' = '1');\nSELECT a FROM t",
            Position(6, 60),
        ),
        ("\nCREATE TABLE t (a INT) WITH ('connector' = 'filesystem'); SELECT a FROM t", Position(2, 1)),
        ("CREATE TABLE t (a INT) WITH ('conector' = 'filesystem', 'format' = 'csv'); SELECT a FROM t", Position(1, 30)),
        (
            "CREATE TABLE t (a INT) WITH (\n'connector' = 'filesystem', 'formt' = 'csv'); SELECT a FROM t",
            Position(2, 29),
        ),
    ],
)
def test_an_option_of_a_table_that_is_wrong_names_its_line(script: str, position: Position) -> None:
    with pytest.raises(RekindleError) as caught:
        TableEnvironment.create().execute_script(script)
    assert caught.value.position == position
    with pytest.raises(RekindleError) as caught:
        TableEnvironment.create().compile_script(script)
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("SELECT a b c FROM t", "c"),
        ("SELECT a, b 'x' FROM t", "'x'"),
        ("CREATE TABLE t (a INT b INT)", "b"),
        ("CREATE TABLE t (a INT) WITH ('a' = 'b' 'c' = 'd')", "'c'"),
        ("SELECT f(a 1) FROM t", "1"),
        ("SELECT a t.b FROM t", "t"),
        ("SELECT a UPPER(b) FROM t", "UPPER"),
    ],
)
def test_a_missing_comma_is_guessed(text: str, item: str) -> None:
    with pytest.raises(RekindleError) as caught:
        parse(text)
    hint = caught.value.hint or ""
    assert "comma" in hint
    assert item.strip("'") in hint


class _Job:
    job_id = "x"

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def progress(self) -> Progress:
        return Progress(self.rows, self.rows, 1.0, None, {}, {})

    def activity(self) -> Activity:
        return Activity("input", 1000, 900)


def test_rows_are_counted_since_the_job_began(tmp_path: Path) -> None:
    write_progress(tmp_path, Progress(3, 100, 1.0, None, {}, {}))
    attendant = Attendant(_Job(7), tmp_path)  # type: ignore[arg-type]  # as much of a job as is asked
    attendant._ended = lambda timeout: True  # type: ignore[method-assign]  # nothing listens
    attendant.start()
    attendant.end(None)
    assert read_progress(tmp_path)["rows"] == 107


def test_check_compiles_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.sql").write_text(f"{TABLES}INSERT INTO t SELECT k, SUM(a) FROM s GROUP BY k;")
    Path("new.sql").write_text(f"{TABLES}INSERT INTO t SELECT k, SUM(a) FROM s GROUP BY k HAVING SUM(a) > 3;")
    Path("bad.sql").write_text(f"{TABLES}INSERT INTO t SELECT k, SUM(b) FROM s GROUP BY k;")
    assert code(monkeypatch, "compile", "-f", "old.sql", "-o", "old.json") == 0
    capsys.readouterr()
    assert code(monkeypatch, "check", "--json", "old.json", "new.sql") == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "full"
    assert code(monkeypatch, "check", "old.sql", "new.sql") == 0
    assert code(monkeypatch, "check", "old.json", "bad.sql") == 1
    assert "bad.sql, line 5" in capsys.readouterr().err


def test_a_plan_that_is_compiled_from_another_is_not_advised_to_be() -> None:
    old = TableEnvironment.create().compile_script(f"{TABLES}INSERT INTO t SELECT k, SUM(a) FROM s GROUP BY k;").graph
    new = TableEnvironment.create().compile_script(f"{TABLES}INSERT INTO t SELECT k, MAX(a) FROM s GROUP BY k;").graph
    reasons = [each.reason for each in evolve(old, new).comparison.judgements]
    assert not any("compile the new plan from the old one" in each for each in reasons)


@pytest.mark.parametrize("behind", ["SET 'pipeline.name' = 'other'", "RESET 'pipeline.name'", "DROP TABLE t", "SELEKT"])
def test_what_stands_behind_the_insert_of_a_script_has_no_part_in_its_plan(behind: str) -> None:
    script = f"SET 'pipeline.name' = 'mine'; {TABLES}INSERT INTO t SELECT k, SUM(a) FROM s GROUP BY k; "
    wanted = TableEnvironment.create().compile_script(script).as_json_string()
    if behind == "SELEKT":
        with pytest.raises(RekindleError, match="SELEKT"):
            TableEnvironment.create().compile_script(script + behind)
    else:
        assert TableEnvironment.create().compile_script(script + behind).as_json_string() == wanted
