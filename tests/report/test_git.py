"""`rekindle check --against-git`, and the hooks of .pre-commit-hooks.yaml in a git repository."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rekindle.cli import main
from tests.check.plans import JOIN, plan

ROOT = Path(__file__).parents[2]
SUM = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
PLANS = {
    "sum": SUM,
    "renamed": SUM.replace("AS s", "AS x"),
    "max": SUM.replace("SUM", "MAX"),
    "join": JOIN.format("r.v"),
}
TEXTS: dict[str, str] = {}


def text(name: str) -> str:
    if name not in TEXTS:
        TEXTS[name] = plan(PLANS[name])
    return TEXTS[name]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "Somebody")
        monkeypatch.setenv(f"{name}_EMAIL", "somebody@example.org")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch", "main")
    (tmp_path / "plans").mkdir()
    return tmp_path


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)


def put(**plans: str) -> None:
    for file, name in plans.items():
        Path("plans", f"{file}.json").write_text(text(name))


def commit(message: str = "plans") -> subprocess.CompletedProcess[str]:
    git("add", "--all")
    return git("commit", "--quiet", "--message", message)


def check(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["rekindle", "check", *arguments])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_changed_plans_are_found(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(a="sum", b="sum", c="sum", gone="sum")
    Path("package.json").write_text("{}")
    assert commit().returncode == 0
    assert check(monkeypatch, "--against-git", "HEAD") == 0
    assert capsys.readouterr().out == "No plan has changed since HEAD.\n"

    put(a="renamed", b="join")
    Path("package.json").write_text('{"name": "no plan"}')
    Path("plans/gone.json").unlink()
    assert check(monkeypatch, "--against-git", "HEAD", "--json") == 4
    found = json.loads(capsys.readouterr().out)
    assert {each["plan"]: each["verdict"] for each in found["plans"]} == {
        "plans/a.json": "full",
        "plans/b.json": "partial",
    }
    assert (found["verdict"], found["new"]) == ("partial", [])

    put(c="max")
    assert check(monkeypatch, "--against-git", "HEAD") == 3
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("verdict")] == [
        "verdict: full", "verdict: partial", "verdict: incompatible",
    ]  # fmt: skip
    assert check(monkeypatch, "--against-git", "HEAD", "--markdown", "plans/c.json") == 3
    shown = capsys.readouterr().out
    assert "git show HEAD:./plans/c.json > OLD.json" in shown
    assert "--from OLD.json -o plans/c.json" in shown
    monkeypatch.chdir("plans")
    for given, shown in (("a.json", "./a.json"), (str(repository / "plans" / "a.json"), "./a.json")):
        assert check(monkeypatch, "--against-git", "HEAD", given) == 0
        assert f"HEAD:{shown} -> {given}" in capsys.readouterr().out


def test_new_plans_have_nothing_to_go_on_with(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(a="sum")
    assert check(monkeypatch, "--against-git", "HEAD", "plans/a.json") == 0
    assert capsys.readouterr().out == "plans/a.json is new: HEAD does not have it.\n"
    git("add", "--all")
    assert check(monkeypatch, "--against-git", "HEAD") == 0
    assert capsys.readouterr().out == "plans/a.json is new: HEAD does not have it.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--against-git", "nowhere"], 1, "error: git knows no revision 'nowhere'"),
        (["--against-git", "--output=x"], 1, "error: git knows no revision '--output=x'"),
        (["--against-git", "HEAD", "plans/missing.json"], 1, "error: there is no such plan file"),
        (["--against-git", "HEAD", "package.json"], 1, "error: "),
        (["--against-git", "HEAD", "-s", "plans"], 2, "a savepoint has one plan"),
    ],
)
def test_wrong_input(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str],
    code: int, message: str,
) -> None:  # fmt: skip
    put(a="sum")
    Path("package.json").write_text("{}")
    commit()
    assert check(monkeypatch, *arguments) == code
    assert message in capsys.readouterr().err


def test_outside_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert check(monkeypatch, "--against-git", "HEAD") == 1
    assert "not a git repository" in capsys.readouterr().err


def hooks() -> list[dict[str, str]]:
    """Those of the file; each is a flat map."""
    entries = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8").split("\n- ")[1:]
    return [dict(line.strip().split(": ", 1) for line in entry.strip().splitlines()) for entry in entries]


def test_hooks_let_full_verdicts_pass(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As pre-commit runs them: the entry with the staged files that match."""
    script = ["#!/bin/sh", "set -e"]
    for hook in hooks():
        command = shlex.join([sys.executable, "-m", "rekindle.cli.main", *shlex.split(hook["entry"])[1:]])
        pattern = hook["files"].replace("\\.", "[.]")
        assert re.search(hook["files"], "plans/a.json")
        assert not re.search(hook["files"], "package.json")
        script.append(f"files=$(git diff --cached --name-only | grep -E '{pattern}' || true)")
        script.append(f'test -z "$files" || {command} $files')
    Path(".git/hooks/pre-commit").write_text("\n".join(script) + "\n")
    Path(".git/hooks/pre-commit").chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    put(a="sum")
    assert commit("first").returncode == 0
    put(a="renamed")
    assert commit("renamed").returncode == 0
    put(a="max")
    refused = commit("another function")
    assert refused.returncode != 0
    assert "verdict: incompatible" in refused.stdout + refused.stderr
    Path("plans/a.json").write_text("{}")
    assert commit("no plan").returncode != 0
    put(a="renamed")
    Path("note.txt").write_text("nothing to do with plans")
    assert commit("other files").returncode == 0
    assert git("log", "--format=%s").stdout.split("\n")[:3] == ["other files", "renamed", "first"]
