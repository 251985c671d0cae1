"""The prompt of `rekindle sql`: statements end with a semicolon; errors do not end the session."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from execnodes.core.errors import RekindleError
from rekindle.cli.errors import describe_error
from rekindle.cli.inputs import InScript, Script
from rekindle.cli.sql import run_script

if TYPE_CHECKING:
    from rekindle.table_environment import TableEnvironment

HELP = """Statements end with a semicolon. QUIT; or EXIT; (or Ctrl-D) ends the session, HELP; shows this text.
Ctrl-C stops the running query, or drops what has been typed."""
HISTORY = Path("~/.rekindle_history")


def repl(environment: TableEnvironment, read: Callable[[str], str] | None = None) -> None:
    """Read and run statements until the end; `read` takes a prompt and gives a line."""
    ask = read or _reader()
    print("Rekindle SQL. HELP; shows help.")
    pending = ""
    while True:
        try:
            line = ask("rekindle> " if not pending else "     ...> ")
        except KeyboardInterrupt:
            pending = ""
            continue
        except EOFError:
            return
        pending = f"{pending}\n{line}" if pending else line
        if not pending.rstrip().endswith(";"):
            pending = pending if pending.strip() else ""
            continue
        text, pending = pending, ""
        word = text.strip().rstrip(";").strip().upper()
        if word in ("QUIT", "EXIT"):
            return
        if word == "HELP":
            print(HELP)
        elif word:
            _run(environment, text)


def _run(environment: TableEnvironment, text: str) -> None:
    try:
        run_script(environment, Script("input", text))
    except InScript as failure:
        _show(failure.error, failure.script)
    except RekindleError as error:
        _show(error, None)
    except typer.Exit:
        return  # The query was stopped by Ctrl-C, which has been said.


def _show(error: RekindleError, script: Script | None) -> None:
    for line in describe_error(error, script):
        print(line, file=sys.stderr)


def _reader() -> Callable[[str], str]:
    """Lines with history and editing where prompt_toolkit is installed, plain ones where it is not."""
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory
    except ImportError:
        return input
    session: PromptSession[str] = PromptSession(history=FileHistory(str(HISTORY.expanduser())))
    return session.prompt
