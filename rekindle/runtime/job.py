"""The life of a job: a plan that runs in a folder of its own, started, waited for, stopped."""

from __future__ import annotations

import atexit
import logging
import shutil
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from execnodes.core.errors import RekindleError
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from plans.format.find_lost_conditions import find_lost_conditions
from rekindle.connectors.base import SinkWriter
from rekindle.files.job_folder import JobFolder, JobIdentity, temporary_folder
from rekindle.pipeline.failures import explained, told_as
from rekindle.runtime.assemble import Order
from rekindle.runtime.attendant import Attendant
from rekindle.runtime.progress import Activity, Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from execnodes.user_functions.loading import Definition
    from rekindle.connectors.data_stream import DataStream
    from rekindle.jobs.status import Status
    from rekindle.savepoints.manifest import Manifest
    from rekindle.savepoints.restore import RestoredState

_log = logging.getLogger("rekindle.jobs")


class Job(ABC):
    """A pipeline in its folder. `start` it, then `wait`; bounded pipelines end by themselves."""

    batch: ClassVar[bool]
    """Whether it reads everything once and ends, without micro-batches and without state."""

    def __init__(
        self,
        graph: ExecGraph,
        plan: str,
        configuration: Configuration,
        *,
        name: str = "",
        spark: SparkSession | None = None,
        data_streams: Mapping[str, DataStream] | None = None,
        functions: Mapping[str, Definition] | None = None,
        savepoint_at_end: Path | None = None,
    ) -> None:
        """`plan`: the text `graph` was read from; it is kept in the job folder. `data_streams`: by uid.

        `functions`: those of the user that the plan calls, by their names in it.

        `savepoint_at_end`: a bounded pipeline is not drained at the end of its input, but ends with this savepoint.
        """
        job_dir = configuration.get_option("execution.job-dir")
        self._temporary = not job_dir
        self.folder = JobFolder(Path(job_dir or temporary_folder()))
        self._order = Order(graph, self.folder, configuration, spark, dict(data_streams or {}), dict(functions or {}))
        self._plan = plan
        self._name = name
        self._savepoint_at_end = savepoint_at_end
        self.fates: tuple[RestoredState, ...] = ()
        self._writers: list[SinkWriter] = []
        self._done = threading.Event()
        self._failure: RekindleError | None = None
        self._stopping = False
        self._attendant = Attendant(self, None if self._temporary else self.folder.path)

    @property
    def ends_by_itself(self) -> bool:
        """Whether it ends without being stopped; known once it has started."""
        return True

    @property
    def has_ended(self) -> bool:
        """Whether it runs no more, however it ended."""
        return self._done.is_set()

    @property
    def job_id(self) -> str:
        """Stable over restarts from the same folder."""
        return self.identity.job_id

    @property
    def status(self) -> Status:
        """How it is, or how it ended."""
        return self._attendant.status

    def start(self) -> Self:
        """Start the query; errors that can be known before the first row are raised here."""
        for lost in find_lost_conditions(self._order.graph):
            if lost.is_visible:
                _log.warning("%s", lost)
        self.folder.acquire()
        try:
            self.identity: JobIdentity = self.folder.open(self._plan, self._name)
            self._start()
        except BaseException as error:
            self._close()
            told = told_as(error, self.folder.path)
            if told is error:
                raise
            raise told from error
        return self

    def _start(self) -> None:
        try:
            self._attendant.starting()
            self._begin()
            self._attendant.start()
            threading.Thread(target=self._run, name=f"rekindle-{self.job_id}", daemon=True).start()
        except BaseException as error:
            self._attendant.end(told_as(error, self.folder.path))
            raise

    @abstractmethod
    def _begin(self) -> None:
        """Start what `_outcome` then waits for."""

    @abstractmethod
    def _outcome(self) -> RekindleError | None:
        """Wait for the end; what made the job fail."""

    @abstractmethod
    def _let_go(self) -> None:
        """Give back what only this kind of job holds."""

    @abstractmethod
    def attach(self) -> DataStreamWriter:
        """The pipeline up to its sinks, for the caller to start; JobError where that is not possible."""

    @abstractmethod
    def frame(self) -> DataFrame:
        """The rows that enter the only sink, under its columns' names, with `execnodes.lowering.stream.KIND`."""

    @abstractmethod
    def savepoint(self, target: Path) -> Manifest:
        """Write a savepoint of the last committed micro-batch; JobError for a job that keeps no state."""

    @abstractmethod
    def stop(self, *, with_savepoint: Path | None = None, drain: bool = False) -> None:
        """End it before its input does. Raises what made the job fail while it stopped."""

    @abstractmethod
    def progress(self) -> Progress | None:
        """The last micro-batch; None before the first, and for a job without them."""

    @abstractmethod
    def activity(self) -> Activity:
        """What it does, or waits for; any thread may ask."""

    @abstractmethod
    def batches(self) -> list[tuple[int, int]]:
        """(input rows, milliseconds) of the recent micro-batches that had rows."""

    def _open_for_caller(self) -> None:
        # Spark keeps a second query off the same checkpoint; the lock is for jobs, which know when they end.
        self.folder.acquire()
        try:
            self.identity = self.folder.open(self._plan, self._name)
        finally:
            self.folder.release()
        atexit.register(self._close)

    def _run(self) -> None:
        """Until a bounded pipeline has ended, or the query stops; runs in a thread of its own."""
        try:
            self._failure = self._outcome()
        except BaseException as error:  # noqa: BLE001  # kept, and raised again by `wait`
            self._failure = explained(error)
        self._end()

    def _end(self) -> None:
        """Say how it ended, and let go of everything; what fails then makes the job fail."""
        steps: tuple[Callable[[], None], ...] = (
            self._let_go, lambda: self._attendant.end(self._failure), self._close,
        )  # fmt: skip
        try:
            for step in steps:
                try:
                    step()
                except BaseException as error:  # noqa: BLE001  # kept, and raised again by `wait`
                    self._failure = self._failure or explained(error)
        finally:
            # Whatever happens, nobody waits for a job that has ended.
            self._done.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end (seconds); whether it has ended. Raises what made the job fail."""
        ended = self._done.wait(timeout)
        if ended and self._failure is not None:
            raise self._failure
        return ended

    def drain(self) -> None:
        """End the stream as if all input had ended, then stop."""
        self.stop(drain=True)

    def _flush_writers(self) -> None:
        for writer in tuple(self._writers):
            writer.flush()

    def _close_writers(self) -> None:
        for writer in self._writers:
            writer.close()
        self._writers.clear()

    def _close(self) -> None:
        self._close_writers()
        self.folder.release()
        if self._temporary:
            shutil.rmtree(self.folder.path, ignore_errors=True)
