"""Names, constants and rows that would steer a terminal: nothing that a command prints does."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.words import one_line, plain
from rekindle.cli import terminal

REKINDLE = [sys.executable, "-m", "rekindle.cli.main"]
HOSTILE = "\x1b]0;owned\x07\x1b[2Ja\x9b31m\u202eb\u2028c\x7f\x08"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
SCRIPT = """
CREATE TABLE t (`{name}` INT, k INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
CREATE TABLE o (`{name}` INT, c BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT `{key}`, COUNT(*) FROM t WHERE CAST(k AS STRING) <> '{name}' GROUP BY `{key}`
"""


@given(st.text())
def test_plain_text_steers_nothing_and_is_json_as_it_was(text: str) -> None:
    assert not STEERS.search(plain(text))
    assert "\n" not in one_line(text)
    assert json.loads(plain(json.dumps(text, ensure_ascii=False))) == text


def test_a_stream_is_plain_and_what_is_behind_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    written = BytesIO()
    behind = TextIOWrapper(written, "utf-8", write_through=True)
    monkeypatch.setattr(sys, "stdout", behind)
    monkeypatch.setattr(sys, "stderr", TextIOWrapper(BytesIO(), "utf-8"))
    terminal.plain_streams()
    terminal.plain_streams()
    print("ä\x1b[31m\tb")
    assert terminal.coloured(sys.stdout) is behind
    sys.stdout.close()
    behind.write("goes on")
    assert written.getvalue().decode() == "ä\\u001b[31m\tb\ngoes on"


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two plans with a hostile name, which differ."""
    folder = tmp_path_factory.mktemp("plans")
    for name, key in (("old.json", "k"), ("new.json", HOSTILE)):
        script = folder / "script.sql"
        script.write_text(SCRIPT.format(name=HOSTILE, key=key), encoding="utf-8")
        done = subprocess.run([*REKINDLE, "compile", "-f", str(script), "-o", str(folder / name)], check=False)
        assert done.returncode == 0
    return folder / "old.json", folder / "new.json"


COMMANDS = {
    "explain": ["explain", "{new}"],
    "explain --json": ["explain", "{new}", "--json"],
    "lineage": ["explain", "-f", "{folder}/script.sql", "--lineage"],
    "check": ["check", "{old}", "{new}"],
    "check --markdown": ["check", "{old}", "{new}", "--markdown"],
    "diff": ["diff", "{old}", "{new}"],
    "diff --json": ["diff", "{old}", "{new}", "--json"],
    "plan": ["compile", "-f", "{folder}/script.sql"],
    "refused": ["sql", "-e", f"SELECT `{HOSTILE}` FROM t"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_lets_a_name_through(command: str, plans: tuple[Path, Path]) -> None:
    told = _piped(_words(command, plans))
    assert "owned" in told
    assert not STEERS.search(told)
    assert "--json" not in command or json.loads(told)


@pytest.mark.parametrize("command", ["explain", "check", "diff", "refused"])
def test_a_terminal_gets_colours_and_nothing_else(command: str, plans: tuple[Path, Path]) -> None:
    told = _on_terminal(_words(command, plans))
    assert "owned" in told
    assert not STEERS.search(COLOURS.sub("", told))


def _words(command: str, plans: tuple[Path, Path]) -> list[str]:
    places = {"{old}": str(plans[0]), "{new}": str(plans[1]), "{folder}": str(plans[0].parent)}
    return [re.sub(r"\{\w+\}", lambda found: places[found[0]], each) for each in COMMANDS[command]]


def test_a_report_has_none_either(plans: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = plans
    _piped(["report", str(old), str(new), "-o", str(tmp_path / "report.html")])
    told = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "owned" in told
    assert not STEERS.search(told)


def _piped(words: list[str]) -> str:
    done = subprocess.run([*REKINDLE, *words], capture_output=True, check=False)
    return (done.stdout + done.stderr).decode()


def _on_terminal(words: list[str]) -> str:
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*REKINDLE, *words], stdout=theirs, stderr=theirs, stdin=theirs) as process:
        os.close(theirs)
        found = b""
        while True:
            try:
                found += (piece := os.read(ours, 65536))
            except OSError:
                break
            if not piece:
                break
        process.wait()
    os.close(ours)
    return found.decode().replace("\r\n", "\n")
