"""What a job folder says of its job: how it is or how it ended, and where it was last."""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import JobError, RekindleError
from rekindle.atomic_file import write_atomically

if TYPE_CHECKING:
    from rekindle.runtime.progress import Progress

STATUS, PROGRESS, LOCK, LOG = "status.json", "progress.json", "lock", "job.log"
"""Files of a job folder."""


class State(StrEnum):
    """How a job is."""

    STARTING = "STARTING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    """Its input had ended."""
    STOPPED = "STOPPED"
    CANCELED = "CANCELED"
    FAILED = "FAILED"
    CRASHED = "CRASHED"
    """Its process has gone without a word."""


@dataclass(frozen=True)
class Trouble:
    """An error as text."""

    message: str
    where: str | None = None
    hint: str | None = None

    @classmethod
    def of(cls, error: BaseException) -> Trouble:
        """What an exception says."""
        if isinstance(error, RekindleError):
            return cls(error.message, str(error.position or "") or error.where, error.hint)
        return cls(f"unexpected {type(error).__name__}: {error}")

    def raised(self, job: str) -> JobError:
        """As an error again, of whoever asked for that job."""
        return JobError(self.message, where=self.where or job, hint=self.hint)


@dataclass(frozen=True)
class Status:
    """The content of status.json."""

    state: State
    since: int
    """Epoch milliseconds."""
    pid: int
    savepoint: str | None = None
    """The folder it ended with."""
    error: Trouble | None = None

    @classmethod
    def now(cls, state: State, *, savepoint: Path | None = None, error: BaseException | None = None) -> Status:
        """Of this process."""
        trouble = Trouble.of(error) if error is not None else None
        return cls(state, int(time.time() * 1000), os.getpid(), str(savepoint) if savepoint else None, trouble)

    def write(self, folder: Path) -> None:
        """Replace the status of a job folder."""
        write_atomically(folder / STATUS, json.dumps(asdict(self), indent=2) + "\n", replace=True)


def read_status(folder: Path) -> Status | None:
    """The job's own last word; None before its first. JobError if it cannot be read."""
    found = _read(folder / STATUS)
    if found is None:
        return None
    error = found.get("error")
    return Status(
        State(found["state"]), found["since"], found["pid"], found["savepoint"], Trouble(**error) if error else None
    )


def state_of(status: Status | None, *, alive: bool) -> State:
    """The state of a job by its last word and by whether a process holds its folder."""
    if alive:
        return State.RUNNING if status is not None and status.state is State.RUNNING else State.STARTING
    return State.CRASHED if status is None or status.state is State.RUNNING else status.state


def write_progress(folder: Path, progress: Progress) -> None:
    """Replace the progress of a job folder."""
    text = json.dumps({**asdict(progress), "updated": int(time.time() * 1000)}, indent=2)
    write_atomically(folder / PROGRESS, text + "\n", replace=True)


def read_progress(folder: Path) -> dict[str, Any]:
    """The fields of `runtime.job.Progress` and `updated` (epoch milliseconds); empty before the first micro-batch."""
    return _read(folder / PROGRESS) or {}


def is_alive(folder: Path) -> bool:
    """Whether a process holds the folder."""
    try:
        handle = (folder / LOCK).open("r", encoding="utf-8")
    except FileNotFoundError:
        return False
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise JobError(f"the file cannot be read: {error}", where=str(path), hint="Remove it.") from error
    return found
