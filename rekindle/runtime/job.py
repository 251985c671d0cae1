"""A job: one Spark streaming query over a plan, in a folder that it can be continued from."""

from __future__ import annotations

import atexit
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from execnodes.core.errors import RekindleError
from execnodes.core.graph import ExecGraph
from execnodes.core.lowering import KIND, quote
from execnodes.core.options import SPARK_PREFIX, Configuration
from execnodes.state.operator import DRAINED
from rekindle.atomic_file import write_atomically
from rekindle.connectors.base import SinkWriter
from rekindle.connectors.secrets import resolve_secrets
from rekindle.jobs.attendant import Attendant
from rekindle.paths import for_spark_checkpoint
from rekindle.runtime.build import Builder, sink_columns, sink_hidden
from rekindle.runtime.failures import explained, passes, text_of, told_as
from rekindle.runtime.fan_out import FanOut, Target
from rekindle.runtime.folder import JobFolder, JobIdentity, temporary_folder
from rekindle.runtime.functions import (
    functions_of_spark,
    register_functions,
    supply_functions,
)
from rekindle.runtime.gate import Gate
from rekindle.runtime.guards import guard
from rekindle.runtime.idleness import IdleWatch
from rekindle.runtime.java import lost
from rekindle.runtime.lanes import Lanes
from rekindle.runtime.layout import check_layout, keep_layout, layout_of
from rekindle.runtime.metrics import merging
from rekindle.runtime.page_layouts import page_layouts, supply_layouts
from rekindle.runtime.progress import Progress, RowCounter
from rekindle.runtime.record import SinkRecord, record
from rekindle.runtime.resolved import resolved_text
from rekindle.runtime.restarts import strategy_of
from rekindle.runtime.session import prepare, session
from rekindle.runtime.stages import plan_stages
from rekindle.runtime.targets import columns_of_sink, target_of
from rekindle.savepoints.recovery import recover
from rekindle.spark_releases import refuse_other_checkpoint

_PATIENCE = 30.0
"""Seconds that the end of a job is waited for once Spark does not answer."""

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from execnodes.core.user_functions.loading import Definition
    from rekindle.connectors.data_stream import DataStream
    from rekindle.jobs.status import Status
    from rekindle.savepoints.manifest import Manifest
    from rekindle.savepoints.restore import Fate, Restore


