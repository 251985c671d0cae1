"""What a job folder says of its job: how it is or how it ended, and where it was last."""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from execnodes.core.errors import JobError, RekindleError
from execnodes.core.secrets import masked
from rekindle.files.atomic_file import write_atomically
from rekindle.files.json_files import Count, Millis, read_json

if TYPE_CHECKING:
    from rekindle.runtime.progress import Activity, Progress

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
    BROKEN = "BROKEN"
    """Its folder cannot be read."""


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
        return cls(masked(f"unexpected {type(error).__name__}: {error}"))

    def raised(self, job: str) -> JobError:
        """As an error again, of whoever asked for that job."""
        return JobError(self.message, where=self.where or job, hint=self.hint)


@dataclass(frozen=True)
class Status:
    """The content of status.json."""

    state: State
    since: Millis
    """Epoch milliseconds."""
    pid: Count
    savepoint: str | None = None
    """The folder it ended with."""
    error: Trouble | None = None
    restarts: Count = 0
    """How often it started again after a failure, since its process started."""
    restarted_after: str | None = None
    """The last of these failures."""
    before: State | None = None
    """How the job was before it started; None if nobody knows."""

    @classmethod
    def starting(cls, folder: Path) -> Status:
        """Of this process, which is about to run a job in a folder, or waits for one that is."""
        try:
            known = read_status(folder)
        except JobError:
            known = None
        before = None if known is None else known.before if known.state is State.STARTING else known.state
        return replace(cls.now(State.STARTING), before=before)

    @classmethod
    def now(cls, state: State, *, savepoint: Path | None = None, error: BaseException | None = None) -> Status:
        """Of this process."""
        trouble = Trouble.of(error) if error is not None else None
        return cls(state, int(time.time() * 1000), os.getpid(), str(savepoint) if savepoint else None, trouble)

    def write(self, folder: Path) -> None:
        """Replace the status of a job folder."""
        write_atomically(folder / STATUS, json.dumps(asdict(self), indent=2) + "\n", replace=True, private=True)


class Written(TypedDict, total=False):
    """The content of progress.json, as far as others look at it."""

    batch_id: Count
    rows: Count
    rows_per_second: float
    watermark: str | None
    state_rows: dict[str, int]
    counters: dict[str, int]
    updated: Millis
    """When it was written: the heartbeat of the job's process."""
    activity: str | None
    """What the job does or waits for (see `runtime.progress.Activity`); None if it has ended."""
    activity_since: Millis | None
    last_micro_batch: Millis | None
    """When one was committed."""


_STATUS, _PROGRESS = TypeAdapter(Status), TypeAdapter(Written)
_HINT = "Remove the file; what it says is told anew when the job runs."


def read_status(folder: Path) -> Status | None:
    """The job's own last word; None before its first. JobError if it cannot be read."""
    return read_json(folder / STATUS, _STATUS, hint=_HINT)


def state_of(status: Status | None, *, alive: bool) -> State:
    """The state of a job by its last word and by whether a process holds its folder."""
    if alive:
        return State.RUNNING if status is not None and status.state is State.RUNNING else State.STARTING
    if status is None or status.state is State.RUNNING:
        return State.CRASHED
    if status.state is State.STARTING:
        # Whoever starts a job in a process of its own says so before that process holds the folder.
        return State.STARTING if _runs(status.pid) else State.CRASHED
    return status.state


def _runs(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return pid > 0


def write_progress(
    folder: Path,
    progress: Progress | None,
    activity: Activity | None = None,
    earlier: Written | None = None,
    *,
    ended: bool = False,
) -> None:
    """Replace the progress of a job folder.

    `earlier`: that of the job's last process, which stays until this one has a micro-batch of its own. `ended`: the
    job does nothing any more.
    """
    known = dict(earlier or {})
    last = known.get("last_micro_batch") if activity is None else activity.last_micro_batch
    beat = {
        "updated": int(time.time() * 1000),
        "activity": None if activity is None or ended else activity.kind,
        "activity_since": None if activity is None or ended else activity.since,
        "last_micro_batch": last or known.get("last_micro_batch"),
    }
    counted = {**known, "rows_per_second": 0.0} if progress is None else asdict(progress)
    text = json.dumps({**counted, **beat}, indent=2)
    write_atomically(folder / PROGRESS, text + "\n", replace=True, private=True)


def read_progress(folder: Path) -> Written:
    """The fields of `runtime.job.Progress` and `updated` (epoch milliseconds); empty before the first micro-batch."""
    found = read_json(folder / PROGRESS, _PROGRESS, hint=_HINT)
    return {} if found is None else found


def is_alive(folder: Path) -> bool:
    """Whether a process holds the folder. JobError if that cannot be seen."""
    path = folder / LOCK
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise JobError("this is no file", where=str(path), hint="Remove it.")
    try:
        with path.open("r", encoding="utf-8") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    except OSError as error:
        raise JobError(
            f"the file cannot be opened: {error.strerror}", where=str(path), hint="Look as the user whose job it is."
        ) from error
    return False
