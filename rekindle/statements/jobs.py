"""SHOW JOBS, DESCRIBE JOB, STOP JOB: over the jobs of the session, and those of the jobs folder."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import RekindleError, SqlError
from rekindle.jobs.control import ask_to_stop, require_running
from rekindle.jobs.home import JobInfo, choose, list_jobs
from rekindle.jobs.status import STATUS, State
from rekindle.results.table_result import TableResult

if TYPE_CHECKING:
    from planner.statements import DescribeJob, Statement, StopJob
    from rekindle.runtime.job import Job
    from rekindle.statements.session import Session

_COLUMNS = ("job id", "job name", "status", "start time")
SAVEPOINT_DIR = "execution.checkpointing.savepoint-dir"


def show_jobs(environment: Session) -> TableResult:
    """A row a job, as in Flink's client."""
    return TableResult(columns=_COLUMNS, rows=[_row(job) for job in _jobs(environment)])


def describe_job(statement: DescribeJob, environment: Session) -> TableResult:
    """The row of SHOW JOBS, and what else is known about the job."""
    job = _find(statement.job, statement, environment)
    more = {
        "rows": job.rows,
        "watermark": job.watermark,
        "savepoint": job.savepoint,
        "activity": job.activity,
        "restarts": job.restarts or None,
        "error": job.error.message if job.error is not None and job.state is State.FAILED else None,
    }
    known = {name: value for name, value in more.items() if value is not None}
    return TableResult(columns=(*_COLUMNS, *known), rows=[(*_row(job), *known.values())])


def stop_job(statement: StopJob, environment: Session) -> TableResult:
    """Stop a job; with a savepoint, the result is where it is."""
    given = environment.configuration.get_option(SAVEPOINT_DIR)
    if statement.savepoint and not given:
        raise SqlError(
            "it is not known where the savepoint goes",
            position=statement.position,
            hint=f"SET '{SAVEPOINT_DIR}' = '<folder>' first.",
        )
    info = _find(statement.job, statement, environment)
    target = _savepoint_path(Path(given), info.job_id) if statement.savepoint else None
    own = next((job for job in environment.jobs if job.job_id == info.job_id), None)
    try:
        require_running(info)
        if own is not None and not (info.folder / STATUS).is_file():
            # It has a temporary folder, through which nobody can ask it.
            own.stop(with_savepoint=target, drain=statement.drain)
        else:
            ask_to_stop(info, State.STOPPED, savepoint=target, drain=statement.drain)
    except RekindleError as error:
        error.position = statement.position
        raise
    return TableResult() if target is None else TableResult(columns=("savepoint path",), rows=[(str(target),)])


def _jobs(environment: Session) -> list[JobInfo]:
    own = {job.job_id: _own(job) for job in environment.jobs}
    return [*own.values(), *(info for info in list_jobs(environment.configuration) if info.job_id not in own)]


def _own(job: Job) -> JobInfo:
    """A job of this process; its folder may have been a temporary one, which others cannot read."""
    status, progress, activity = job.status, job.progress(), job.activity()
    runs = status.state is State.RUNNING
    return JobInfo(
        job.job_id,
        job.identity.name,
        status.state,
        status.since,
        job.identity.created,
        job.folder.path,
        progress.rows if progress else None,
        progress.rows_per_second if progress else None,
        progress.watermark if progress else None,
        status.savepoint,
        status.error,
        status.restarts,
        status.restarted_after,
        round(time.time() * 1000),
        activity.last_micro_batch,
        activity.kind if runs else None,
        activity.since if runs else None,
    )


def _find(text: str, statement: Statement, environment: Session) -> JobInfo:
    try:
        return choose(text, _jobs(environment))
    except RekindleError as error:
        error.position = statement.position
        raise


def _savepoint_path(folder: Path, job_id: str) -> Path:
    return (folder / f"savepoint-{job_id[:6]}-{uuid.uuid4().hex[:12]}").absolute()


def _row(job: JobInfo) -> tuple[str, str, str, str]:
    begun = datetime.fromtimestamp(job.started / 1000, UTC).isoformat(timespec="milliseconds")
    return job.job_id, job.name, str(job.state), begun.replace("+00:00", "")
