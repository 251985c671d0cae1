"""A batch job: reads everything, writes each sink once, and ends."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, ClassVar

from execnodes.core.errors import JobError, RekindleError, StateError
from execnodes.core.source_node import SourceNode
from rekindle.connectors.positions import Once
from rekindle.engine.inputs import FEW_BYTES
from rekindle.pipeline.batch import BatchBuilder
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.failures import explained
from rekindle.pipeline.lookups import Lookups
from rekindle.runtime.assemble import session_for
from rekindle.runtime.cluster_guard import ClusterGuard
from rekindle.runtime.job import Job
from rekindle.runtime.progress import Activity, Progress
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.recovery import PATH
from rekindle.spark.generated_code import INTERPRETED
from rekindle.spark.java import lost, text_of
from rekindle.spark.session import active

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from execnodes.core.graph import ExecGraph
    from execnodes.core.options import Configuration
    from rekindle.savepoints.manifest import Manifest

BATCH_SETTINGS = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.constraintPropagation.enabled": "true",
    # Whole tables are kept.
    "spark.sql.inMemoryColumnarStorage.compressed": "true",
}
"""On top of those of every job, some of which are for plans that are made again and again."""
_FEW_SETTINGS = {
    **BATCH_SETTINGS,
    **INTERPRETED,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""Where all sources have few bytes: to plan and to compile takes longer than to run one task."""


class BatchJob(Job):
    """A running batch plan. There is no state, so it cannot go on after a stop: started again it begins anew."""

    batch: ClassVar[bool] = True

    def _begin(self) -> None:
        self._tag = f"rekindle-{self.job_id}"
        patience = self._order.configuration.millis("slot.request.timeout") / 1000
        self._guard = ClusterGuard(patience, lambda: True, lambda: self._stopping, owns_session=False)
        self._build()

    def attach(self) -> DataStreamWriter:
        """Never; JobError."""
        raise JobError("a batch plan is no streaming query", hint="Execute it, or take its rows with as_data_stream.")

    def frame(self) -> DataFrame:
        """The rows that enter the only sink, under its columns' names, with `KIND`: a DataFrame that ends."""
        self._open_for_caller()
        self._begin()
        # The caller runs it, or not.
        self._guard.close()
        (target,) = self._batch.targets
        return target.frame

    def _build(self) -> None:
        order = self._order
        self._spark = session_for(order, self._settings)
        self._guard.take(self._spark, self._tag)
        self._batch = BatchBuilder(
            self._spark, order.graph, order.configuration, self.job_id, self.folder.path, order.data_streams
        )
        try:
            with active(self._spark):
                asked = Requests(self._spark, order.configuration, self.folder.path, order.data_streams)
                Lookups.of(order.graph, asked).refresh(self._spark)
                self._batch.build()
        finally:
            self._writers.extend(target.writer for target in self._batch.targets)
        self._guard.require_folders(self._spark, self.folder.path, self._writers)

    def _settings(self, requests: Requests) -> Mapping[str, str]:
        return _FEW_SETTINGS if reads_few(self._order.graph, requests) else BATCH_SETTINGS

    def _outcome(self) -> RekindleError | None:
        try:
            self._write()
        except BaseException as error:  # noqa: BLE001  # kept, and raised again by `wait`
            return None if self._stopping else explained(self._guard.explain(error))
        return None

    def _let_go(self) -> None:
        self._guard.close()
        for frame in self._batch.kept:
            frame.unpersist()

    def _write(self) -> None:
        self._spark.sparkContext.addJobTag(self._tag)
        with active(self._spark):
            for target in self._batch.targets:
                if not self._stopping:
                    target.writer.write(target.frame, 0)
                    target.writer.time_passes(None, round(time.time() * 1000), ended=True)

    def stop(self, *, with_savepoint: Path | None = None, drain: bool = False) -> None:
        """End at once; sinks that are written already stay. JobError if a savepoint or a drain is asked for."""
        if with_savepoint is not None or drain:
            raise self._stateless()
        self._attendant.stopping(None)
        self._stopping = True
        try:
            self._spark.sparkContext.cancelJobsWithTag(self._tag)
        except Exception as error:
            if lost(text_of(error)) is None:
                raise
        self._done.wait()

    def savepoint(self, target: Path) -> Manifest:
        """Never; JobError."""
        raise self._stateless()

    def _stateless(self) -> JobError:
        return JobError(
            "a batch job keeps no state: there is nothing to save, and nothing to drain",
            where=str(self.folder.path),
            hint="Wait for its end, or stop it and start it again.",
        )

    def progress(self) -> Progress | None:
        """None: there are no micro-batches."""
        return None

    def activity(self) -> Activity:
        """It reads and writes until it ends."""
        return Activity("batch", self._attendant.status.since, None)

    def batches(self) -> list[tuple[int, int]]:
        """None: there are no micro-batches."""
        return []


def reads_few(graph: ExecGraph, requests: Requests) -> bool:
    """Whether all that a plan reads is known to have few bytes; what cannot be read says so when it is."""
    try:
        return sum(_bytes(node, requests) for node in graph.nodes if isinstance(node, SourceNode)) <= FEW_BYTES
    except RekindleError:
        return False


def _bytes(node: SourceNode, requests: Requests) -> float:
    positions = requests.positions(node, node.source)
    news = None if positions is None or isinstance(positions, Once) else positions.plan(None)
    return math.inf if positions is None or news is None else positions.size(None, news.position)


def job_of(graph: ExecGraph, plan: str, configuration: Configuration, **options: Any) -> Job:
    """The job for a plan, streaming or batch as its nodes are; arguments as for `Job`.

    StateError if a batch plan is to start from a savepoint.
    """
    savepoint = configuration.get_option(PATH)
    if graph.batch and savepoint:
        raise StateError(
            "a batch plan keeps no state, so it starts from no savepoint",
            where=savepoint,
            hint=f"Leave it out: without -s, or RESET '{PATH}'.",
        )
    return (BatchJob if graph.batch else StreamJob)(graph, plan, configuration, **options)
