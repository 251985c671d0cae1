"""A savepoint of a job from outside its process: the job takes it if it runs, this process if it does not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import JobError
from rekindle.files.paths import entered
from rekindle.jobs.control import TIMEOUT, ask_for_savepoint
from rekindle.jobs.status import State

if TYPE_CHECKING:
    from rekindle.jobs.home import JobInfo
    from rekindle.savepoints.manifest import Manifest


def take_savepoint(job: JobInfo, target: Path, timeout: float = TIMEOUT) -> Manifest:
    """Write a savepoint of the last committed micro-batch; the job goes on, if it runs."""
    from rekindle.savepoints.contents import read

    target = entered(target)
    if target.exists():
        raise JobError("the folder exists already", where=str(target), hint="Give a new folder.")
    if job.state in (State.RUNNING, State.STARTING) and ask_for_savepoint(job, target, timeout):
        return read(target)
    return _of_folder(job, target)


def _of_folder(job: JobInfo, target: Path) -> Manifest:
    """Hold the folder meanwhile, so that no process runs the job."""
    from plans.format.load import load
    from rekindle.connectors.held_files import show_held
    from rekindle.files.job_folder import JobFolder
    from rekindle.savepoints.segments import take_of_folder
    from rekindle.savepoints.take import take
    from rekindle.spark.session import session

    folder = JobFolder(job.folder)
    folder.acquire()
    try:
        plan = folder.plan_file.read_text(encoding="utf-8")
        if not folder.resolved_file.exists():
            if load(plan, source=str(folder.plan_file)).batch:
                raise JobError("a batch job keeps no state", where=str(job.folder), hint="There is nothing to save.")
            raise JobError(
                "the job has never run", where=str(job.folder), hint="There is nothing to save; run it first."
            )
        graph = load(folder.resolved_file.read_text(encoding="utf-8"), source=str(folder.resolved_file))
        if folder.is_logged:
            show_held(folder.path)
            return take_of_folder(graph, plan, folder, target)
        return take(session(), graph, plan, folder, target)
    finally:
        folder.release()
