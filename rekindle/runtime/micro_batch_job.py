"""A streaming job as a loop of micro-batches over segments."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from execnodes.core.errors import JobError, RekindleError
from rekindle.engine.host import KeyGroups
from rekindle.engine.micro_batch import MicroBatches, Source
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

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from rekindle.savepoints.manifest import Manifest

SMALL_BYTES = 4 << 20
"""Of its files, up to which a micro-batch is one task."""
_PAUSE = 0.02
"""Seconds between two looks for news, at least."""


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
        if self._recorded.clock is not None or self._savepoint_at_end is not None:
            raise JobError("windows by processing time, and savepoints, are not there yet")
        supply_functions(self._recorded.steps.values(), order.functions, job_parameters(order.configuration))
        pipeline = plan_stages(self._recorded)
        spark = session_for(order, {})
        requests = Requests(spark, order.configuration, self.folder.path, order.data_streams)
        readers = self._readers(pipeline, requests)
        inputs: dict[str, Source] = {uid: each.input for uid, each in readers.items()}
        inputs |= {
            s.uid: OnceInput() for n, s in pipeline.record.sources.items() if s.table is None and pipeline.leaving(n)
        }
        tasks = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
        groups = KeyGroups(min(tasks, order.graph.max_parallelism), order.graph.max_parallelism)
        disk = LocalDisk(str(self.folder.path / "engine"))
        told = spark.sparkContext.accumulator({}, collecting())
        ground = Ground(spark, disk, groups, self.small, told)
        self._program = GraphProgram(ground, pipeline, readers, self._sinks(requests))
        self._inputs = inputs
        self._loop = MicroBatches(disk, inputs, self._program, lambda: int(time.time() * 1000))

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
                elif self._inputs.keys() <= set(self._loop.last.ended):
                    return None
                else:
                    self._told_to_stop.wait(_PAUSE)
        except Exception as error:  # noqa: BLE001  # kept, and raised again by `wait`
            return explained(error)
        return None

    def _let_go(self) -> None:
        """Nothing is held."""

    def attach(self) -> DataStreamWriter:
        """Never; JobError."""
        raise JobError("micro-batches of our own are no streaming query")

    def frame(self) -> DataFrame:
        """Never; JobError."""
        raise JobError("micro-batches of our own are no streaming query")

    def savepoint(self, target: Path) -> Manifest:
        """Never; JobError."""
        raise JobError("savepoints are not there yet")

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
