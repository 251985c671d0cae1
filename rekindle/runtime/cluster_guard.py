"""What a job asks of a cluster: folders that all executors share, and executors. On one machine it asks nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from execnodes.core.errors import PassingError
from rekindle.connectors.base import SinkWriter
from rekindle.engine.micro_batch import MicroBatch, Program, Ran
from rekindle.runtime.shared_folder import SharedFolders
from rekindle.runtime.watchdog import Watchdog, watchdog_of
from rekindle.spark.executors import is_one_process
from rekindle.spark.session import is_ended, renew

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


E = TypeVar("E", bound=BaseException | None)


class ClusterGuard:
    """Of one job; it is told of each session that the job gets."""

    def __init__(
        self, patience: float, is_busy: Callable[[], bool], is_stopping: Callable[[], bool], *, owns_session: bool
    ) -> None:
        """`patience`: seconds without executors. `owns_session`: a session that is lost may be replaced."""
        self.patience, self._is_busy, self._is_stopping = patience, is_busy, is_stopping
        self._owns_session = owns_session
        self._watchdog: Watchdog | None = None
        self._folders: SharedFolders | None = None

    @property
    def waits_since(self) -> int | None:
        """Since when there is no executor, epoch ms; None if there are some, or nothing is to run."""
        since = None if self._watchdog is None else self._watchdog.waits_since
        return None if since is None else round(1000 * (time.time() - (time.monotonic() - since)))

    def take(self, spark: SparkSession, tag: str) -> str:
        """Watch a session; the tag by which its jobs of Spark are ended, which those of this thread get, or ""."""
        self.close()
        if is_one_process(spark):
            return ""
        spark.sparkContext.addJobTag(tag)
        self._watchdog = watchdog_of(spark, tag, self.patience, self._is_busy, self._is_stopping)
        self._watchdog.start()
        return tag

    def require_folders(self, spark: SparkSession, job: Path, writers: Iterable[SinkWriter]) -> None:
        """JobError if an executor does not share the folder of the job, or of a sink."""
        self._folders = SharedFolders(spark, job, [folder for each in writers for folder in each.shared_folders()])
        self._folders.require()

    def checked(self, program: Program) -> Program:
        """The program, which asks executors that are new before it runs a micro-batch."""
        return program if self._watchdog is None or self._folders is None else _Checked(program, self._folders)

    def explain(self, error: E) -> E | PassingError:
        """What made a job fail: no executors, if it was ended for that."""
        if error is None or self._watchdog is None:
            return error
        return self._watchdog.error or error

    def renew(self, spark: SparkSession) -> bool:
        """Give up a session that has no executors any more, so that the next one is another; whether that was done."""
        lost = self._watchdog is not None and self._watchdog.error is not None
        if not self._owns_session or not (lost or is_ended(spark)):
            return False
        self.close()
        renew(spark)
        return True

    def close(self) -> None:
        """Watch no more."""
        if self._watchdog is not None:
            self._watchdog.close()
        self._watchdog = self._folders = None


class _Checked:
    """See `ClusterGuard.checked`."""

    def __init__(self, program: Program, folders: SharedFolders) -> None:
        self._program, self._folders = program, folders

    @property
    def timeouts(self) -> Mapping[str, int]:
        """See `Program`."""
        return self._program.timeouts

    def run(self, batch: MicroBatch) -> Ran:
        """See `Program`."""
        if not batch.step:
            self._folders.require()
        return self._program.run(batch)
