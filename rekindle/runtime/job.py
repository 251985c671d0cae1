"""A job: one Spark streaming query over a plan, in a folder that it can be continued from."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import RekindleError
from execnodes.core.graph import ExecGraph
from execnodes.core.lowering import KIND, quote
from execnodes.core.options import SPARK_PREFIX, Configuration
from execnodes.core.tables import Column
from execnodes.state.operator import DRAINED
from rekindle.connectors.base import ProviderContext, SinkRequest, SinkWriter
from rekindle.connectors.registry import describe_failure, find_sink
from rekindle.runtime.build import Builder, sink_columns, sink_hidden
from rekindle.runtime.failures import is_transient, job_error
from rekindle.runtime.fan_out import FanOut, Target
from rekindle.runtime.folder import JobFolder, JobIdentity
from rekindle.runtime.record import SinkRecord, record
from rekindle.runtime.session import prepare, session
from rekindle.runtime.stages import Pipeline, plan_stages

_ATTEMPTS = 3
"""How often a query is started when the machine was too slow for Spark's fixed time-outs."""

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from rekindle.connectors.data_stream import DataStream


@dataclass(frozen=True)
class Progress:
    """Where a job is."""

    batch_id: int
    rows: int
    """Input rows since this process started."""
    rows_per_second: float
    """Of the last micro-batch."""
    watermark: str | None
    """ISO text; None before there is one."""
    state_rows: Mapping[str, int]
    """uid and state name (``3_join__leftState``) to rows, as far as touched since this process started."""
    counters: Mapping[str, int]
    """uid and counter (``4_window-aggregate__lateRowsDropped``) to its value since this process started."""


