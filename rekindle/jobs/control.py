"""Asking a job that runs in another process for something, and waiting for it."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any

from execnodes.core.errors import JobError
from rekindle.files.atomic_file import write_atomically
from rekindle.files.paths import entered
from rekindle.jobs.home import JobInfo, job_info
from rekindle.jobs.requests import REQUEST, read_answer, response
from rekindle.jobs.status import State, is_alive

_LOOK = 0.1
"""Seconds from one look to the next."""
TIMEOUT = 300.0
"""Seconds that are waited unless something else is asked for."""


def ask_for_savepoint(job: JobInfo, target: Path, timeout: float = TIMEOUT) -> bool:
    """A savepoint of a running job, which goes on; False if the job ended well before it came to that.

    JobError if the job refuses, fails, or has not answered in time.
    """
    return _ask(job, {"state": None, "savepoint": str(entered(target)), "drain": False}, timeout)


def ask_to_stop(
    job: JobInfo, state: State, *, savepoint: Path | None = None, drain: bool = False, timeout: float = TIMEOUT
) -> JobInfo:
    """Stop a running job, which then is STOPPED or CANCELED, and wait for its end; how it ended.

    JobError if the job refuses, fails, or has not ended in time.
    """
    target = entered(savepoint) if savepoint is not None else None
    _ask(job, {"state": str(state), "savepoint": str(target) if target else None, "drain": drain}, timeout)
    ended = job_info(job.folder)
    if target is not None and ended.savepoint != str(target):
        raise JobError(
            f"the job has {ended.state} without the savepoint",
            where=str(job.folder),
            hint=f"Take it now: rekindle savepoint {job.folder} --to {target}",
        )
    return ended


def require_running(job: JobInfo) -> None:
    """JobError if the job does not run."""
    if job.state is State.FAILED and job.error is not None:
        # To go on with it would fail again, unless that is done first.
        raise JobError(
            f"the job does not run, it has FAILED: {job.error.message}",
            where=job.error.where or str(job.folder),
            hint=job.error.hint,
        )
    if job.state not in (State.RUNNING, State.STARTING):
        raise JobError(
            f"the job does not run: it is {job.state}",
            where=str(job.folder),
            hint=f"Go on with it: rekindle run {job.folder / 'plan.json'} --job-dir {job.folder}",
        )


def _ask(job: JobInfo, wish: dict[str, Any], timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while job.state is State.STARTING and time.monotonic() < deadline:
        time.sleep(_LOOK)
        job = job_info(job.folder)
    require_running(job)
    number = uuid.uuid4().hex
    request = job.folder / REQUEST
    text = json.dumps({"id": number, **wish}) + "\n"
    _write(job, request, text, deadline)
    answer = response(job.folder, number)
    while True:
        alive = is_alive(job.folder)
        if answer.exists() and not (alive and wish["state"] is not None and _agreed(answer)):
            break
        if not alive:
            break
        if time.monotonic() > deadline:
            raise _late(job, request, text, timeout)
        time.sleep(_LOOK)
    return _result(job, request, answer)


def _write(job: JobInfo, request: Path, text: str, deadline: float) -> None:
    while True:
        try:
            write_atomically(request, text, replace=False, private=True)
            return
        except FileExistsError:
            if time.monotonic() > deadline or not is_alive(job.folder):
                raise JobError(
                    "the job has not answered an earlier request", where=str(job.folder), hint="Look at its log."
                ) from None
            time.sleep(_LOOK)


def _agreed(answer: Path) -> bool:
    found = read_answer(answer)
    return found is not None and found["error"] is None


def _result(job: JobInfo, request: Path, answer: Path) -> bool:
    found = read_answer(answer)
    if found is not None:
        answer.unlink(missing_ok=True)
        if found["error"] is not None:
            raise found["error"].raised(str(job.folder))
        return True
    request.unlink(missing_ok=True)
    now = job_info(job.folder)
    if now.state is State.FAILED and now.error is not None:
        raise JobError(f"the job has failed: {now.error.message}", where=now.error.where, hint=now.error.hint)
    if now.state is State.CRASHED:
        raise JobError("the job's process has gone", where=str(job.folder), hint="Look at its log, and start it again.")
    return False


def _late(job: JobInfo, request: Path, text: str, timeout: float) -> JobError:
    if request.exists() and request.read_text(encoding="utf-8") == text:
        request.unlink(missing_ok=True)
        said = f"the job has not taken the request after {timeout:g} s; it is withdrawn"
    else:
        said = f"the job is not done after {timeout:g} s; it goes on with what it was asked for"
    return JobError(said, where=str(job.folder), hint="Look at its log, or give a longer --timeout.")
