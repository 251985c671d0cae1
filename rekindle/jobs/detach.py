"""Running a job in a process of its own, which outlives the terminal and the process that starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from execnodes.core.errors import TRY_AGAIN, JobError
from rekindle.files.atomic_file import owners_opener
from rekindle.jobs.status import LOG, State, Status, is_alive, read_status
from rekindle.own_packages import LAUNCHER

_LOOK = 0.1


def detach(arguments: Sequence[str], folder: Path) -> int:
    """Start ``rekindle run PLAN …``, which runs a job in `folder`, and wait until the job runs; the process id.

    Output goes to job.log in the folder, which must be there. StartError with what the process said if the job could
    not be started; the folder keeps that.
    """
    log = folder / LOG
    with open(log, "ab", opener=owners_opener) as output:
        output.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} starts: {arguments[1]}\n".encode())
        output.flush()
        begin = output.tell()
        process = subprocess.Popen(
            # Modules are never looked for in the working directory, which may be anybody's.
            [sys.executable, "-P", LAUNCHER, "-m", "rekindle", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A session of its own: signals of the terminal do not reach it, nor does its end.
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        while process.poll() is None:
            status = read_status(folder)
            if status is not None and status.pid == process.pid and status.state is not State.STARTING:
                break
            time.sleep(_LOOK)
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    status = read_status(folder)
    own = status if status is not None and status.pid == process.pid else None
    if own is None or own.state in (State.STARTING, State.FAILED):
        process.wait()
        said = log.read_bytes()[begin:].decode(errors="replace").strip()
        said = said or f"the process ended with code {process.returncode} and said nothing"
        if (own is None or own.state is State.STARTING) and not is_alive(folder):
            # It ended before it came to the job, or without a word; another process has not got it either.
            Status.now(State.FAILED, error=JobError(said.removeprefix("error: "))).write(folder)
        raise StartError(said, process.returncode)
    return process.pid


class StartError(Exception):
    """The job could not be started; the text is what its process said, ready to be shown."""

    def __init__(self, said: str, code: int) -> None:
        """`code`: of the process; below 0 for a signal."""
        super().__init__(said)
        self.exit_code = TRY_AGAIN if code == TRY_AGAIN else 1
        """What the command ends with that was to start it."""
