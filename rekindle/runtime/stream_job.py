"""A streaming job as a loop of micro-batches over segments."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from typing_extensions import override

from execnodes.core.errors import RekindleError
from rekindle.connectors.positions import Once, Positions
from rekindle.engine import changes
from rekindle.engine.changes import ChangeFiles, Driven, Driver
from rekindle.engine.fed import Feed, beginnings, clear, reader
from rekindle.engine.frames import Ground
from rekindle.engine.inputs import Limits
from rekindle.engine.key_groups import KeyGroups
from rekindle.engine.log import newest_entry
from rekindle.engine.micro_batch import MicroBatch, MicroBatches, Ran, Source
from rekindle.engine.program import GraphProgram, Sink, collecting
from rekindle.engine.sources import Reader
from rekindle.engine.store.disk import LocalDisk
from rekindle.files.paths import for_spark_checkpoint
from rekindle.jobs.status import State
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.failures import explained, passes
from rekindle.pipeline.lookups import Lookups
from rekindle.pipeline.ways import Pipeline, plan_ways
from rekindle.runtime.assemble import session_for, subtasks_of, taken_up
from rekindle.runtime.cluster_guard import ClusterGuard
from rekindle.runtime.job import Job
from rekindle.runtime.progress import Activity, Progress, activity_of, progress_of, rate_of
from rekindle.runtime.restarts import strategy_of
from rekindle.runtime.undrained import Undrained
from rekindle.savepoints.adoption import Adoption, adoption
from rekindle.savepoints.segments import take_of_entry
from rekindle.spark.generated_code import GeneratedCode
from rekindle.spark.session import active

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from rekindle.savepoints.manifest import Manifest
    from rekindle.savepoints.restore import Restore

_PAUSE = 0.02
"""Seconds between two looks for news, at least."""
_IDLE = 0.2
"""Seconds that a query of the caller's waits for news."""


