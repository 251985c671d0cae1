"""`rekindle sql`: runs statements, from a script, from the command line, or one after the other at a prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from execnodes.core.errors import SqlError
from rekindle.cli import background
from rekindle.cli.arguments import InitFile, Options, ScriptFile
from rekindle.cli.inputs import Script, filled, parse_options, read_script, reading
from rekindle.cli.jobs import NO_FOLDER, attend, show_fates
from rekindle.cli.rows import show_rows
from rekindle.cli.signals import deferring, exit_code

if TYPE_CHECKING:
    from planner.statements import Statement
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.api.table_result import TableResult


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


def run_script(environment: TableEnvironment, script: Script) -> None:
    """Run statements in order, and show what each one gives."""

    def show(statement: Statement, result: TableResult) -> None:
        if result.job is not None:
            show_fates(result.job)
        if (
            result.job is not None
            and result.job in environment.jobs
            and not environment.configuration.flag("table.dml-sync")
        ):
            background.announce(result.job)
        else:
            show_result(result, environment.configuration.get("execution.job-dir", ""))

    with reading(script):
        if not environment.execute_script(script.text, show):
            raise SqlError("there is no statement in the script", where=script.name, hint="Write at least one.")


def show_result(result: TableResult, job_dir: str) -> None:
    """Wait for the job, if there is one, and print rows or message."""
    if result.job is not None and result.is_query:
        show_rows(result)
    elif result.job is not None:
        kept = f"Run the script again to go on from {job_dir}." if job_dir else NO_FOLDER
        attend(result.job, "job", kept)
    else:
        result.print()
