"""Statements of a script in order, with what each one gives: for a file, `-e` and the prompt alike."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from execnodes.core.errors import SqlError
from rekindle.cli import background
from rekindle.cli.inputs import Script, reading
from rekindle.cli.jobs import NO_FOLDER, attend, list_attached, show_fates
from rekindle.cli.rows import show_rows

if TYPE_CHECKING:
    from planner.statements import Statement
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.results.table_result import TableResult


def run_script(environment: TableEnvironment, script: Script) -> None:
    """Run statements in order, and show what each one gives."""

    def show(statement: Statement, result: TableResult) -> None:
        if result.job is not None:
            show_fates(result.job)
        if result.job is not None:
            list_attached(result.job, environment.configuration)
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
        if not result.job.batch:
            place = f"in {job_dir}" if job_dir else "nowhere: without -D execution.job-dir=DIR it ends with the job"
            print(f"job: its state is kept {place}", file=sys.stderr, flush=True)
        attend(result.job, "job", kept)
    else:
        result.print()
