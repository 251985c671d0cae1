"""The prompt of `rekindle sql`: statements end with a semicolon; errors do not end the session."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from execnodes.core.errors import RekindleError
from rekindle.cli import background
from rekindle.cli.errors import debugging, describe_defect, describe_error
from rekindle.cli.inputs import InScript, Script
from rekindle.cli.prompt import Read, is_ready, reader
from rekindle.cli.signals import deferring
from rekindle.cli.statements import run_script
from rekindle.cli.warm_up import start_warm_up

if TYPE_CHECKING:
    from rekindle.api.table_environment import TableEnvironment

HELP = """Statements end with a semicolon. QUIT or EXIT (or Ctrl-D) ends the session, HELP shows this text.
Ctrl-C stops the running statement, or drops what has been typed. Tab completes names.
INSERTs run in the background: SHOW JOBS; DESCRIBE JOB 'id'; STOP JOB 'id' [WITH SAVEPOINT [WITH DRAIN]];
SET 'table.dml-sync' = 'true'; waits for them instead."""


def repl(environment: TableEnvironment, read: Read | None = None) -> None:
    """Read and run statements until the end; jobs that still run then are stopped."""
    environment.configuration.setdefault("table.dml-sync", "false")
    ask = read or reader(environment.catalog)
    if read is None:
        start_warm_up(environment.configuration)
    print("Rekindle SQL. HELP shows help.")
    told: set[str] = set()
    try:
        while (text := _next(ask, environment, told)) is not None:
            word = text.strip().rstrip(";").strip().upper()
            if word in ("QUIT", "EXIT"):
                break
            if word == "HELP":
                print(HELP)
            elif word:
                _run(environment, text)
    finally:
        background.stop(background.running(environment.jobs))


def _next(ask: Read, environment: TableEnvironment, told: set[str]) -> str | None:
    """The next statement; None at the end of input."""
    pending = ""
    while True:
        for line in background.news(environment.jobs, told):
            print(line)
        try:
            line = ask("rekindle> " if not pending else "     ...> ")
        except KeyboardInterrupt:
            pending = ""
            continue
        except EOFError:
            return None
        pending = f"{pending}\n{line}" if pending else line
        if is_ready(pending):
            return pending


def _run(environment: TableEnvironment, text: str) -> None:
    try:
        with deferring():
            run_script(environment, Script("input", text))
    except InScript as failure:
        _show(failure.error, failure.script)
    except RekindleError as error:
        _show(error, None)
    except typer.Exit:
        return  # The query was stopped by Ctrl-C, which has been said.
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    except Exception as error:  # a defect does not end the session either
        if debugging():
            raise
        for line in describe_defect(error):
            print(line, file=sys.stderr)


def _show(error: RekindleError, script: Script | None) -> None:
    for line in describe_error(error, script):
        print(line, file=sys.stderr)
