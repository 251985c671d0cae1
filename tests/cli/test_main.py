"""The command line from outside: exit codes and messages, without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from execnodes.core.version import RELEASE
from rekindle.cli import main
from rekindle.cli.app import app_of
from rekindle.cli.commands import COMMANDS, help_text


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["rekindle", *arguments])
    with pytest.raises(SystemExit) as ended:
        main.run()
    code = ended.value.code
    assert isinstance(code, int)
    return code


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["sql", "-e", "  "], 1, "error: the script is empty\n  at -e"),
        (["sql", "-f", "nowhere.sql"], 1, "error: there is no such file\n  at nowhere.sql"),
        (["sql", "-f", "folder"], 1, "error: this is a folder, not a script\n  at folder"),
        (["compile", "-f", "binary.sql", "-o", "p.json"], 1, "error: the script is not UTF-8 (byte 0)"),
        (["compile", "-f", "empty.sql"], 1, "error: the script is empty"),
        (["explain", "nowhere.json"], 1, "error: there is no such plan file"),
        (["explain", "folder"], 1, "error: the plan file cannot be read: Is a directory"),
        (["lint", "folder"], 1, "error: the plan file cannot be read: Is a directory"),
        (["run", "empty.sql"], 1, "error: "),
        (["test", "folder"], 1, "error: there is no program below this folder"),
        (["run", "-d", "empty.sql"], 1, "error: "),
        (["stop", "nowhere"], 1, "error: there is no job 'nowhere'"),
        (["cancel", "./folder"], 1, "error: this folder holds no job\n  at folder"),
        (["savepoint", "no/where", "--to", "s"], 1, "error: there is no such job folder\n  at no/where"),
        (["state", "inspect", "nowhere"], 1, "error: this is neither a savepoint nor a job"),
        (["list", "-D", "execution.jobsdir=x"], 1, "error: unknown option 'execution.jobsdir'"),
        (["savepoint", "job"], 2, "Missing option"),
        (["run", "-d", "-i", "-", "p.json"], 2, "cannot read standard input"),
        (["sql", "-e", "x", "-f", "y"], 2, "give either -f or -e"),
        (["explain"], 2, "give either a plan or -f"),
        (["sql", "-e", "SELECT 1", "-D", "novalue"], 2, "is not of the form key=value"),
        (["compile"], 2, "Missing option"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_wrong_input(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("REKINDLE_HOME", str(tmp_path / "home"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.sql").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.sql").write_text(" \n")
    assert call(monkeypatch, *arguments) == code
    shown = capsys.readouterr()
    assert message in shown.err
    assert "Traceback" not in shown.err
    assert not (tmp_path / "p.json").exists()


def test_no_jobs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setenv("REKINDLE_HOME", str(tmp_path))
    assert call(monkeypatch, "list") == 0
    assert capsys.readouterr().out == f"No jobs in {tmp_path}/jobs. Start one with: rekindle run -d plan.json\n"
    assert call(monkeypatch, "list", "--json") == 0
    assert capsys.readouterr().out == "[]\n"


def test_unexpected_errors_are_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(path: Path) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("rekindle.cli.sql.read_script", broken)
    assert call(monkeypatch, "sql", "-f", "x") == 1
    assert capsys.readouterr().err.startswith("error: unexpected ZeroDivisionError: oops\n")
    monkeypatch.setenv("REKINDLE_DEBUG", "1")
    assert call(monkeypatch, "sql", "-f", "x") == 1
    assert "Traceback" in capsys.readouterr().err


def test_light_help_says_what_the_commands_say() -> None:
    for name, (_, summary) in COMMANDS.items():
        app = typer.main.get_command(app_of([name]))
        assert isinstance(app, typer.core.TyperGroup)
        (command,) = app.commands.values()
        assert command.name == name
        assert " ".join((command.help or "").split("\n\n")[0].split()) == summary


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"], ["--version"]])
def test_help_and_version_load_little(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert call(monkeypatch, *words) == (0 if words else 2)
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS) or shown.startswith(f"rekindle {RELEASE} ")
    program = f"import sys\nsys.argv = ['rekindle', *{words!r}]\nfrom rekindle.cli.main import run\ntry:\n    run()\n"
    program += "except SystemExit:\n    print({'typer', 'rich', 'pydantic', 'sqlglot', 'pyspark'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("width", ["40", "200"])
def test_help_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    table = help_text().partition("Options:")[2]
    assert max(map(len, table.splitlines())) <= int(width)


def test_help_and_version_import_neither_spark_nor_polars() -> None:
    program = (
        "import sys\n"
        "from rekindle.cli.main import run\n"
        "sys.argv = ['rekindle', '--version']\n"
        "try:\n    run()\nexcept SystemExit as end:\n    code = end.code\n"
        "heavy = {'pyspark', 'polars', 'pyarrow', 'pandas', 'sqlglot', 'duckdb'} & set(sys.modules)\n"
        "print(code, sorted(heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first.startswith("rekindle ")
    assert second == "0 []"