class Job:
    """A running pipeline. `start` it, then `wait`; bounded pipelines end by themselves."""

    batch: ClassVar[bool] = False
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
        self._drains = savepoint_at_end is None
        self._savepoint_at_end = savepoint_at_end
        self.fates: tuple[Fate, ...] = ()
        self._graph = graph
        self._plan = plan
        self._configuration = configuration
        self._name = name
        self._given_spark = spark
        self._data_streams = dict(data_streams or {})
        self._functions = dict(functions or {})
        job_dir = configuration.get_option("execution.job-dir")
        self._temporary = not job_dir
        self.folder = JobFolder(Path(job_dir or temporary_folder()))
        self._writers: list[SinkWriter] = []
        self._query: StreamingQuery | None = None
        self._done = threading.Event()
        self._failure: RekindleError | None = None
        self._progress: Progress | None = None
        self._gate = Gate()
        self._turn = threading.Lock()
        """Held while a query is started again, or while the job is told to stop."""
        self._stopping = False
        self._told_to_stop = threading.Event()
        self._counter = RowCounter()
        self._attendant = Attendant(self, None if self._temporary else self.folder.path)

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

    def _begin(self) -> None:
        """What `_run` then waits for."""
        self._restarts = strategy_of(self._configuration)
        self._query = self._paced(self._attached()).start()
        self._idle_watch = IdleWatch(self._builder.controlled, self._builder.control_dir, lambda: self._query)
        self._idle_watch.start()

    def attach(self) -> DataStreamWriter:
        """The pipeline up to its sinks, for the caller to start: an end that is not ours, so nothing is drained.

        It writes to the job folder's checkpoint; sinks count on that, so that no batch is written twice.
        """
        self._open_for_caller()
        return self._attached()

    def frame(self) -> DataFrame:
        """The rows that enter the only sink, under its columns' names, with `KIND`; the caller starts a query on it."""
        self._open_for_caller()
        frame = self._assembled()
        (sink,) = self._pipeline.record.sinks
        columns = zip(columns_of_sink(sink), sink_columns(self._pipeline, sink.node.id).values(), strict=True)
        return frame.selectExpr(*(f"{text} AS {quote(column.name)}" for column, text in columns), KIND)

    def _open_for_caller(self) -> None:
        # Spark keeps a second query off the same checkpoint; the lock is for jobs, which know when they end.
        self.folder.acquire()
        try:
            self.identity = self.folder.open(self._plan, self._name)
        finally:
            self.folder.release()
        atexit.register(self._close)

    def _attached(self) -> DataStreamWriter:
        self._frame = self._assembled()
        return self._ending()

    def _ending(self) -> DataStreamWriter:
        """The end of the query with new writers, which find what earlier ones have written."""
        self._close_writers()
        targets = [self._target(sink) for sink in self._pipeline.record.sinks]
        self._fan_out = FanOut(targets, sink_hidden(self._pipeline), self._gate)
        return self._written(self._frame)

    def _written(self, frame: DataFrame) -> DataStreamWriter:
        checkpoint = for_spark_checkpoint(self._spark, self.folder.checkpoint)
        return self._fan_out.attach(frame).option("checkpointLocation", checkpoint)

    def _assembled(self) -> DataFrame:
        refuse_other_checkpoint(self.folder.checkpoint)
        self.folder.check_logs()
        pages = page_layouts(self.folder, self._graph)
        recorded = guard(record(self._graph))
        supply_functions(recorded.steps.values(), self._functions)
        layout = layout_of(self._graph, recorded.steps.values())
        check_layout(self.folder, layout, pages.changed)
        supply_layouts(recorded.steps.values(), pages.conversions)
        pages.keep(self.folder)
        write_atomically(self.folder.resolved_file, resolved_text(self._graph), replace=True, private=True)
        restore = recover(self.folder, self._configuration, self._graph)
        keep_layout(self.folder, layout)
        self.fates = restore.fates if restore is not None else ()
        self._pipeline = plan_stages(recorded)
        self._spark = self._prepared({})
        self._metrics = self._spark.sparkContext.accumulator({}, merging())
        self._builder = self._built(restore)
        return self._builder.build()

    def _prepared(self, defaults: Mapping[str, str]) -> SparkSession:
        """A session with the job's own Spark settings, on top of `defaults`, and the functions that its plan calls."""
        parallelism = max(1, self._configuration.number("parallelism.default"))
        own = {key: value for key, value in self._configuration.items() if key.startswith(SPARK_PREFIX)}
        settings = resolve_secrets(own)
        given = self._given_spark or session(parallelism, settings)
        called = functions_of_spark(self._graph, self._functions)
        prepared = prepare(given, parallelism, {**defaults, **settings}, called)
        register_functions(prepared, called)
        return prepared

    def _built(self, restore: Restore | None = None, *, hold: bool = False) -> Builder:
        """With `hold` no more input is taken up than the checkpoint has noted."""
        tasks = self.folder.tasks() or int(self._spark.conf.get("spark.sql.shuffle.partitions") or 1)
        lanes = Lanes(tasks, self._graph.max_parallelism)
        return Builder(
            self._spark, self._pipeline, self._configuration, self.folder.path, lanes,
            self._metrics, self._data_streams, restore, self.folder.restored(), hold,
        )  # fmt: skip

    def _paced(self, stream: DataStreamWriter) -> DataStreamWriter:
        interval = self._configuration.millis("execution.micro-batch.interval")
        return stream.trigger(processingTime=f"{interval} milliseconds")

    def _target(self, sink: SinkRecord) -> Target:
        columns = sink_columns(self._pipeline, sink.node.id)
        target = target_of(
            self._spark, sink, columns, self.job_id, self.folder.path, self._configuration, self._builder.uids
        )
        self._writers.append(target.writer)
        target.writer.open()
        return target

    def _run(self) -> None:
        """Until a bounded pipeline has ended, or the query stops; runs in a thread of its own."""
        try:
            self._failure = self._outcome()
        except BaseException as error:  # noqa: BLE001  # kept, and raised again by `wait`
            self._failure = explained(error)
        self._end()

    def _outcome(self) -> RekindleError | None:
        error = self._attempts(self._ended_by_itself)
        if error is None and self._stopping and self._drains and self._builder.timed:
            error = self._drained()
        if error is not None:
            return self._explained(error)
        if self._savepoint_at_end is not None:
            self.savepoint(self._savepoint_at_end)
        return None

    def _end(self) -> None:
        """Say how it ended, and let go of everything; what fails then makes the job fail."""
        steps: tuple[Callable[[], None], ...] = (
            self._idle_watch.end, lambda: self._attendant.end(self._failure), self._close,
        )  # fmt: skip
        for step in steps:
            try:
                step()
            except BaseException as error:  # noqa: BLE001  # kept, and raised again by `wait`
                self._failure = self._failure or explained(error)
        self._done.set()

    def _attempts(self, run: Callable[[StreamingQuery], None]) -> BaseException | None:
        """Run the query, again after failures that may pass; what made it fail."""
        while True:
            error = self._attempt(run)
            if error is None or self._fan_out.error is not None or not passes(error):
                return error
            delay = self._restarts.delay()
            if delay is None:
                return error
            self._attendant.restarting(explained(error), delay)
            self._told_to_stop.wait(delay)
            with self._turn:
                if self._stopping and run == self._ended_by_itself:
                    return None
                self._gate.open()
                self._query = self._paced(self._ending()).start()

    def _attempt(self, run: Callable[[StreamingQuery], None]) -> BaseException | None:
        """Run the query until it has stopped; what made it fail."""
        assert self._query is not None
        try:
            run(self._query)
        except BaseException as error:  # noqa: BLE001  # kept, and raised again by `wait`
            return None if self._gate.refused else error
        return None if self._gate.refused else self._query.exception()

    def _ended_by_itself(self, query: StreamingQuery) -> None:
        if self._builder.bounded:
            query.processAllAvailable()
            if self._drains and query.isActive:
                self._drain(query)
            self._halt(query)
        else:
            query.awaitTermination()

    def _drained(self) -> BaseException | None:
        """Go on without new input, so that no row meets the last watermark, and end the stream."""
        self._gate.open()
        self._builder = self._built(hold=True)
        self._frame = self._builder.build()
        self._query = self._paced(self._written(self._frame)).start()

        def run(query: StreamingQuery) -> None:
            self._drain(query)
            self._halt(query)

        return self._attempts(run)

    def _halt(self, query: StreamingQuery) -> None:
        """Stop a query between two micro-batches: what reached a sink is committed first."""
        last = self._gate.shut()
        while last is not None and query.isActive:
            committed = self.folder.committed_batch()
            if committed is not None and committed >= last:
                break
            time.sleep(0.02)
        query.stop()

    def savepoint(self, target: Path) -> Manifest:
        """Write a savepoint of the last committed micro-batch; the job goes on."""
        from rekindle.savepoints.take import take

        return take(self._spark, self._graph, self._plan, self.folder, target)

    def _drain(self, query: StreamingQuery) -> None:
        """Move the watermark past everything and wait until a batch has run under it."""
        if not self._builder.timed:
            return
        self._builder.drain()
        # One call may return at the end of a trigger that had looked for files before the control file was there.
        while query.isActive and self.folder.committed_watermark() < DRAINED:
            query.processAllAvailable()
            time.sleep(0.01)

    def _explained(self, error: BaseException) -> RekindleError:
        if self._fan_out.error is not None:
            return self._fan_out.error
        return explained(error)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end (seconds); whether it has ended. Raises what made the job fail."""
        ended = self._done.wait(timeout)
        if ended and self._failure is not None:
            raise self._failure
        return ended

    def stop(self, *, with_savepoint: Path | None = None, drain: bool = False) -> None:
        """Stop between two micro-batches; the folder can be continued from.

        With `drain` the stream ends as if all input had ended: no more input is taken, and every window fires.
        `with_savepoint` is written when the query has stopped. Raises what made the job fail while it stopped.
        """
        self._attendant.stopping(with_savepoint)
        with self._turn:
            self._stopping, self._drains = True, drain
            self._told_to_stop.set()
            self._savepoint_at_end = with_savepoint
            query = self._query
        if query is not None:
            try:
                self._halt(query)
            except Exception as error:
                # The thread that waits for the query has met the same end.
                if not self._done.wait(_PATIENCE):
                    raise explained(error) from error
            self._done.wait()
        if self._failure is not None:
            raise self._failure
        if with_savepoint is not None and not with_savepoint.exists():
            # It had ended before it was told.
            self.savepoint(with_savepoint)

    def drain(self) -> None:
        """End the stream as if all input had ended, then stop."""
        self.stop(drain=True)

    def progress(self) -> Progress | None:
        """The last micro-batch; None before the first."""
        if self._query is not None:
            try:
                self._progress = self._counter.progress(self._query, self._metrics.value)
            except Exception as error:
                # Without Spark's process what was known last is all there is; `wait` tells what happened.
                if lost(text_of(error)) is None:
                    raise
        return self._progress

    def batches(self) -> list[tuple[int, int]]:
        """(input rows, milliseconds) of the recent micro-batches that had rows."""
        recent = self._query.recentProgress if self._query is not None else []
        return [(each.numInputRows, each.batchDuration) for each in recent if each.numInputRows]

    def _close_writers(self) -> None:
        for writer in self._writers:
            writer.close()
        self._writers.clear()

    def _close(self) -> None:
        self._close_writers()
        self.folder.release()
        if self._temporary:
            shutil.rmtree(self.folder.path, ignore_errors=True)