class Job:
    """A running pipeline. `start` it, then `wait`; bounded pipelines end by themselves."""

    def __init__(
        self,
        graph: ExecGraph,
        plan: str,
        configuration: Configuration,
        *,
        name: str = "",
        spark: SparkSession | None = None,
        data_streams: Mapping[str, DataStream] | None = None,
    ) -> None:
        """`plan`: the text `graph` was read from; it is kept in the job folder. `data_streams`: by uid."""
        self._graph = graph
        self._plan = plan
        self._configuration = configuration
        self._name = name
        self._given_spark = spark
        self._data_streams = dict(data_streams or {})
        job_dir = configuration.get_option("execution.job-dir")
        self._temporary = not job_dir
        self.folder = JobFolder(Path(job_dir or tempfile.mkdtemp(prefix="rekindle-job-")))
        self._writers: list[SinkWriter] = []
        self._query: StreamingQuery | None = None
        self._done = threading.Event()
        self._failure: RekindleError | None = None
        self._rows = 0
        self._counted_batch = -1

    @property
    def job_id(self) -> str:
        """Stable over restarts from the same folder."""
        return self._identity.job_id

    def start(self) -> Job:
        """Start the query; errors that can be known before the first row are raised here."""
        self.folder.acquire()
        try:
            self._identity: JobIdentity = self.folder.open(self._plan, self._name)
            interval = self._configuration.millis("execution.micro-batch.interval")
            self._stream = self._attached().trigger(processingTime=f"{interval} milliseconds")
            self._query = self._stream.start()
            threading.Thread(target=self._run, name=f"rekindle-{self.job_id}", daemon=True).start()
        except BaseException:
            self._close()
            raise
        return self

    def attach(self) -> DataStreamWriter:
        """The pipeline up to its sinks, for the caller to start: an end that is not ours, so nothing is drained.

        It writes to the job folder's checkpoint; sinks count on that, so that no batch is written twice.
        """
        self._open_for_caller()
        return self._attached()

    def frame(self) -> DataFrame:
        """The rows that enter the only sink, under its columns' names, with `KIND`; the caller starts a query on it."""
        self._open_for_caller()
        _, pipeline, frame = self._assembled()
        (sink,) = pipeline.record.sinks
        columns = zip(_columns(sink), sink_columns(pipeline, sink.node.id).values(), strict=True)
        return frame.selectExpr(*(f"{text} AS {quote(column.name)}" for column, text in columns), KIND)

    def _open_for_caller(self) -> None:
        # Spark keeps a second query off the same checkpoint; the lock is for jobs, which know when they end.
        self.folder.acquire()
        try:
            self._identity = self.folder.open(self._plan, self._name)
        finally:
            self.folder.release()
        atexit.register(self._close)

    def _attached(self) -> DataStreamWriter:
        spark, pipeline, frame = self._assembled()
        targets = [self._target(spark, pipeline, sink) for sink in pipeline.record.sinks]
        self._fan_out = FanOut(targets, sink_hidden(pipeline))
        return self._fan_out.attach(frame).option("checkpointLocation", str(self.folder.checkpoint))

    def _assembled(self) -> tuple[SparkSession, Pipeline, DataFrame]:
        configuration = self._configuration
        parallelism = max(1, configuration.number("parallelism.default"))
        pipeline = plan_stages(record(self._graph))
        settings = {key: value for key, value in configuration.items() if key.startswith(SPARK_PREFIX)}
        spark = prepare(self._given_spark or session(parallelism, settings), parallelism, settings)
        self._metrics = spark.sparkContext.accumulator({}, _merging())
        builder = Builder(
            spark, pipeline, configuration, self.folder.path, self._graph.max_parallelism, self._metrics,
            self._data_streams,
        )  # fmt: skip
        self._builder = builder
        return spark, pipeline, builder.build()

    def _target(self, spark: SparkSession, pipeline: Pipeline, sink: SinkRecord) -> Target:
        table = sink.table.resolved_table
        columns = _columns(sink)
        if table is None or table.options is None:
            raise sink.node.fail(
                f"table {sink.table.name} has no options in the plan",
                "Create the table in the session before the plan runs (it was compiled without its options).",
            )
        names = [column.name for column in columns]
        key = table.table_schema.primary_key
        request = SinkRequest(
            table,
            sink.table.name,
            columns,
            tuple(names.index(name) for name in key.columns) if key else (),
            f"{self.job_id}-{sink.node.id}",
            self.folder.path,
            ChangelogMode(getattr(sink.node, "input_changelog_mode", sink.node.changelog_mode)),
            self._configuration,
            context=ProviderContext(sink.node, self._builder.uids),
        )
        writer = find_sink(table.options.get("connector", ""), sink.table.name).writer(spark, request)
        writer.open()
        self._writers.append(writer)
        texts = sink_columns(pipeline, sink.node.id)
        return Target(sink.node.id, writer, dict(zip(names, texts.values(), strict=True)))

    def _run(self) -> None:
        """Until a bounded pipeline has ended, or the query stops; runs in a thread of its own."""
        try:
            for attempt in range(1, _ATTEMPTS + 1):
                error = self._attempt()
                if error is None or not is_transient(str(error)) or attempt == _ATTEMPTS:
                    break
                self._query = self._stream.start()
            self._failure = None if error is None else self._explained(error)
        finally:
            self._close()
            self._done.set()

    def _attempt(self) -> BaseException | None:
        """Run the query to its end; what made it fail."""
        assert self._query is not None
        query = self._query
        try:
            if self._builder.bounded:
                query.processAllAvailable()
                self._drain(query)
                query.stop()
            else:
                query.awaitTermination()
        except BaseException as error:  # noqa: BLE001  # kept, and raised again by `wait`
            return error
        return query.exception()

    def _drain(self, query: StreamingQuery) -> None:
        """Move the watermark past everything and wait until a batch has run under it."""
        if not self._builder.timed:
            return
        self._builder.drain()
        # One call may return at the end of a trigger that had looked for files before the control file was there.
        while query.isActive and self.folder.committed_watermark() < DRAINED:
            query.processAllAvailable()
            time.sleep(0.01)

    def _explained(self, error: Any) -> RekindleError:
        if self._fan_out.error is not None:
            return self._fan_out.error
        if isinstance(error, RekindleError):
            return error
        return describe_failure(error) or job_error(str(error))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end (seconds); whether it has ended. Raises what made the job fail."""
        ended = self._done.wait(timeout)
        if ended and self._failure is not None:
            raise self._failure
        return ended

    def stop(self) -> None:
        """Stop after the micro-batch that runs; the folder can be continued from."""
        if self._query is not None and self._query.isActive:
            self._query.stop()
        self._done.wait()

    def drain(self) -> None:
        """End the stream as if all input had ended, then stop."""
        if self._query is not None and self._query.isActive:
            self._drain(self._query)
        self.stop()

    def progress(self) -> Progress | None:
        """The last micro-batch; None before the first."""
        last = self._query.lastProgress if self._query is not None else None
        if last is None or self._query is None:
            return None
        for each in self._query.recentProgress:
            if each.batchId > self._counted_batch:
                self._counted_batch = each.batchId
                self._rows += each.numInputRows
        values: dict[tuple[str, str, int], int] = dict(self._metrics.value)
        state: dict[str, int] = {}
        counters: dict[str, int] = {}
        for (uid, name, _), count in sorted(values.items()):
            target, key = (state, name.removeprefix("rows:")) if name.startswith("rows:") else (counters, name)
            target[f"{uid}__{key}"] = target.get(f"{uid}__{key}", 0) + count
        watermark = (last.eventTime or {}).get("watermark")
        known = watermark if watermark and not watermark.startswith("1970-01-01T00:00:00.000") else None
        speed = last.processedRowsPerSecond
        return Progress(last.batchId, self._rows, speed if speed == speed else 0.0, known, state, counters)

    def batches(self) -> list[tuple[int, int]]:
        """(input rows, milliseconds) of the recent micro-batches that had rows."""
        recent = self._query.recentProgress if self._query is not None else []
        return [(each.numInputRows, each.batchDuration) for each in recent if each.numInputRows]

    def _close(self) -> None:
        for writer in self._writers:
            writer.close()
        self._writers.clear()
        self.folder.release()
        if self._temporary:
            shutil.rmtree(self.folder.path, ignore_errors=True)


def follow(job: Job, report: Callable[[Progress], None], interval: float = 0.5) -> None:
    """Wait for a job and report its progress whenever a micro-batch has ended (seconds between looks)."""
    seen = -1
    while True:
        ended = job.wait(interval)
        progress = job.progress()
        if progress is not None and progress.batch_id != seen:
            seen = progress.batch_id
            report(progress)
        if ended:
            return


def _columns(sink: SinkRecord) -> tuple[Column, ...]:
    table = sink.table.resolved_table
    return table.table_schema.writable if table is not None else ()


def _merging() -> Any:
    from pyspark.accumulators import AccumulatorParam

    class Merging(AccumulatorParam[dict[Any, int]]):
        """Dictionaries; a later value replaces an earlier one, counters are summed."""

        def zero(self, value: dict[Any, int]) -> dict[Any, int]:
            return {}

        def addInPlace(self, first: dict[Any, int], second: dict[Any, int]) -> dict[Any, int]:  # noqa: N802
            for key, value in second.items():
                first[key] = value if key[1].startswith("rows:") else first.get(key, 0) + value
            return first

    return Merging()
