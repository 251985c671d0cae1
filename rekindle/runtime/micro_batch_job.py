"""A streaming job as a loop of micro-batches over segments."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import TypeAdapter
from typing_extensions import override

from execnodes.core.errors import JobError, RekindleError
from rekindle.connectors.positions import News, Once, Positions
from rekindle.engine.host import KeyGroups
from rekindle.engine.micro_batch import MicroBatch, MicroBatches, Ran, Source
from rekindle.engine.program import GraphProgram, Ground, Sink, collecting
from rekindle.engine.sources import TableReader
from rekindle.engine.store.disk import LocalDisk
from rekindle.files.atomic_file import write_atomically
from rekindle.files.json_files import Count, read_json
from rekindle.jobs.status import State
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.failures import explained, passes
from rekindle.pipeline.stages import Pipeline, plan_stages
from rekindle.runtime.assemble import session_for, taken_up
from rekindle.runtime.job import Job
from rekindle.runtime.progress import Progress
from rekindle.runtime.restarts import strategy_of
from rekindle.savepoints.adoption import Adoption, adoption
from rekindle.savepoints.segments import take_of_entry
from rekindle.spark.session import active

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from rekindle.savepoints.manifest import Manifest
    from rekindle.savepoints.restore import Restore

SMALL_BYTES = 4 << 20
"""Of its files, up to which a micro-batch is one task."""
_COUNT = TypeAdapter(Count)
_PAUSE = 0.02
"""Seconds between two looks for news, at least."""


class _Undrained:
    """A source whose end says nothing to the job, which is to go on from a savepoint."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.has_ended = False

    def plan(self, position: Any) -> News | None:
        """See Source."""
        news = self._source.plan(position)
        self.has_ended = news is not None and news.ended
        return None if news is None or news.position == position else News(news.position)


