"""Beside a running job: keeps status and progress in its folder, and does what other processes ask for."""

from __future__ import annotations

import json
import logging
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import JobError, RekindleError
from rekindle.files.atomic_file import write_atomically
from rekindle.jobs.requests import REQUEST, Wish, read_wish, response
from rekindle.jobs.status import State, Status, Trouble, Written, read_progress, write_progress

if TYPE_CHECKING:
    from rekindle.runtime.job import Job

_LOOK = 0.2
"""Seconds from one look for requests to the next."""
_PROGRESS = 1.0
"""Shortest seconds from one progress to the next."""
_HEARTBEAT = 10.0
"""Longest seconds from one progress to the next, whatever the job does."""
_PATIENCE = 60.0
"""Seconds that a savepoint waits for the first micro-batch."""
_log = logging.getLogger("rekindle.jobs")


class Attendant:
    """Knows how a job is; with a folder, also the thread that keeps the folder's files. Part of the job's process."""

    def __init__(self, job: Job, folder: Path | None) -> None:
        """Without `folder` nobody else can know the job."""
        self._job = job
        self._folder = folder
        self._seen: object = None
        self._told = 0.0
        self._earlier: Written | None = None
        """The progress of the job when this process began; None before the job runs."""
        self._writing = threading.Lock()
        """Held while progress is written, of which none comes after the last."""
        self._is_over = False
        self._asked: State | None = None
        self._savepoint: Path | None = None
        self.status = Status.now(State.STARTING)

    def starting(self) -> None:
        """The job's process holds its folder, and makes ready."""
        if self._folder is not None:
            self.status = Status.starting(self._folder)
            self.status.write(self._folder)

    def start(self) -> None:
        """The job runs: say so, and begin to listen. Requests of an earlier run are void."""
        self.status = Status.now(State.RUNNING)
        if self._folder is None:
            return
        for stale in (self._folder / REQUEST, *self._folder.glob("response-*.json")):
            stale.unlink(missing_ok=True)
        self._earlier = _earlier(self._folder)
        self.status.write(self._folder)
        # What is asked for may take as long as a micro-batch; the heart beats meanwhile.
        for name, work in ("attendant", self._listen), ("heartbeat", self._beat):
            thread = threading.Thread(target=work, args=(self._folder,), daemon=True)
            thread.name = f"rekindle-{name}-{self._job.job_id}"
            thread.start()

    def restarting(self, error: RekindleError, delay: float) -> None:
        """A failure that may pass: the job goes on from its last micro-batch after so many seconds."""
        count = self.status.restarts + 1
        _log.warning("restart %d of job %s in %.1f s, after: %s", count, self._job.job_id, delay, error.message)
        self.status = replace(self.status, restarts=count, restarted_after=error.message)
        if self._folder is not None:
            self.status.write(self._folder)

    def stopping(self, savepoint: Path | None) -> None:
        """Somebody has asked the job to stop, and to leave that savepoint."""
        self._asked, self._savepoint = self._asked or State.STOPPED, self._savepoint or savepoint

    def end(self, failure: BaseException | None) -> None:
        """The job has ended, and still holds its folder."""
        state = State.FAILED if failure is not None else self._asked or State.FINISHED
        savepoint = self._savepoint if self._savepoint is not None and self._savepoint.exists() else None
        ended = Status.now(state, savepoint=savepoint, error=failure)
        self.status = replace(ended, restarts=self.status.restarts, restarted_after=self.status.restarted_after)
        if self._folder is not None:
            self._note_progress(self._folder, last=True)
            self.status.write(self._folder)

    def _listen(self, folder: Path) -> None:
        while not self._ended(_LOOK):
            self._attend(folder)

    def _beat(self, folder: Path) -> None:
        while not self._ended(_LOOK):
            try:
                self._note_progress(folder)
            except OSError as error:
                # A disk that is full is the job's to find out; the next one is written when it can be.
                _log.warning("progress of job %s cannot be written: %s", self._job.job_id, error.strerror)
                self._told = time.monotonic() + _HEARTBEAT

    def _attend(self, folder: Path) -> None:
        """Do what is asked for, if anything is."""
        try:
            wish = read_wish(folder)
        except JobError as error:
            # Nobody can be answered: who asked is not known.
            _log.warning("a request that is none is removed: %s", error)
            (folder / REQUEST).unlink(missing_ok=True)
            return
        if wish is not None:
            (folder / REQUEST).unlink(missing_ok=True)
            text = json.dumps({"error": self._answer(wish)})
            write_atomically(response(folder, wish["id"]), text, replace=True, private=True)

    def _ended(self, timeout: float) -> bool:
        try:
            return self._job.wait(timeout)
        except RekindleError:
            return True

    def _note_progress(self, folder: Path, *, last: bool = False) -> None:
        since = time.monotonic() - self._told
        if self._earlier is None or (not last and since < _PROGRESS):
            return
        progress, activity = self._job.progress(), self._job.activity()
        seen = activity.kind, None if progress is None else (progress.batch_id, progress.rows)
        if not last and seen == self._seen and since < _HEARTBEAT:
            return
        with self._writing:
            if self._is_over:
                return
            self._is_over = last
            self._seen, self._told = seen, time.monotonic()
            if progress is not None:
                progress = replace(progress, rows=self._earlier.get("rows", 0) + progress.rows)
            write_progress(folder, progress, activity, self._earlier, ended=last)

    def _answer(self, wish: Wish) -> dict[str, Any] | None:
        """Do what is asked for; the error, if there is one."""
        try:
            self._do(wish)
        except BaseException as error:  # noqa: BLE001  # whoever asked is told
            return asdict(Trouble.of(error))
        return None

    def _do(self, wish: Wish) -> None:
        target = Path(wish["savepoint"]) if wish["savepoint"] else None
        if target is not None and target.exists():
            raise JobError("the folder exists already", where=str(target), hint="Give a new folder.")
        if target is not None:
            self._await_a_commit()
        if wish["state"] is None:
            assert target is not None
            self._job.savepoint(target)
            return
        self._asked = wish["state"]
        self._job.stop(with_savepoint=target, drain=wish["drain"])

    def _await_a_commit(self) -> None:
        """A job that has just begun has nothing to save yet; it goes on if there is nothing for long."""
        deadline = time.monotonic() + _PATIENCE
        while self._job.folder.committed_batch() is None and not self._ended(_LOOK):
            if time.monotonic() > deadline:
                raise JobError(
                    f"no micro-batch has been committed in {_PATIENCE:g} s, so there is nothing to save",
                    where=str(self._job.folder.path),
                    hint="Try again when input has come, or stop the job without a savepoint.",
                )


def _earlier(folder: Path) -> Written:
    """What the last process of the job has counted; what cannot be read counts for nothing."""
    try:
        return read_progress(folder)
    except JobError as error:
        _log.warning("rows are counted from now on: %s", error)
        return Written()
