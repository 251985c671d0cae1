"""A streaming job: one Spark streaming query over a plan, in a folder that it can be continued from."""

from __future__ import annotations

import atexit
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from typing_extensions import override

from execnodes.core.errors import PlanError, RekindleError
from execnodes.lowering.stream import KIND, quote
from execnodes.state.operator import DRAINED
from rekindle.files.paths import for_spark_checkpoint
from rekindle.pipeline.clock import ClockWatch
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.failures import drain_error, explained, passes
from rekindle.pipeline.idleness import IDLE_TIMEOUT, IdleWatch, observed
from rekindle.pipeline.record import SinkRecord
from rekindle.pipeline.stage_frames import sink_columns
from rekindle.runtime.assemble import Prepared, assemble
from rekindle.runtime.fan_out import FanOut, Target
from rekindle.runtime.gate import Gate
from rekindle.runtime.job import Job
from rekindle.runtime.progress import Progress, RowCounter
from rekindle.runtime.restarts import strategy_of
from rekindle.spark.java import lost, text_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from rekindle.savepoints.manifest import Manifest

_MOST_DRAIN_ROUNDS = 20
"""Triggers without anything to do after which a drain whose watermark has not reached the end is given up."""
_TOLD_WITHIN = 2.0
"""Seconds in which Spark tells of a micro-batch that it has committed."""
_PATIENCE = 30.0
"""Seconds that the end of a job is waited for once Spark does not answer."""