class MicroBatchJob(Job):
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
        self._bounded = True

    @property
    @override
    def ends_by_itself(self) -> bool:
        return self._bounded

    def _begin(self) -> None:
        self._restarts = strategy_of(self._order.configuration)
        self._assemble()

    def _assemble(self) -> None:
        """Everything anew from what is committed; drivers of before are fenced off."""
        order = self._order
        stopped = self._attendant.status.before in (State.STOPPED, State.FINISHED)
        earlier = adoption(self.folder, stopped=stopped)
        self._recorded, restore = taken_up(order)
        pipeline = plan_stages(self._recorded)
        spark = session_for(order, {})
        with active(spark):
            self._take_over(spark, pipeline, restore, earlier)

    def _take_over(
        self, spark: SparkSession, pipeline: Pipeline, restore: Restore | None, earlier: Adoption | None
    ) -> None:
        order, folder = self._order, self.folder
        requests = Requests(spark, order.configuration, folder.path, order.data_streams)
        readers = self._readers(pipeline, requests)
        inputs = {uid: self._positions(uid, each) for uid, each in readers.items()}
        self._bounded = all(each.bounded for each in inputs.values())
        self._recorded.require_end(bounded=self._bounded)
        inputs |= {
            s.uid: Once("done") for n, s in pipeline.record.sources.items() if s.table is None and pipeline.leaving(n)
        }
        disk = LocalDisk(str(folder.state))
        told = spark.sparkContext.accumulator({}, collecting())
        groups = KeyGroups(self._subtasks(spark), order.graph.max_parallelism)
        self._spark = spark
        ground = Ground(spark, disk, groups, SMALL_BYTES, told, self.identity.name or self.job_id)
        self._program = GraphProgram(ground, pipeline, readers, self._sinks(requests))
        undrained = self._savepoint_at_end is not None
        self._inputs: Mapping[str, Source] = (
            {uid: _Undrained(each) for uid, each in inputs.items()} if undrained else inputs
        )
        clock = self._recorded.clock
        self._loop = MicroBatches(disk, self._inputs, self._program, _now, None if clock is None else clock.step)
        if restore is not None:
            self.fates = restore.fates
            self._restore(restore, spark, inputs, 0)
        elif earlier is not None:
            # Numbers that sinks know are behind it.
            self._restore(earlier.restore(spark, order.graph, self._plan), spark, inputs, earlier.batch + 1)
            earlier.finish()

    def _subtasks(self, spark: SparkSession) -> int:
        """Of each operator; they stay what they were when the folder began."""
        path = self.folder.path / "subtasks.json"
        known = read_json(path, _COUNT, hint="Start from a savepoint in a new --job-dir.")
        if known is not None:
            return known
        tasks = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
        count = min(tasks, self._order.graph.max_parallelism)
        write_atomically(path, f"{count}\n", replace=True, private=True)
        return count

    def _restore(self, restore: Restore, spark: SparkSession, inputs: Mapping[str, Positions], number: int) -> None:
        positions = {uid: inputs[uid].restored(text) for uid, text in restore.positions.items() if uid in inputs}

        def run(batch: MicroBatch) -> Ran:
            return self._program.restore(batch, lambda step: restore.rows(spark, [step]))

        self._loop.restore(positions, restore.manifest.watermark or None, run, number)

    def _positions(self, uid: str, reader: TableReader) -> Positions:
        return reader.positions if self._until is None else reader.positions.until(self._until[uid])

    def _readers(self, pipeline: Pipeline, requests: Requests) -> dict[str, TableReader]:
        return {
            source.uid: TableReader.of(requests, source, ordered=pipeline.ordered)
            for number, source in pipeline.record.sources.items()
            if source.table is not None and pipeline.leaving(number)
        }

    def _sinks(self, requests: Requests) -> list[Sink]:
        """With new writers, which find what earlier ones have written."""
        self._close_writers()
        sinks = []
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
        error = _attempt(self._run_to_end)
        while error is not None and passes(error):
            delay = self._restarts.delay()
            if delay is None:
                break
            self._attendant.restarting(explained(error), delay)
            self._told_to_stop.wait(delay)
            error = _attempt(self._again)
        if error is None and self._savepoint_at_end is not None:
            error = _attempt(lambda: self.savepoint(Path(self._savepoint_at_end or "")))
        return None if error is None else explained(error)

    def _again(self) -> None:
        self._assemble()
        self._run_to_end()

    def _run_to_end(self) -> None:
        interval = self._order.configuration.millis("execution.micro-batch.interval") / 1000
        while not self._told_to_stop.is_set():
            began = time.perf_counter()
            if self._loop.step():
                took = time.perf_counter() - began
                self._took.append((self._program.rows, round(1000 * took)))
                self._told_to_stop.wait(interval - took)
            elif all(map(self._has_ended, self._inputs)):
                return
            else:
                self._told_to_stop.wait(_PAUSE)
        if self._drains:
            self._loop.drain()

    def _has_ended(self, uid: str) -> bool:
        source = self._inputs[uid]
        return source.has_ended if isinstance(source, _Undrained) else uid in self._loop.last.ended

    def _let_go(self) -> None:
        """Nothing is held."""

    def attach(self) -> DataStreamWriter:
        """Never; JobError."""
        raise JobError("micro-batches of our own are no streaming query")

    def frame(self) -> DataFrame:
        """Never; JobError."""
        raise JobError("micro-batches of our own are no streaming query")

    def savepoint(self, target: Path) -> Manifest:
        """Write a savepoint of the last committed micro-batch; the job goes on."""
        return take_of_entry(self._order.graph, self._plan, self.folder, *self._loop.snapshot(), target)

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
        last, took = self._loop.last, list(self._took)
        if last.micro_batch < 0:
            return None
        rows, ms = took[-1] if took else (0, 0)
        watermark = None
        if last.watermark is not None:
            watermark = datetime.fromtimestamp(last.watermark / 1000, UTC).isoformat(timespec="milliseconds")
        return Progress(
            last.micro_batch,
            sum(each for each, _ in took),
            1000 * rows / ms if ms else 0.0,
            watermark,
            self._program.state_rows(),
            dict(last.counters),
        )

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
