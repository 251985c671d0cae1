"""Where jobs live that were given no folder, and how a job is found: by id, the beginning of one, name, or folder."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from execnodes.core.errors import JobError, RekindleError
from execnodes.core.options import Configuration
from execnodes.core.words import counted
from rekindle.files.paths import entered
from rekindle.jobs.status import State, Trouble, Written, is_alive, read_progress, read_status, state_of

NO_HEARTBEAT = "no heartbeat"
_SILENT = 60_000
"""Milliseconds without a heartbeat after which the process of a job hangs, or the machine does."""
SHORT = 8
"""Characters of an id that people are shown."""
HINT = "`rekindle list` shows the jobs there are; a job elsewhere is named by its folder."


class NoSuchJobError(JobError):
    """Nothing is known by that id, name or folder."""


@dataclass(frozen=True)
class JobInfo:
    """A job as its folder shows it."""

    job_id: str
    name: str
    state: State
    since: int
    """Epoch milliseconds: since when it is in that state."""
    started: int
    """Epoch milliseconds: when it was first started."""
    folder: Path
    rows: int | None
    """Input rows since the job began."""
    rows_per_second: float | None
    watermark: str | None
    savepoint: str | None
    error: Trouble | None
    restarts: int = 0
    """How often it started again after a failure, since its process started."""
    restarted_after: str | None = None
    """The last of these failures."""
    heartbeat: int | None = None
    """When the job's process has last shown that it lives, epoch ms."""
    last_micro_batch: int | None = None
    """When one was committed, epoch ms."""
    activity: str | None = None
    """Of a job that runs: ``micro-batch``; ``input``, ``executors`` or ``restart``, which it waits for; ``batch``;
    ``no heartbeat`` if its process has been silent for a minute."""
    activity_since: int | None = None
    """Since when, epoch ms."""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {**asdict(self), "folder": str(self.folder)}


def home() -> Path:
    """Rekindle's own folder: $REKINDLE_HOME, else ~/.rekindle."""
    given = os.environ.get("REKINDLE_HOME")
    return entered(given) if given else Path.home() / ".rekindle"


def jobs_dir(configuration: Configuration) -> Path:
    """The folder of jobs that were given none."""
    given = configuration.get_option("execution.jobs-dir")
    return entered(given) if given else home() / "jobs"


def new_folder(configuration: Configuration) -> Path:
    """A folder for a new job; its name becomes the job's id."""
    return jobs_dir(configuration) / uuid.uuid4().hex


def enlist(folder: Path, job_id: str, configuration: Configuration) -> None:
    """Let a job be found whose folder is elsewhere."""
    link = jobs_dir(configuration) / job_id
    if folder.parent.resolve() != link.parent.resolve() and not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(folder.absolute(), target_is_directory=True)


def job_info(folder: Path) -> JobInfo:
    """Read a job folder; JobError if it is none."""
    from rekindle.files.job_folder import JobFolder

    if not os.path.lexists(folder / "job.json"):
        raise NoSuchJobError("this folder holds no job", where=str(folder), hint=HINT)
    identity = JobFolder(folder).identity()
    # The lock is looked at before the status: a job writes its last status before it lets go.
    alive = is_alive(folder)
    status, progress = read_status(folder), read_progress(folder)
    state = state_of(status, alive=alive)
    activity, since = _activity(state, progress)
    return JobInfo(
        identity.job_id,
        identity.name,
        state,
        status.since if status is not None else identity.created,
        identity.created,
        folder.resolve(),
        progress.get("rows"),
        0.0 if activity == NO_HEARTBEAT else progress.get("rows_per_second"),
        progress.get("watermark"),
        status.savepoint if status is not None else None,
        status.error if status is not None else None,
        status.restarts if status is not None else 0,
        status.restarted_after if status is not None else None,
        progress.get("updated"),
        progress.get("last_micro_batch"),
        activity,
        since,
    )


def _activity(state: State, progress: Written) -> tuple[str | None, int | None]:
    """What a job does by its last heartbeat, and since when."""
    beat = progress.get("updated")
    if state is not State.RUNNING or beat is None:
        return None, None
    if time.time() * 1000 - beat > _SILENT:
        return NO_HEARTBEAT, beat
    return progress.get("activity"), progress.get("activity_since")


def list_jobs(configuration: Configuration) -> list[JobInfo]:
    """All jobs of the jobs folder; running ones first, later ones before earlier ones, and broken ones as such."""
    place = jobs_dir(configuration)
    try:
        folders = [each for each in (place.iterdir() if place.is_dir() else ()) if os.path.lexists(each / "job.json")]
    except OSError as error:
        hint = "Name another folder: execution.jobs-dir, or $REKINDLE_HOME."
        raise JobError(f"the jobs folder cannot be read: {error.strerror}", where=str(place), hint=hint) from error
    known = {info.job_id: info for info in map(_info_or_broken, folders)}
    return sorted(known.values(), key=lambda info: (info.state not in (State.RUNNING, State.STARTING), -info.since))


def _info_or_broken(folder: Path) -> JobInfo:
    try:
        return job_info(folder)
    except RekindleError as error:
        trouble = Trouble.of(error)
    return JobInfo(folder.name, "", State.BROKEN, 0, 0, folder.absolute(), None, None, None, None, trouble)


def find_job(text: str, configuration: Configuration) -> JobInfo:
    """The job that is meant; JobError if there is none, or more than one."""
    entered(text)
    if os.sep in text or (Path(text) / "job.json").is_file():
        if not Path(text).is_dir():
            raise NoSuchJobError("there is no such job folder", where=text, hint=HINT)
        return job_info(Path(text))
    return choose(text, list_jobs(configuration))


def choose(text: str, jobs: Sequence[JobInfo]) -> JobInfo:
    """The one job with that id, name, or beginning of an id; JobError if there are none or several, or it is broken."""
    found = (
        [each for each in jobs if each.job_id == text]
        or _running_or_all([each for each in jobs if each.name == text])
        or [each for each in jobs if text and each.job_id.startswith(text)]
    )
    if len(found) == 1:
        if found[0].state is State.BROKEN and found[0].error is not None:
            raise found[0].error.raised(str(found[0].folder))
        return found[0]
    if not found:
        raise NoSuchJobError(f"there is no job {text!r}", hint=HINT)
    several = "\n".join(f"{each.job_id}  {each.name}  {each.state}" for each in found)
    raise JobError(f"{text!r} may be {counted(len(found), 'job')}", hint=f"Give more of the id:\n{several}")


def _running_or_all(jobs: list[JobInfo]) -> list[JobInfo]:
    running = [each for each in jobs if each.state is State.RUNNING]
    return running if len(running) == 1 else jobs
