"""`rekindle run`: executes a plan file, in a folder it can be continued from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rekindle.cli.arguments import InitFile, Options
from rekindle.cli.inputs import parse_options, read_script, reading


def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file, as written by compile.")],
    job_dir: Annotated[
        Path | None,
        typer.Option("--job-dir", metavar="DIR", help="Folder of the job; the same one goes on where it ended."),
    ] = None,
    savepoint: Annotated[
        Path | None, typer.Option("-s", "--savepoint", metavar="SAVEPOINT", help="Savepoint to start from.")
    ] = None,
    allow_non_restored_state: Annotated[
        bool, typer.Option("--allow-non-restored-state", help="Drop state that no operator of the plan has.")
    ] = False,
    allow_drop_state: Annotated[
        list[str] | None, typer.Option("--allow-drop-state", metavar="UID:NAME", help="Drop this state.")
    ] = None,
    init: InitFile = None,
    options: Options = None,
) -> None:
    """Execute a compiled plan. With --job-dir, the same command goes on after a stop or a crash."""
    configuration = parse_options(options or [])
    if job_dir is not None:
        configuration["execution.job-dir"] = str(job_dir)
    if savepoint is not None:
        configuration["execution.state-recovery.path"] = str(savepoint)
    if allow_non_restored_state:
        configuration["execution.state-recovery.ignore-unclaimed-state"] = "true"
    if allow_drop_state:
        configuration["execution.state-recovery.drop"] = ",".join(allow_drop_state)
    first = read_script(init) if init else None
    from rekindle.plan_reference import PlanReference
    from rekindle.table_environment import TableEnvironment

    environment = TableEnvironment.create(configuration)
    if first is not None:
        with reading(first):
            environment.execute_script(first.text)
    loaded = environment.load_plan(PlanReference.from_file(plan))
    result = environment.execute_plan(loaded)
    if result.job is not None:
        from rekindle.cli.jobs import attend

        for fate in result.job.fates:
            print(fate, file=sys.stderr)

        attend(result.job, str(plan), _go_on(plan, environment.configuration.get("execution.job-dir", "")))
    if result.is_query:
        from rekindle.cli.tableau import tableau

        for line in tableau(result.columns, result.types, result.rows, result.kinds):
            print(line)


def _go_on(plan: Path, job_dir: str) -> str:
    if job_dir:
        return f"Go on with: rekindle run {plan} --job-dir {job_dir}"
    return "Its state is gone: give --job-dir to be able to go on."
