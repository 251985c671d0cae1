"""The prompt: statements end with a semicolon, errors do not end the session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from execnodes.core.errors import Position, SqlError
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import repl
from rekindle.cli.inputs import InScript, Script


def typed(*lines: str | type[BaseException]) -> Callable[[str], str]:
    given = iter(lines)

    def read(prompt: str) -> str:
        line = next(given, EOFError)
        if isinstance(line, str):
            return line
        raise line

    return read


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []

    def run(environment: object, script: Script) -> None:
        texts.append(script.text)
        if "bad" in script.text:
            raise InScript(SqlError("no such thing", position=Position(1, 8)), script)

    monkeypatch.setattr(repl, "run_script", run)
    return texts


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["SELECT 1;"], ["SELECT 1;"]),
        (["SELECT", "", "  1 ;  "], ["SELECT\n\n  1 ;  "]),
        (["SELECT", KeyboardInterrupt, "SELECT 2;"], ["SELECT 2;"]),
        (["", "  ", ";", "help;", "SELECT 3;"], ["SELECT 3;"]),
        (["SELECT bad;", "SELECT 4;"], ["SELECT bad;", "SELECT 4;"]),
        (["quit;", "SELECT 5;"], []),
        (["SELECT without end"], []),
    ],
)
def test_statements(ran: list[str], lines: list[str | type[BaseException]], expected: list[str]) -> None:
    repl.repl(TableEnvironment.create(), typed(*lines))
    assert ran == expected


def test_errors_show_the_place(ran: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    repl.repl(TableEnvironment.create(), typed("SELECT bad;"))
    assert "  1 | SELECT bad;\n    |        ^" in capsys.readouterr().err
