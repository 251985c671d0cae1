"""A secret goes in at every place there is for one, and comes out nowhere: no file, no stream, no page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from execnodes.core import secrets
from execnodes.core.errors import RekindleError
from execnodes.core.secrets import MASK
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main
from rekindle.cli.prompt import history
from rekindle.jobs.status import State, Status
from rekindle.pipeline.failures import job_error
from tests.core.test_secrets import SECRET_TEXTS, SENSITIVE

SECRET = "hunter2"
Call = Callable[..., str]
TABLE = "CREATE TABLE t (a INT) WITH ('connector' = 'spark', 'spark.format' = 'jdbc', {})"


@pytest.fixture(autouse=True)
def _nothing_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests made known would be masked anyway."""
    monkeypatch.setattr(secrets, "_known", set())


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command in this process; what it printed."""

    def run(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["rekindle", *map(str, arguments)])
        with pytest.raises(SystemExit):
            main.run()
        return "".join(capsys.readouterr())

    return run


def lines(given: str) -> str:
    return given.replace("'", "''")


OPTIONS = [f"'spark.options.{key}' = '{SECRET}'" for key in SENSITIVE] + [
    f"'spark.options.url' = '{lines(text)}'" for text in SECRET_TEXTS
]


@pytest.mark.parametrize("option", OPTIONS)
def test_what_a_session_says_of_tables_and_settings(option: str) -> None:
    environment = TableEnvironment.create()
    environment.execute_sql(TABLE.format(option))
    environment.execute_sql(f"CREATE CATALOG c WITH ('type' = 'generic_in_memory', {option})")
    environment.execute_sql(f"SET {option.replace(' = ', ' = ').replace('spark.options.', 'spark.hadoop.')}")
    said = []
    for sql in ("SHOW CREATE TABLE t", "SHOW CREATE CATALOG c", "SET", "DESCRIBE t"):
        said += [str(row) for row in environment.execute_sql(sql).collect_changes()]
    for sql in (
        f"EXPLAIN SELECT * FROM t /*+ OPTIONS({option}) */",
        f"COMPILE PLAN '/nowhere/p.json' FOR INSERT INTO t /*+ OPTIONS({option}) */ SELECT 1",
        f"CREATE TABLE u (a INT) WITH ({option} 'x')",
    ):
        try:
            environment.execute_sql(sql)
        except RekindleError as error:
            said += [str(error), repr(error)]
        else:
            pytest.fail(f"it was taken: {sql}")
    assert SECRET not in "\n".join(said)
    assert sum(MASK in text for text in said) >= 3


def test_what_commands_say_and_write(tmp_path: Path, call: Call) -> None:
    option = f"'spark.options.password' = '{SECRET}'"
    script = tmp_path / "job.sql"
    body = f"{TABLE}; INSERT INTO t SELECT 1;"
    script.write_text(body.format(option))
    said = [call("compile", "-f", script, "-o", tmp_path / "p.json"), call("explain", "-f", script)]
    assert not (tmp_path / "p.json").exists()
    script.write_text(body.format(f"{option} 'oops'"))
    said += [call("sql", "-f", script), call("compile", "-f", script, "-o", tmp_path / "p.json")]
    assert "job.sql, line 1" in said[-1]
    # Plans that somebody has written a secret into, by hand.
    script.write_text(body.format("'spark.options.password' = '${env:PW}'"))
    call("compile", "-f", script, "-o", tmp_path / "kept.json")
    before = (tmp_path / "kept.json").read_text()
    (folder := tmp_path / "hand-made").mkdir()
    plans = [folder / f"{n}.json" for n in range(2)]
    for n, plan in enumerate(plans):
        plan.write_text(before.replace("${env:PW}", f"{SECRET}-{n}"))
    page = tmp_path / "page.html"
    script.write_text(body.format(option))
    for arguments in (
        ("diff", *plans), ("diff", "--json", *plans), ("diff", "--markdown", *plans), ("check", *plans),
        ("lint", plans[0]), ("lint", "--json", plans[0]), ("explain", plans[0]), ("explain", "--json", plans[0]),
        ("report", *plans, "--old-sql", script, "--new-sql", script, "-o", page),
        ("upgrade", plans[0], "-o", tmp_path / "upgraded.json"), ("run", plans[0], "-D", "spark.x.token=hunter2",
         "-D", "execution.runtime-mode=hunter2password=hunter2"),
    ):  # fmt: skip
        secrets._known.clear()
        said.append(call(*arguments))
    assert "password" in said[4]
    assert "holds a secret in clear text" in said[8]
    assert SECRET not in "\n".join(said)
    written = [file for file in tmp_path.rglob("*") if file.is_file() and file not in (*plans, script)]
    assert page in written
    assert [file for file in written if SECRET in file.read_text()] == []


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_failures_of_spark_in_status_and_log(tmp_path: Path, text: str) -> None:
    said = f"java.sql.SQLException: no connection to {text}\n\tat org.postgresql.Driver"
    for number, error in enumerate((job_error(said), ValueError(said))):
        Status.now(State.FAILED, error=error).write(tmp_path)
        assert SECRET not in (tmp_path / "status.json").read_text() + (str(error) if number == 0 else "")


def test_the_prompts_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REKINDLE_HOME", str(tmp_path))
    history().store_string(TABLE.format(f"'spark.options.password' = '{SECRET}'"))
    assert f"'spark.options.password' = '{MASK}'" in (tmp_path / "history").read_text()
