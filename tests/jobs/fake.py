"""A job that is none: it holds its folder and has an attendant, and runs nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from execnodes.core.errors import RekindleError
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.home import JobInfo, job_info
from rekindle.jobs.status import Status
from rekindle.runtime.attendant import Attendant
from rekindle.runtime.progress import Activity, Progress


class Fake:
    """As much of a job as its attendant sees; holds the folder like one."""

    def __init__(self, path: Path, savepoint: Callable[[Path], object]) -> None:
        self.folder = JobFolder(path)
        self.folder.acquire()
        self.identity = self.folder.open("{}", "fake")
        self.job_id = self.identity.job_id
        (path / "checkpoint" / "commits").mkdir(parents=True)
        (path / "checkpoint" / "commits" / "0").touch()
        self.drained: bool | None = None
        self._savepoint = savepoint
        self._done = threading.Event()
        self._failure: RekindleError | None = None
        self.attendant = Attendant(self, path)  # type: ignore[arg-type]  # stands in for a Job

    @property
    def status(self) -> Status:
        return self.attendant.status

    def wait(self, timeout: float | None = None) -> bool:
        ended = self._done.wait(timeout)
        if ended and self._failure is not None:
            raise self._failure
        return ended

    def progress(self) -> Progress:
        return Progress(1, 7, 3.0, None, {}, {})

    def activity(self) -> Activity:
        return Activity("input", 1000, 900)

    def savepoint(self, target: Path) -> None:
        self._savepoint(target)

    def stop(self, *, with_savepoint: Path | None = None, drain: bool = False) -> None:
        self.attendant.stopping(with_savepoint)
        self.drained = drain
        try:
            if with_savepoint is not None:
                self._savepoint(with_savepoint)
        except RekindleError as error:
            self.end(error)
            raise
        self.end(None)

    def end(self, failure: RekindleError | None) -> None:
        self._failure = failure
        self.attendant.end(failure)
        self.folder.release()
        self._done.set()


@contextmanager
def running(path: Path, savepoint: Callable[[Path], object] = Path.mkdir) -> Iterator[tuple[Fake, JobInfo]]:
    fake = Fake(path, savepoint)
    fake.attendant.start()
    try:
        yield fake, job_info(path)
    finally:
        if not fake._done.is_set():
            fake.end(None)
