"""A streaming job as a loop of micro-batches over segments."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from execnodes.core.errors import JobError, RekindleError
from rekindle.engine.host import KeyGroups
from rekindle.engine.log import newest_entry
from rekindle.engine.micro_batch import MicroBatch, MicroBatches, News, Ran, Source
from rekindle.engine.program import GraphProgram, Ground, Sink, collecting
from rekindle.engine.sources import OnceInput, file_reader
from rekindle.engine.store.disk import LocalDisk
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.failures import explained
from rekindle.pipeline.functions import supply_functions
from rekindle.pipeline.guards import guard
from rekindle.pipeline.record import record
from rekindle.pipeline.stages import Pipeline, plan_stages
from rekindle.runtime.assemble import job_parameters, session_for
from rekindle.runtime.job import Job
from rekindle.runtime.progress import Progress
from rekindle.savepoints.manifest import steps
from rekindle.savepoints.recovery import recover
from rekindle.savepoints.segments import take_of_entry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from rekindle.savepoints.manifest import Manifest
    from rekindle.savepoints.restore import Restore

SMALL_BYTES = 4 << 20
"""Of its files, up to which a micro-batch is one task."""
_PAUSE = 0.02
"""Seconds between two looks for news, at least."""


class Input(Source, Protocol):
    """A source that a savepoint knows."""

    def restored(self, text: str) -> Any:
        """The position that a savepoint has as a text."""
        ...


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

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """See `Job`."""
        super().__init__(*arguments, **options)
        self._told_to_stop = threading.Event()
        self._took: list[tuple[int, int]] = []
        self.small = SMALL_BYTES

    def _begin(self) -> None:
        order = self._order
        self._recorded = guard(record(order.graph))
        supply_functions(self._recorded.steps.values(), order.functions, job_parameters(order.configuration))
        pipeline = plan_stages(self._recorded)
        spark = session_for(order, {})
        requests = Requests(spark, order.configuration, self.folder.path, order.data_streams)
        readers = self._readers(pipeline, requests)
        inputs: dict[str, Input] = {uid: each.input for uid, each in readers.items()}
        inputs |= {
            s.uid: OnceInput() for n, s in pipeline.record.sources.items() if s.table is None and pipeline.leaving(n)
        }
        tasks = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
        groups = KeyGroups(min(tasks, order.graph.max_parallelism), order.graph.max_parallelism)
        disk = LocalDisk(str(self.folder.path / "engine"))
        told = spark.sparkContext.accumulator({}, collecting())
        ground = Ground(spark, disk, groups, self.small, told)
        self._program = GraphProgram(ground, pipeline, readers, self._sinks(requests))
        self._inputs = (
            inputs if self._savepoint_at_end is None else {uid: _Undrained(each) for uid, each in inputs.items()}
        )
        restore = self._recovered(disk)
        clock = self._recorded.clock
        self._loop = MicroBatches(
            disk, self._inputs, self._program, lambda: int(time.time() * 1000), None if clock is None else clock.step
        )
        if restore is not None:
            self._restore(restore, spark, inputs)

    def _recovered(self, disk: LocalDisk) -> Restore | None:
        """The savepoint whose rows the folder still lacks."""
        entry = newest_entry(disk)
        begun = entry is not None and entry.micro_batch >= 0
        return None if begun else recover(self.folder, self._order.configuration, self._order.graph)

    def _restore(self, restore: Restore, spark: SparkSession, inputs: Mapping[str, Input]) -> None:
        self.fates = restore.fates
        positions = {uid: inputs[uid].restored(text) for uid, text in restore.positions.items() if uid in inputs}

        def run(batch: MicroBatch) -> Ran:
            return self._program.restore(batch, lambda step: restore.rows(spark, [step]))

        self._loop.restore(positions, restore.manifest.watermark or None, run)

    def _readers(self, pipeline: Pipeline, requests: Requests) -> dict[str, Any]:
        return {
            source.uid: file_reader(requests, source, ordered=pipeline.ordered)
            for number, source in pipeline.record.sources.items()
            if source.table is not None and pipeline.leaving(number)
        }

    def _sinks(self, requests: Requests) -> list[Sink]:
        sinks = []
        for sink in self._recorded.sinks:
            writer = requests.writer(sink.node, sink.table, self.job_id, sink.changelog)
            self._writers.append(writer)
            writer.open()
            sinks.append(Sink(sink, writer))
        return sinks

    def _outcome(self) -> RekindleError | None:
        try:
            while not self._told_to_stop.is_set():
                began = time.perf_counter()
                if self._loop.step():
                    rows = sum(each.rows for each in self._program.seen.values())
                    self._took.append((rows, round(1000 * (time.perf_counter() - began))))
                elif all(self._has_ended(uid) for uid in self._inputs):
                    break
                else:
                    self._told_to_stop.wait(_PAUSE)
        except Exception as error:  # noqa: BLE001  # kept, and raised again by `wait`
            return explained(error)
        if self._savepoint_at_end is not None:
            self.savepoint(self._savepoint_at_end)
        return None

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
        entry, snapshot = self._loop.snapshot()
        history = steps(self.folder.restored().get("history", ()))
        return take_of_entry(self._order.graph, self._plan, self._recorded, entry, snapshot, history, target)

    def stop(self, *, with_savepoint: Path | None = None, drain: bool = False) -> None:
        """Stop between two micro-batches."""
        self._attendant.stopping(with_savepoint)
        self._told_to_stop.set()
        self._done.wait()
        if self._failure is not None:
            raise self._failure

    def progress(self) -> Progress | None:
        """The last micro-batch; None before the first."""
        return None

    def batches(self) -> list[tuple[int, int]]:
        """(input rows, milliseconds) of the micro-batches that had rows."""
        return [each for each in self._took if each[0]]
