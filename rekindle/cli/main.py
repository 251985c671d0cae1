"""Entry point of `rekindle`: the commands, and how errors leave the process.

Exit codes: 0 all well, 1 an error, 2 a wrong command line, 3 incompatible, 4 needs consent, 5 cannot be judged,
130 stopped by Ctrl-C, 143 by SIGTERM.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from execnodes.core.errors import RekindleError
from execnodes.core.secrets import masked
from rekindle.cli.bootstrap import bootstrap
from rekindle.cli.check import check
from rekindle.cli.compile import compile
from rekindle.cli.control import cancel, savepoint, stop
from rekindle.cli.diff import diff
from rekindle.cli.doctor import doctor
from rekindle.cli.errors import debugging, describe_defect, describe_error
from rekindle.cli.explain import explain
from rekindle.cli.inputs import InScript
from rekindle.cli.lint import lint
from rekindle.cli.list import list_jobs
from rekindle.cli.migrate import migrate
from rekindle.cli.programs import run_program_folders
from rekindle.cli.report import report
from rekindle.cli.run import run as run_plan
from rekindle.cli.sql import sql
from rekindle.cli.state import state
from rekindle.cli.upgrade import upgrade

app = typer.Typer(
    name="rekindle",
    help="Long-running streaming SQL on Spark that can be upgraded.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(sql)
app.command()(compile)
app.command("run")(run_plan)
app.command()(explain)
app.command()(check)
app.command()(diff)
app.command()(report)
app.command()(upgrade)
app.command()(bootstrap)
app.command()(lint)
app.command("test")(run_program_folders)
app.command("list")(list_jobs)
app.command()(savepoint)
app.command()(cancel)
app.command()(stop)
app.add_typer(state)
app.command()(migrate)
app.command()(doctor)


def _version(wanted: bool) -> None:
    if wanted:
        from execnodes.core.version import ENGINE_VERSION, RELEASE

        print(f"rekindle {RELEASE} (engine version {ENGINE_VERSION})")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Long-running streaming SQL on Spark that can be upgraded: compiled plans, named state."""


def run() -> None:
    """Run the command line; always ends the process with an exit code."""
    try:
        app(prog_name="rekindle")
    except InScript as failure:
        _fail(failure, describe_error(failure.error, failure.script), failure.error.exit_code)
    except RekindleError as error:
        _fail(error, describe_error(error), error.exit_code)
    except BrokenPipeError:
        # Whoever read the output has gone; the interpreter would complain once more while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:  # noqa: BLE001
        _fail(error, describe_defect(error))


def _fail(error: BaseException, lines: Iterable[str], code: int = 1) -> None:
    if debugging():
        import traceback

        print(masked("".join(traceback.format_exception(error))), end="", file=sys.stderr)
    for line in lines:
        print(line, file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    run()
