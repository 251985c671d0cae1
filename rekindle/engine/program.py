"""What a micro-batch runs: the frames of each of its steps, and one action a sink."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from execnodes.lowering.stream import HASH
from rekindle.connectors.base import RowsWriter, SinkWriter
from rekindle.connectors.in_tasks import tell_tasks
from rekindle.connectors.plain_json import why_not_plain
from rekindle.engine.frames import Frames, Ground
from rekindle.engine.host import MOMENT, Moment, RestoreTask, Told
from rekindle.engine.intake import Intake
from rekindle.engine.micro_batch import MicroBatch, Ran
from rekindle.engine.observed import Seen, together
from rekindle.engine.sources import Reader
from rekindle.engine.standing import Standing
from rekindle.engine.store.state_list import StateId
from rekindle.engine.watermarks import watermark_behind
from rekindle.pipeline.failures import describe_sink_failure, passes
from rekindle.pipeline.hosts import Size
from rekindle.pipeline.lookups import Lookups
from rekindle.pipeline.record import OperatorRecord, SinkRecord
from rekindle.pipeline.ways import Pipeline
from rekindle.spark.java import text_of
from rekindle.spark.session import make_active

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_log = logging.getLogger("rekindle.jobs")
_WAIT = 100
"""Micro-batches that are read by all rules once one could not be read plainly."""
_FEW_ROWS = 10_000
"""Of a savepoint, up to which Spark generates no code to read them."""
STEPS = 1000
"""More than a micro-batch has steps: sinks know each by one number."""


@dataclass(frozen=True)
class Sink:
    """Where rows go."""

    record: SinkRecord
    writer: SinkWriter


def collecting() -> Any:
    """A Spark accumulator parameter for dictionaries; a later value replaces an earlier one."""
    from pyspark.accumulators import AccumulatorParam

    class Collecting(AccumulatorParam[dict[Any, Any]]):
        """Of several attempts of a task the last one counts."""

        def zero(self, value: dict[Any, Any]) -> dict[Any, Any]:
            return {}

        def addInPlace(self, first: dict[Any, Any], second: dict[Any, Any]) -> dict[Any, Any]:  # noqa: N802
            first.update(second)
            return first

    return Collecting()


class GraphProgram:
    """See `Program`."""

    def __init__(
        self,
        ground: Ground,
        pipeline: Pipeline,
        readers: Mapping[str, Reader],
        sinks: Sequence[Sink],
        lookups: Lookups | None = None,
    ) -> None:
        """`readers` of tables by the sources' uids; `sinks` in the order of the statements."""
        self._lookups = lookups
        self._ground, self._pipeline, self._readers, self._sinks = ground, pipeline, readers, sinks
        writers = [each.writer for each in sinks]
        self._by_all_rules = Intake(ground, pipeline, readers, self.timeouts, writers)
        plain = {uid: found for uid, each in readers.items() if (found := each.plainly()) is not None}
        self._plainly = Intake(ground, pipeline, {**readers, **plain}, self.timeouts, writers) if plain else None
        self._wait = 0
        """Micro-batches until it is tried again to read plainly."""
        self._batch_size = Size.FEW
        self.rows = 0
        """What the sources have given in the last micro-batch."""
        self._state_rows: dict[StateId, int] = {}
        """As far as touched."""

    @cached_property
    def timeouts(self) -> Mapping[str, int]:
        """See `Program`."""
        return {
            source.uid: source.idle_after
            for source in self._pipeline.record.sources.values()
            if self._pipeline.uses_time and source.event_times
        }

    def run(self, batch: MicroBatch) -> Ran:
        """See `Program`."""
        from pyspark.errors import PySparkException

        if self._plainly is None or self._wait:
            if not batch.step:
                self._wait = max(self._wait - 1, 0)
            return self._run(batch, self._by_all_rules)
        try:
            return self._run(batch, self._plainly)
        except PySparkException as error:
            if passes(error) or not self._plainly.reads_plainly(batch.positions):
                raise
            # Whatever it is: by all rules it comes again, and is told with its row, or it was not plain.
            _log.info("micro-batch %d is read again by all rules: %s", batch.number, why_not_plain(text_of(error)))
        self._wait = _WAIT
        self._plainly.close()
        self._ground.told.value.clear()
        return self._run(replace(batch, again=True), self._by_all_rules)

    def _run(self, batch: MicroBatch, intake: Intake) -> Ran:
        if batch.chained and self._batch_size is Size.LARGE:
            batch = replace(batch, held=self._held(batch))
        self._begin(batch)
        if not batch.step:
            # Time that passes in a micro-batch goes the way of its rows.
            self._batch_size = intake.size(batch.positions)
            is_few = self._batch_size is Size.FEW and intake.is_size_known(batch.positions)
            self._ground.code.want(not is_few)
            if self._lookups is not None:
                self._lookups.refresh(self._ground.spark)
        standing = intake.standing(batch, self._batch_size, self._state_rows)
        seen = self._build_and_run(batch, intake) if standing is None else self._run_standing(standing, batch)
        told = self._told(batch)
        sources = self._pipeline.record.sources
        seen |= together((sources[number].uid, at) for each in told for number, at in each.seen.items())
        if batch.step == 0:
            self.rows = sum(each.rows for each in seen.values())
            for uid in seen.keys() & self._readers.keys():
                self._readers[uid].saw(seen[uid].rows)
        return self._ran(told, seen)

    def _held(self, batch: MicroBatch) -> frozenset[str]:
        """Operators behind others that are due: subtasks of these to which no rows come are woken a step later only.

        In one task they are woken in their order.
        """
        above = self._pipeline.operators_above
        due = {uid for uid in above if batch.due(uid)}
        return frozenset(uid for uid, those in above.items() if those & due)

    def _build_and_run(self, batch: MicroBatch, intake: Intake) -> dict[str, Seen]:
        """What those sources have given that calls do not read."""
        frames, reads = intake.frames(batch, self._batch_size)
        try:
            with intake.building_ahead(batch):
                tell_tasks(self._ground.spark, reads)
                self._write_all(frames, batch, reads)
            return {uid: each.get() for uid, each in frames.observed.items()}
        finally:
            frames.close()

    def _run_standing(self, standing: Standing, batch: MicroBatch) -> dict[str, Seen]:
        """What those sources have given that feed sinks alone; tasks tell of others."""
        rows, seen = standing.run()
        for sink in self._sinks:
            if sink.record.node.id in rows:
                assert isinstance(sink.writer, RowsWriter)
                with _named(sink):
                    sink.writer.write_rows(rows[sink.record.node.id], _sink_number(batch))
        return {self._pipeline.record.sources[number].uid: each for number, each in seen.items()}

    def time_passes(self, watermark: int | None, now: int, *, ended: bool) -> None:
        """Told to the writers of sinks (see `SinkWriter`), between micro-batches."""
        for sink in self._sinks:
            behind = self._pipeline.record.behind(sink.record.rows)
            with _named(sink):
                sink.writer.time_passes(watermark_behind(watermark, behind), now, ended=ended)

    def close(self) -> None:
        """What was built for micro-batches that do not come is given up."""
        self._ground.code.close()
        for intake in (self._by_all_rules, self._plainly):
            if intake is not None:
                intake.close()

    def _ran(self, told: Sequence[Told], seen: Mapping[str, Seen]) -> Ran:
        for each in told:
            self._state_rows.update(each.rows)
        return Ran(
            tuple(each.written for each in told),
            {uid: each.reached for uid, each in seen.items() if each.rows and uid in self.timeouts},
            {key: at for each in told for key, at in each.timers.items()},
            _summed((name, count) for each in told for name, count in each.counters.items()),
        )

    def restore(self, batch: MicroBatch, rows_of: Callable[[OperatorRecord], DataFrame | None], count: int) -> Ran:
        """Put rows of a savepoint (see `Restore.rows`; so many) into the states of the operators, which have none."""
        from pyspark.sql.functions import expr

        ground = self._ground
        ground.code.want(count > _FEW_ROWS)
        self._begin(batch)
        for step in self._pipeline.record.steps.values():
            if isinstance(step, OperatorRecord) and (rows := rows_of(step)) is not None:
                task = RestoreTask(step.operator, ground.groups, ground.disk, ground.told, step.behind)
                spread = rows.repartitionById(ground.groups.subtasks, expr(ground.groups.subtask(HASH)))
                _run_to_end(spread.mapInArrow(task, "none INT"))
        return self._ran(self._told(batch), {})

    def state_rows(self) -> Mapping[str, int]:
        """Rows by uid and state name (``3_join__leftState``), as far as touched since this driver began."""
        return _summed((f"{each.uid}__{each.state}", rows) for each, rows in sorted(self._state_rows.items()))

    def _begin(self, batch: MicroBatch) -> None:
        """What this thread's jobs of Spark are told, and what pages say of them."""
        context = self._ground.spark.sparkContext
        if self._ground.tag:
            context.addJobTag(self._ground.tag)
        context.setJobDescription(f"{self._ground.job}: micro-batch {batch.number}, step {batch.step}")
        number = batch.number, batch.step
        moment = Moment(
            number, batch.watermark, batch.now, batch.sparse, batch.newest, batch.timers, batch.chained, batch.held
        )
        context.setLocalProperty(MOMENT, moment.text())

    def _begin_thread(self, batch: MicroBatch, reads: Mapping[str, Any]) -> None:
        make_active(self._ground.spark)
        self._begin(batch)
        tell_tasks(self._ground.spark, reads)

    def _told(self, batch: MicroBatch) -> Sequence[Told]:
        """What tasks have told of this step."""
        all_told: dict[Any, Told] = self._ground.told.value
        now = [each for key, each in all_told.items() if key[:2] == (batch.number, batch.step)]
        all_told.clear()
        return now

    def _write_all(self, frames: Frames, batch: MicroBatch, reads: Mapping[str, Any]) -> None:
        """Sinks that may wait for each other's jobs of Spark take turns; the others run theirs side by side."""
        sinks = {sink.record.node.id: sink for sink in self._sinks}
        given = [(sinks[record.node.id], rows) for record, rows in frames.of_sinks]
        beside = [each for each in given if each[0].writer.concurrent]
        if len(beside) > 1:
            for frame in frames.shared:
                # Else a job that waits for what another one computes may end before that has told what it has counted.
                _run_to_end(frame)
            begin = partial(self._begin_thread, batch, reads)
            with ThreadPoolExecutor(self._ground.groups.subtasks, initializer=begin) as pool:
                # Those that have begun come to their end, whichever fails.
                for future in [pool.submit(self._write, *each, batch) for each in beside]:
                    future.result()
        for sink, rows in given:
            if len(beside) < 2 or not sink.writer.concurrent:
                self._write(sink, rows, batch)

    def _write(self, sink: Sink, rows: DataFrame, batch: MicroBatch) -> None:
        with ExitStack() as kept:
            if not sink.writer.single_pass or batch.again:
                rows = rows.persist()
                kept.callback(rows.unpersist)
            if batch.again:
                # A sink that has it already would not read it, and operators would not run.
                _run_to_end(rows)
            with _named(sink):
                sink.writer.write(rows, _sink_number(batch))


def _sink_number(batch: MicroBatch) -> int:
    """By which sinks know a step."""
    return batch.number * STEPS + batch.step


@contextmanager
def _named(sink: Sink) -> Iterator[None]:
    """What a file of the sink raises names its table."""
    try:
        yield
    except OSError as error:
        raise describe_sink_failure(error, sink.record.table.name) or error from error


def _run_to_end(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, count in counts:
        found[name] = found.get(name, 0) + count
    return found
