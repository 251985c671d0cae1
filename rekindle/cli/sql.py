"""`rekindle sql`: runs statements, from a script, from the command line, or one after the other at a prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rekindle.cli import background
from rekindle.cli.arguments import InitFile, Options, ScriptFile
from rekindle.cli.inputs import Script, filled, parse_options, read_script, reading
from rekindle.cli.signals import deferring, exit_code
from rekindle.cli.statements import run_script


def sql(
    file: ScriptFile = None,
    execute: Annotated[str | None, typer.Option("-e", "--execute", metavar="SQL", help="Statements to run.")] = None,
    init: InitFile = None,
    options: Options = None,
) -> None:
    """Run SQL statements: from a file, from -e, from a pipe, or at a prompt."""
    if file is not None and execute is not None:
        raise typer.BadParameter("give either -f or -e", param_hint="-e")
    configuration = parse_options(options or [])
    first = read_script(init) if init else None
    script = _script(file, execute)
    from rekindle.api.table_environment import TableEnvironment

    environment = TableEnvironment.create(configuration)
    if first is not None:
        run_script(environment, first)
    if script is None:
        from rekindle.cli.repl import repl

        repl(environment)
        return
    try:
        with deferring():
            run_script(environment, script)
    except KeyboardInterrupt as signal:
        background.stop(background.running(environment.jobs))
        raise typer.Exit(exit_code(signal)) from None
    except BaseException:
        background.stop(background.running(environment.jobs))
        raise
    with reading(script):
        background.wait_for(background.running(environment.jobs))


def _script(file: Path | None, execute: str | None) -> Script | None:
    if file is not None:
        return read_script(file)
    if execute is not None:
        return filled(Script("-e", execute))
    return None if sys.stdin.isatty() else read_script(Path("-"))