class StreamJob(Job):
    """A running pipeline of micro-batches."""

    batch: ClassVar[bool] = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """See `Job`."""
        super().__init__(*arguments, **options)
        self._drains = self._savepoint_at_end is None
        self._query: StreamingQuery | None = None
        self._watches: list[IdleWatch | ClockWatch] = []
        self._progress: Progress | None = None
        self._gate = Gate()
        self._turn = threading.Lock()
        """Held while a query is started again, or while the job is told to stop."""
        self._told_to_stop = threading.Event()
        self._counter = RowCounter()

    @property
    @override
    def ends_by_itself(self) -> bool:
        return self._prepared.builder.bounded

    def _begin(self) -> None:
        """What `_run` then waits for."""
        self._restarts = strategy_of(self._order.configuration)
        self._query = self._paced(self._attached()).start()
        self._watch(lambda: self._query)

    def _watch(self, query: Callable[[], StreamingQuery | None]) -> None:
        builder = self._prepared.builder
        self._watches.append(IdleWatch(builder.controlled, builder.control_dir, query))
        if builder.clock is not None:
            names = [observed(each) for each in builder.controlled.values()]
            self._watches.append(ClockWatch(builder.clock, names, builder.control_dir, query))
        for each in self._watches:
            each.start()

    def _let_go(self) -> None:
        for each in self._watches:
            each.end()

    def attach(self) -> DataStreamWriter:
        """The pipeline up to its sinks, for the caller to start: an end that is not ours, so nothing is drained.

        It writes to the job folder's checkpoint; sinks count on that, so that no batch is written twice.
        """
        self._open_for_caller()
        writer = self._attached()
        self._watch(self._started_by_caller)
        atexit.register(self._let_go)
        return writer

    def _started_by_caller(self) -> StreamingQuery | None:
        """The query on the checkpoint of the job, whose id Spark has written there."""
        try:
            query_id = json.loads((self.folder.checkpoint / "metadata").read_text(encoding="utf-8"))["id"]
        except FileNotFoundError:
            return None
        return self._prepared.spark.streams.get(query_id)

    def frame(self) -> DataFrame:
        """The rows that enter the only sink, under its columns' names, with `KIND`; the caller starts a query on it."""
        self._open_for_caller()
        frame = self._assembled()
        if self._prepared.builder.idles:
            raise PlanError(
                f"its sources may become idle ({IDLE_TIMEOUT}), which nobody watches in a query of your own",
                hint="Compile it with the option set to '0 ms', or use attach_as_data_stream.",
            )
        if self._prepared.builder.clock is not None:
            raise PlanError(
                "its windows go by processing time, which nobody tells in a query of your own",
                hint="Use attach_as_data_stream, or windows by event time.",
            )
        (sink,) = self._prepared.pipeline.record.sinks
        columns = zip(sink.columns, sink_columns(self._prepared.pipeline, sink.node.id).values(), strict=True)
        return frame.selectExpr(*(f"{text} AS {quote(column.name)}" for column, text in columns), KIND)

    def _attached(self) -> DataStreamWriter:
        self._assembled()
        return self._ending()

    def _ending(self) -> DataStreamWriter:
        """The end of the query with new writers, which find what earlier ones have written."""
        self._close_writers()
        requests = self._prepared.builder.requests.again()
        targets = [self._target(sink, requests) for sink in self._prepared.pipeline.record.sinks]
        self._fan_out = FanOut(targets, self._prepared.pipeline.sink_hidden(), self._gate)
        return self._written()

    def _written(self) -> DataStreamWriter:
        checkpoint = for_spark_checkpoint(self._prepared.spark, self.folder.checkpoint)
        return self._fan_out.attach(self._prepared.frame).option("checkpointLocation", checkpoint)

    def _assembled(self) -> DataFrame:
        self._prepared: Prepared = assemble(self._order)
        self.fates = self._prepared.fates
        return self._prepared.frame

    def _paced(self, stream: DataStreamWriter) -> DataStreamWriter:
        interval = self._order.configuration.millis("execution.micro-batch.interval")
        return stream.trigger(processingTime=f"{interval} milliseconds")

    def _target(self, sink: SinkRecord, requests: Requests) -> Target:
        writer = requests.writer(sink.node, sink.table, self.job_id, sink.changelog)
        self._writers.append(writer)
        writer.open()
        texts = sink_columns(self._prepared.pipeline, sink.node.id).values()
        columns = {c.name: text for c, text in zip(sink.columns, texts, strict=True)}
        return Target(sink.node.id, writer, columns, sink.table.name)

    def _outcome(self) -> RekindleError | None:
        error = self._attempts(self._ended_by_itself)
        if error is None and self._stopping and self._drains and self._prepared.builder.timed:
            error = self._drained()
        if error is not None:
            return explained(error)
        if self._savepoint_at_end is not None:
            self.savepoint(self._savepoint_at_end)
        return None

    def _attempts(self, run: Callable[[StreamingQuery], None]) -> BaseException | None:
        """Run the query, again after failures that may pass; what made it fail."""
        error = self._attempt(run)
        while error is not None and passes(error):
            delay = self._restarts.delay()
            if delay is None:
                return error
            self._attendant.restarting(explained(error), delay)
            self._told_to_stop.wait(delay)
            with self._turn:
                if self._stopping and run == self._ended_by_itself:
                    return None
                error = self._start_again()
            error = error or self._attempt(run)
        return error

    def _start_again(self) -> Exception | None:
        """Start the query over new writers; what kept it from starting."""
        try:
            self._gate.open()
            self._query = self._paced(self._ending()).start()
        except Exception as error:  # noqa: BLE001  # kept, and raised again by `wait`
            return error
        return None

    def _attempt(self, run: Callable[[StreamingQuery], None]) -> BaseException | None:
        """Run the query until it has stopped; what made it fail."""
        assert self._query is not None
        try:
            run(self._query)
        except BaseException as error:  # noqa: BLE001  # kept, and raised again by `wait`
            return None if self._gate.refused else self._fan_out.error or error
        return None if self._gate.refused else self._fan_out.error or self._query.exception()

    def _ended_by_itself(self, query: StreamingQuery) -> None:
        if self._prepared.builder.bounded:
            query.processAllAvailable()
            if self._drains and query.isActive:
                self._drain(query)
            self._halt(query)
        else:
            query.awaitTermination()

    def _drained(self) -> BaseException | None:
        """Go on without new input, so that no row meets the last watermark, and end the stream."""
        self._gate.open()
        self._prepared = self._prepared.held()
        self._query = self._paced(self._written()).start()

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
        if last is not None:
            _await_progress(query, last)
        query.stop()

    def savepoint(self, target: Path) -> Manifest:
        """Write a savepoint of the last committed micro-batch; the job goes on."""
        from rekindle.savepoints.take import take

        return take(self._prepared.spark, self._order.graph, self._plan, self.folder, target)

    def _drain(self, query: StreamingQuery) -> None:
        """Move the watermark past everything and wait until a batch has run under it; JobError if none does."""
        if not self._prepared.builder.timed:
            return
        self._prepared.builder.drain()
        # One call may return at the end of a trigger that had looked for files before the control file was there;
        # two micro-batches read the file and run under its watermark.
        for _ in range(_MOST_DRAIN_ROUNDS):
            if not query.isActive or self.folder.committed_watermark() >= DRAINED:
                return
            query.processAllAvailable()
            time.sleep(0.01)
        if query.isActive and self.folder.committed_watermark() < DRAINED:
            raise drain_error(self.folder)

    def stop(self, *, with_savepoint: Path | None = None, drain: bool = False) -> None:
        """Stop between two micro-batches; the folder can be continued from.

        With `drain` the stream ends as if all input had ended: no more input is taken, and every window fires.
        `with_savepoint` is written when the query has stopped. Raises what made the job fail while it stopped.
        Of several calls the first one says how it ends.
        """
        self._attendant.stopping(with_savepoint)
        with self._turn:
            if not self._stopping:
                self._stopping, self._drains, self._savepoint_at_end = True, drain, with_savepoint
            # Who asks later takes nothing from who asked first.
            self._savepoint_at_end = self._savepoint_at_end or with_savepoint
            self._told_to_stop.set()
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

    def progress(self) -> Progress | None:
        """The last micro-batch; None before the first."""
        if self._query is not None:
            try:
                self._progress = self._counter.progress(self._query, self._prepared.metrics.value)
            except Exception as error:
                # Without Spark's process what was known last is all there is; `wait` tells what happened.
                if lost(text_of(error)) is None:
                    raise
        return self._progress

    def batches(self) -> list[tuple[int, int]]:
        """(input rows, milliseconds) of the recent micro-batches that had rows."""
        recent = self._query.recentProgress if self._query is not None else []
        return [(each.numInputRows, each.batchDuration) for each in recent if each.numInputRows]


def _await_progress(query: StreamingQuery, batch: int) -> None:
    """Wait until the rows of a committed micro-batch are counted; a query that stops no longer tells of them."""
    deadline = time.monotonic() + _TOLD_WITHIN
    while query.isActive and time.monotonic() < deadline:
        told = query.lastProgress
        if told is not None and told.batchId >= batch:
            return
        time.sleep(0.02)