class StreamJob(Job):
    """Runs from its sources' positions until they end, or it is stopped."""

    batch: ClassVar[bool] = False

    def __init__(self, *arguments: Any, until: Mapping[str, str] | None = None, **options: Any) -> None:
        """See `Job`. `until`: positions of a savepoint, by uid; what the sources give ends there."""
        super().__init__(*arguments, **options)
        self._until = until
        self._drains = False
        self._told_to_stop = threading.Event()
        self._took: list[tuple[int, int]] = []
        """(rows, milliseconds) of each micro-batch."""
        self._last_ran: int | None = None
        """When the last micro-batch was committed, epoch ms."""
        self._began = _now()
        self._restarting: int | None = None
        """Since when it waits to start again, epoch ms."""
        self._assembling = True
        self._guard = ClusterGuard(
            self._order.configuration.millis("slot.request.timeout") / 1000,
            self._wants_tasks,
            self._told_to_stop.is_set,
            owns_session=self._order.spark is None,
        )
        self._bounded = True
        self._feeds: dict[str, Feed] = {}
        self._taken_up: MicroBatches | None = None
        self._driver: Driver | None = None
        """Of a query of the caller's, which runs the job."""
        self._changes: Path | None = None  # where changes are left for it, in place of a sink
        self._rests: bool | None = None
        """Whether it has ended; None before the first one."""

    @property
    def pace(self) -> float:
        """Seconds from the beginning of a micro-batch to that of the next, at least."""
        return self._order.configuration.millis("execution.micro-batch.interval") / 1000

    @property
    def _loop(self) -> MicroBatches:
        assert self._taken_up is not None
        return self._taken_up

    @property
    @override
    def ends_by_itself(self) -> bool:
        return self._bounded

    def _begin(self) -> None:
        self._restarts = strategy_of(self._order.configuration)
        try:
            self._assemble()
        except BaseException:
            self._let_go()
            raise

    def _assemble(self) -> None:
        """Everything anew from what is committed; drivers of before are fenced off."""
        order, self._assembling = self._order, True
        stopped = self._attendant.status.before in (State.STOPPED, State.FINISHED)
        earlier = adoption(self.folder, stopped=stopped)
        self._recorded, restore = taken_up(order)
        pipeline = plan_ways(self._recorded)
        spark = session_for(order, {})
        with active(spark):
            self._take_over(spark, pipeline, restore, earlier)
        self._assembling = False

    def _take_over(
        self, spark: SparkSession, pipeline: Pipeline, restore: Restore | None, earlier: Adoption | None
    ) -> None:
        order, folder, self._spark = self._order, self.folder, spark
        tag = self._guard.take(spark, f"rekindle-{self.job_id}")
        requests = Requests(spark, order.configuration, folder.path, order.data_streams)
        self._close_feeds()
        disk = LocalDisk(str(folder.state))
        number = 0
        if restore is not None:
            self.fates = restore.fates
        elif earlier is not None:
            # Numbers that sinks know are behind it.
            restore, number = earlier.restore(spark, order.graph, self._plan), earlier.batch + 1
        readers = self._readers(pipeline, requests, self._starts(restore, disk))
        inputs = {uid: self._positions(uid, each) for uid, each in readers.items()}
        self._bounded = all(each.bounded for each in inputs.values())
        self._recorded.require_end(bounded=self._bounded)
        inputs |= {
            s.uid: Once("done") for n, s in pipeline.record.sources.items() if s.table is None and pipeline.leaving(n)
        }
        told = spark.sparkContext.accumulator({}, collecting())
        groups = KeyGroups(subtasks_of(order, spark), order.graph.max_parallelism)
        ground = Ground(
            spark,
            disk,
            groups,
            Limits.of(order.configuration),
            told,
            self.identity.name or self.job_id,
            GeneratedCode(spark, order.configuration),
            tag,
        )
        lookups = Lookups.of(order.graph, requests)
        lookups.refresh(spark)
        self._program = GraphProgram(ground, pipeline, readers, self._sinks(requests), lookups)
        self._feeds = {uid: each for uid, each in readers.items() if isinstance(each, Feed)}
        self._inputs: Mapping[str, Source] = inputs
        if self._driver is not None or self._savepoint_at_end is not None:
            again = inputs.keys() - self._feeds.keys() if self._driver is not None else ()
            self._inputs = {uid: Undrained(each, again=uid in again) for uid, each in inputs.items()}
        self._guard.require_folders(spark, folder.path, self._writers)
        program = self._guard.checked(self._program)
        self._taken_up = MicroBatches(disk, self._inputs, program, _now, self._recorded.ticks)
        if restore is not None:
            clear(folder.path)
            changes.clear(folder.path)
            self._restore(restore, spark, inputs, number)
            if earlier is not None:
                earlier.finish()
        if self._driver is None:
            self._start_feeds()

    def _start_feeds(self, *, everything: bool = False) -> None:
        for uid in self._feeds.keys() - set(self._loop.last.ended):
            self._feeds[uid].start(everything=everything)

    def _restore(self, restore: Restore, spark: SparkSession, inputs: Mapping[str, Positions], number: int) -> None:
        positions = {uid: inputs[uid].restored(text) for uid, text in restore.positions.items() if uid in inputs}

        def run(batch: MicroBatch) -> Ran:
            rows = sum(each.rows for each in restore.fates)
            return self._program.restore(batch, lambda step: restore.rows(spark, step), rows)

        self._loop.restore(positions, restore.manifest.watermark or None, run, number)

    def _positions(self, uid: str, reader: Reader) -> Positions:
        return reader.positions if self._until is None else reader.positions.until(self._until[uid])

    def _starts(self, restore: Restore | None, disk: LocalDisk) -> Mapping[str, str]:
        """Positions that the job itself began with, as savepoints have them, by uid."""
        if restore is not None:
            return restore.positions
        return {**self.folder.restored().get("positions", {}), **beginnings(newest_entry(disk))}

    def _readers(self, pipeline: Pipeline, requests: Requests, starts: Mapping[str, str]) -> dict[str, Reader]:
        return {
            source.uid: reader(requests, source, starts, ordered=pipeline.ordered)
            for number, source in pipeline.record.sources.items()
            if source.table is not None and pipeline.leaving(number)
        }

    def _sinks(self, requests: Requests) -> list[Sink]:
        """With new writers, which find what earlier ones have written."""
        self._close_writers()
        sinks = []
        if self._changes is not None:
            (sink,) = self._recorded.sinks
            return [Sink(sink, ChangeFiles(self._changes, sink.columns))]
        for sink in self._recorded.sinks:
            writer = requests.writer(sink.node, sink.table, self.job_id, sink.changelog)
            self._writers.append(writer)
            writer.open()
            sinks.append(Sink(sink, writer))
        return sinks

    def _outcome(self) -> RekindleError | None:
        with active(self._spark):
            return self._ended()

    def _ended(self) -> RekindleError | None:
        error = self._guard.explain(_attempt(self._run_to_end))
        while error is not None and passes(error):
            if self._told_to_stop.is_set() and not self._drains:
                error = None  # it stops where it has committed
                break
            delay = self._restarts.delay()
            if delay is None:
                break
            self._attendant.restarting(explained(error), delay)
            self._restarting = _now()
            self._told_to_stop.wait(delay)
            error = self._guard.explain(_attempt(self._again))
        if error is None and self._savepoint_at_end is not None:
            error = _attempt(lambda: self.savepoint(Path(self._savepoint_at_end or "")))
        return None if error is None else explained(error)

    def _again(self) -> None:
        if self._guard.renew(self._spark):
            # They went with its Java process.
            self._feeds = {}
        self._restarting = None
        self._assemble()
        self._run_to_end()

    def _run_to_end(self) -> None:
        try:
            self._run_batches()
        finally:
            self._program.close()

    def _run_batches(self) -> None:
        while not self._told_to_stop.is_set():
            began = time.perf_counter()
            ran = self._loop.step()
            took = time.perf_counter() - began
            ended = not ran and all(map(self._has_ended, self._inputs))
            self._tell_time(ended=ended)
            if ended:
                return
            if ran:
                self._took.append((self._program.rows, round(1000 * took)))
                self._last_ran = _now()
            self._told_to_stop.wait(self.pace - took if ran else _PAUSE)
        if self._drains:
            self._loop.drain(self._feeds)
            self._tell_time(ended=True)

    def _tell_time(self, *, ended: bool = False) -> None:
        self._program.time_passes(self._loop.last.watermark, round(time.time() * 1000), ended=ended)

    def _has_ended(self, uid: str) -> bool:
        source = self._inputs[uid]
        return source.has_ended if isinstance(source, Undrained) else uid in self._loop.last.ended

    def _wants_tasks(self) -> bool:
        return self._assembling or (self._taken_up is not None and self._taken_up.runs_since is not None)

    def _let_go(self) -> None:
        self._guard.close()
        self._close_feeds()

    def _close_feeds(self) -> None:
        for uid, feed in self._feeds.items():
            feed.close(self._loop.last.positions.get(uid))
        self._feeds = {}

    def attach(self) -> DataStreamWriter:
        """A query of the caller's that runs the job: an end that is not ours, so nothing is drained."""
        stream = self._driven(hands_over=False)
        checkpoint = for_spark_checkpoint(stream.sparkSession, self.folder.path / "attached")
        return stream.writeStream.format("noop").option("checkpointLocation", checkpoint)

    def frame(self) -> DataFrame:
        """The rows that enter the only sink, under its columns' names, with `KIND`; the caller starts a query on it."""
        return self._driven(hands_over=True)

    def _driven(self, *, hands_over: bool) -> DataFrame:
        """The stream whose query runs the job."""
        self._open_for_caller()
        folder = self.folder.path / changes.FOLDER
        self._changes = folder if hands_over else None
        self._driver = Driver(folder, self.job_id, Driven(self._advance, self._rest))
        self._assemble()
        columns = self._recorded.sinks[0].columns if hands_over else ()
        return self._driver.stream(self._spark, columns)

    def _advance(self, everything: bool) -> int:
        """The next micro-batch, or all that there is to run; the last one that is committed."""
        if self._rests:
            self._assemble()
        if self._rests is not False or everything:
            self._start_feeds(everything=everything)
        self._rests = False
        with active(self._spark):
            return self._advanced(everything)

    def _advanced(self, everything: bool) -> int:
        until = time.monotonic() + _IDLE
        while True:
            ran = self._loop.step()
            self._tell_time()
            if ran:
                done = not everything
            elif everything:
                done = all(each.exhausted for each in self._feeds.values())
            else:
                done = time.monotonic() > until
            if done:
                return self._loop.last.micro_batch
            time.sleep(0 if everything and not self._feeds else _PAUSE)

    def _rest(self) -> None:
        """Until a query runs the job again."""
        self._close_feeds()
        self._close_writers()
        self._program.close()
        self._rests = True

    def savepoint(self, target: Path) -> Manifest:
        """Write a savepoint of the last committed micro-batch; the job goes on."""
        committed = self._loop.snapshot()
        self._flush_writers()
        return take_of_entry(self._order.graph, self._plan, self.folder, *committed, target)

    def stop(self, *, with_savepoint: Path | None = None, drain: bool = False) -> None:
        """Stop between two micro-batches; the folder can be continued from.

        With `drain` the stream ends as if all input had ended: no more input is taken, and every window fires.
        `with_savepoint` is written when it has stopped. Raises what made the job fail while it stopped. Of several
        calls the first one says how it ends.
        """
        self._attendant.stopping(with_savepoint)
        if not self._stopping:
            self._stopping, self._drains = True, drain
        self._savepoint_at_end = self._savepoint_at_end or with_savepoint
        self._told_to_stop.set()
        self._done.wait()
        if self._failure is not None:
            raise self._failure
        if with_savepoint is not None and not with_savepoint.exists():
            # It had ended before it was told.
            self.savepoint(with_savepoint)

    def progress(self) -> Progress | None:
        """The last micro-batch; None before the first."""
        if self._taken_up is None or self._taken_up.last.micro_batch < 0:
            return None
        took = list(self._took)
        rate = rate_of(*(took[-1] if took else (0, 0)), self._last_ran, self.pace, _now())
        return progress_of(self._taken_up.last, sum(rows for rows, _ in took), rate, self._program.state_rows())

    def activity(self) -> Activity:
        """What it does, or waits for."""
        runs = None if self._taken_up is None else self._taken_up.runs_since
        return activity_of(self._restarting, self._guard.waits_since, runs, self._last_ran, self._began)

    def batches(self) -> list[tuple[int, int]]:
        """(input rows, milliseconds) of the micro-batches that had rows."""
        return [each for each in self._took if each[0]]


def _attempt(run: Callable[[], object]) -> Exception | None:
    """What made it fail."""
    try:
        run()
    except Exception as error:  # noqa: BLE001  # kept, and raised again by `wait`
        return error
    return None


def _now() -> int:
    return int(time.time() * 1000)
