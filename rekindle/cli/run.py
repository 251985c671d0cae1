"""`rekindle run`: executes a plan file, in a folder it can be continued from, here or in a process of its own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rekindle.cli.arguments import InitFile, Options
from rekindle.cli.inputs import parse_options, read_script, reading
from rekindle.cli.jobs import attend, list_attached, show_fates
from rekindle.cli.progress import LogReporter
from rekindle.cli.rows import show_rows
from rekindle.cli.signals import deferring

if TYPE_CHECKING:
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.results.compiled_plan import CompiledPlan


def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file, as written by compile.")],
    job_dir: Annotated[
        Path | None,
        typer.Option("--job-dir", metavar="DIR", help="Folder of the job; the same one goes on where it ended."),
    ] = None,
    detached: Annotated[
        bool, typer.Option("-d", "--detached", help="Run it in a process of its own, and return when it runs.")
    ] = False,
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
    in_background: Annotated[bool, typer.Option("--in-background", hidden=True)] = False,
) -> None:
    """Execute a compiled plan. With --job-dir, the same command goes on after a stop or a crash."""
    if detached and str(init) == "-":
        raise typer.BadParameter("a detached job cannot read standard input", param_hint="-i")
    configuration = parse_options(options or [])
    if job_dir is not None:
        configuration["execution.job-dir"] = str(job_dir)
    if savepoint is not None:
        configuration["execution.state-recovery.path"] = str(savepoint.absolute())
    if allow_non_restored_state:
        configuration["execution.state-recovery.ignore-unclaimed-state"] = "true"
    if allow_drop_state:
        configuration["execution.state-recovery.drop"] = ",".join(allow_drop_state)
    first = read_script(init) if init else None
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.results.plan_reference import PlanReference

    environment = TableEnvironment.create(configuration)
    if first is not None and not detached:
        with reading(first):
            environment.execute_script(first.text)
    loaded = environment.load_plan(PlanReference.from_file(plan))
    if detached:
        _detach(plan, loaded, environment, init)
        return
    with deferring():
        result = environment.execute_plan(loaded)
        if result.is_query:
            show_rows(result)
        elif result.job is not None:
            folder = environment.configuration.get("execution.job-dir", "")
            report = LogReporter(sys.stderr) if in_background else None
            list_attached(result.job, environment.configuration)
            show_fates(result.job)
            attend(result.job, str(plan), _go_on(plan, folder), report=report)


def _detach(plan: Path, loaded: CompiledPlan, environment: TableEnvironment, init: Path | None) -> None:
    from rekindle.files.job_folder import JobFolder
    from rekindle.jobs.detach import StartError, detach
    from rekindle.jobs.home import enlist, job_info, new_folder
    from rekindle.jobs.status import Status

    given = environment.configuration.get("execution.job-dir", "")
    folder = Path(given).absolute() if given else new_folder(environment.configuration)
    place = JobFolder(folder)
    place.acquire()
    try:
        # So that it is listed whatever becomes of it.
        job_id = (place.identity() if place.has_plan(loaded.as_json_string()) else place.enrol(plan.stem)).job_id
        Status.starting(folder).write(folder)
    finally:
        place.release()
    enlist(folder, job_id, environment.configuration)
    configuration = {**environment.configuration, "execution.job-dir": str(folder)}
    arguments = ["run", str(plan.absolute()), "--in-background"]
    arguments += ["--init", str(init.absolute())] if init is not None else []
    arguments += [word for key, value in configuration.items() for word in ("-D", f"{key}={value}")]
    try:
        process = detach(arguments, folder)
    except StartError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code) from None
    job = job_info(folder)
    print(f"Job {job.job_id} ({job.name}) runs in process {process}.")
    print(f"Folder {folder}")


def _go_on(plan: Path, job_dir: str) -> str:
    if job_dir:
        return f"Go on with: rekindle run {shlex.quote(str(plan))} --job-dir {shlex.quote(job_dir)}"
    return "Its state is gone: give --job-dir to be able to go on."
