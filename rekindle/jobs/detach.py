"""Running a job in a process of its own, which outlives the terminal and the process that starts it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rekindle.jobs.status import LOG, State, read_status

_LOOK = 0.1


def detach(arguments: Sequence[str], folder: Path) -> int:
    """Start ``rekindle run PLAN …``, which runs a job in `folder`, and wait until the job runs; the process id.

    Output goes to job.log in the folder. StartError with what the process said if the job could not be started.
    """
    fresh = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / LOG
    with log.open("ab") as output:
        output.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} starts: {arguments[1]}\n".encode())
        output.flush()
        begin = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "rekindle", *arguments],
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
            if status is not None and status.pid == process.pid:
                break
            time.sleep(_LOOK)
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    status = read_status(folder)
    if status is None or status.pid != process.pid or status.state is State.FAILED:
        process.wait()
        said = log.read_bytes()[begin:].decode(errors="replace")
        if fresh and not (folder / "plan.json").exists():
            shutil.rmtree(folder)
        raise StartError(said.strip() or f"the process ended with code {process.returncode} and said nothing")
    return process.pid


class StartError(Exception):
    """The job could not be started; the text is what its process said, ready to be shown."""
