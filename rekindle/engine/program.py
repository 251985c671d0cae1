"""A graph as DataFrames: what a micro-batch runs, built for each of its steps.

Scalar work stays in the JVM; stateful operators that stand beside each other are an exchange by subtask and one
mapInArrow around their kernels (see `hosts`); a small micro-batch is one task without exchanges. A frame with several
consumers is kept while the step runs. One action a sink.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

from execnodes.engine.bodies import FrameShape
from execnodes.lowering.slots import SlotLayout
from execnodes.lowering.stream import HASH, quote
from execnodes.lowering.user_calls import PREFIX
from execnodes.state.operator import LocalKernel, Operator
from rekindle.connectors.base import SinkWriter
from rekindle.connectors.line_text import origin
from rekindle.engine.host import FROM, TO, HostTask, Member, Moment, RestoreTask, Told
from rekindle.engine.key_groups import KeyGroups
from rekindle.engine.micro_batch import MicroBatch, Ran
from rekindle.engine.native_fold import fold_natively, fold_texts
from rekindle.engine.observed import Observed, Seen
from rekindle.engine.sources import Reader
from rekindle.engine.store.disk import Disk
from rekindle.engine.store.state_list import StateId
from rekindle.pipeline.arms import apart
from rekindle.pipeline.columns import inline_rows, projected, structs, with_all_made, with_made
from rekindle.pipeline.failures import describe_sink_failure
from rekindle.pipeline.hosts import Host, Hosts, Size, hosts_of
from rekindle.pipeline.origins import can_fail, from_origin
from rekindle.pipeline.record import LocalRecord, OperatorRecord, SinkRecord, SourceRecord, Step
from rekindle.pipeline.ways import Arm, Pipeline, hidden_texts, slot_texts, typed_texts
from rekindle.spark.session import make_active

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_AS_THEY_ARE: Mapping[str, str] = {}
STEPS = 1000
"""More than a micro-batch has steps: sinks know each by one number."""


@dataclass(frozen=True)
class Sink:
    """Where rows go."""

    record: SinkRecord
    writer: SinkWriter


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of sources up to which a micro-batch is of a size (see `Size`)."""

    few: int
    small: int

    def size(self, size: int) -> Size:
        """That of so many bytes."""
        return Size.FEW if size <= self.few else Size.SMALL if size <= self.small else Size.LARGE


@dataclass(frozen=True)
class Ground:
    """What a program stands on."""

    spark: SparkSession
    disk: Disk
    groups: KeyGroups
    limits: Limits
    told: Any
    """A Spark accumulator of dictionaries (see `collecting`), of this program alone."""
    job: str
    """As Spark shows it."""


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
        self, ground: Ground, pipeline: Pipeline, readers: Mapping[str, Reader], sinks: Sequence[Sink]
    ) -> None:
        """`readers` of tables by the sources' uids; `sinks` in the order of the statements."""
        self._ground, self._pipeline, self._readers, self._sinks = ground, pipeline, readers, sinks
        self._hosts = {size: hosts_of(pipeline, size) for size in Size}
        self._batch_size = Size.FEW
        """Time that passes in a micro-batch goes the way of its rows."""
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

    def _size(self, uid: str, start: Any, end: Any) -> int:
        reader = self._readers.get(uid)
        return 0 if reader is None else reader.positions.size(start, end)

    def run(self, batch: MicroBatch) -> Ran:
        """See `Program`."""
        if batch.step == 0:
            sizes = (self._size(uid, start, end) for uid, (start, end) in batch.positions.items())
            self._batch_size = self._ground.limits.size(sum(sizes))
        self._describe(batch)
        with ExitStack() as kept:
            hosts = self._hosts[self._batch_size]
            build = _Build(self._ground, self._pipeline, self._readers, batch, kept, hosts, self.timeouts)
            build.build()
            self._write_all(build, batch)
            seen = {uid: each.get() for uid, each in build.observed.items()}
        if batch.step == 0:
            self.rows = sum(each.rows for each in seen.values())
            for uid in seen.keys() & self._readers.keys():
                self._readers[uid].saw(seen[uid].rows)
        return self._ran(batch, seen)

    def _ran(self, batch: MicroBatch, seen: Mapping[str, Seen]) -> Ran:
        told = self._told(batch)
        for each in told:
            self._state_rows.update(each.rows)
        return Ran(
            tuple(each.written for each in told),
            {uid: each.reached for uid, each in seen.items() if each.rows and uid in self.timeouts},
            {key: at for each in told for key, at in each.timers.items()},
            _summed((name, count) for each in told for name, count in each.counters.items()),
        )

    def restore(self, batch: MicroBatch, rows_of: Callable[[OperatorRecord], DataFrame | None]) -> Ran:
        """Put rows of a savepoint (see `Restore.rows`) into the states of the operators, which have none yet."""
        from pyspark.sql.functions import expr

        ground = self._ground
        self._describe(batch)
        moment = _moment(ground, batch)
        for step in self._pipeline.record.steps.values():
            if isinstance(step, OperatorRecord) and (rows := rows_of(step)) is not None:
                task = RestoreTask(step.operator, ground.groups, moment, ground.told)
                spread = rows.repartitionById(ground.groups.subtasks, expr(ground.groups.subtask(HASH)))
                _run_to_end(spread.mapInArrow(task, "none INT"))
        return self._ran(batch, {})

    def state_rows(self) -> Mapping[str, int]:
        """Rows by uid and state name (``3_join__leftState``), as far as touched since this driver began."""
        return _summed((f"{each.uid}__{each.state}", rows) for each, rows in sorted(self._state_rows.items()))

    def _describe(self, batch: MicroBatch) -> None:
        """What Spark's pages say of the jobs that follow."""
        context = self._ground.spark.sparkContext
        context.setJobDescription(f"{self._ground.job}: micro-batch {batch.number}, step {batch.step}")

    def _told(self, batch: MicroBatch) -> Sequence[Told]:
        """What tasks have told of this step."""
        all_told: dict[Any, Told] = self._ground.told.value
        now = [each for key, each in all_told.items() if key[:2] == (batch.number, batch.step)]
        all_told.clear()
        return now

    def _write_all(self, build: _Build, batch: MicroBatch) -> None:
        """Sinks that may wait for each other's jobs of Spark take turns; the others run theirs side by side."""
        given = [(sink, rows) for sink in self._sinks if (rows := build.sink_rows(sink.record)) is not None]
        beside = [each for each in given if each[0].writer.concurrent]
        if len(beside) > 1:

            def begin() -> None:
                make_active(self._ground.spark)
                self._describe(batch)

            for frame in build.shared:
                # Else a job that waits for what another one computes may end before that has told what it has counted.
                _run_to_end(frame)
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
            try:
                sink.writer.write(rows, batch.number * STEPS + batch.step)
            except OSError as error:
                raise describe_sink_failure(error, sink.record.table.name) or error from error


def _run_to_end(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _body(step: Step) -> Operator | LocalKernel:
    return step.kernel if isinstance(step, LocalRecord) else step.operator


def _computes(arms: Iterable[Arm]) -> bool:
    """Whether something is computed for every row of the frame, also for those that are none of theirs."""
    return any(arm.branch.made or PREFIX in text for arm in arms for text in _texts(arm))


def _texts(arm: Arm) -> Iterable[str]:
    return *arm.branch.columns, arm.branch.condition or "", arm.branch.kind or ""


def _only_its_own(arm: Arm) -> Arm:
    mine = f"{FROM} = {arm.branch.origin}"
    condition = arm.branch.condition
    both = mine if condition is None else f"CASE WHEN {mine} THEN {condition} END"
    return replace(arm, branch=replace(arm.branch, condition=both))


def _moment(ground: Ground, batch: MicroBatch) -> Moment:
    return Moment(ground.disk, (batch.number, batch.step), batch.watermark, batch.now, batch.sparse)


def _summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, count in counts:
        found[name] = found.get(name, 0) + count
    return found


class _Build:
    """The frames of one step."""

    def __init__(
        self,
        ground: Ground,
        pipeline: Pipeline,
        readers: Mapping[str, Reader],
        batch: MicroBatch,
        kept: ExitStack,
        hosts: Hosts,
        timed: Collection[str],
    ) -> None:
        """`kept`: what is to be done when the step has run; `timed`: sources that move time, by uid."""
        self._ground, self._pipeline, self._readers, self._batch = ground, pipeline, readers, batch
        self._kept, self._hosts, self._timed = kept, hosts, timed
        self._exchanges = hosts.size is Size.LARGE
        self._record = pipeline.record
        self._host_of = {number: host for host in hosts.hosts for number in host.members}
        self._frames: list[tuple[DataFrame, tuple[Arm, ...]]] = []
        """Rows of sources and hosts, with the ways they take."""
        self.observed: dict[str, Observed] = {}
        self.shared: list[DataFrame] = []
        """Those that are kept, first ones first."""

    def build(self) -> None:
        """Sources first, then what they feed."""
        for number, source in self._record.sources.items():
            if source.uid in self._batch.positions and self._pipeline.leaving(number):
                self._source(number, source)
        for host in self._hosts.hosts:
            self._host(host)

    # -- sources

    def _source(self, number: int, source: SourceRecord) -> None:
        arms = self._pipeline.leaving(number)
        fallible = can_fail(source, arms)
        frame = (
            inline_rows(self._ground.spark.range(0, 1, 1, 1), source)
            if source.table is None
            else self._scan(source, located=fallible)
        )
        known = origin(frame.columns) if fallible else None
        if known is not None:
            source, arms = from_origin(known, source, arms)
        texts = source.event_times if source.uid in self._timed else []
        if texts:
            frame = with_made(frame, source.made)
        observed = Observed(frame, texts)
        self.observed[source.uid] = observed
        self._leaving(observed.frame, arms)

    def _scan(self, source: SourceRecord, *, located: bool) -> DataFrame:
        start, end = self._batch.positions[source.uid]
        return self._readers[source.uid].read(start, end, located=located).frame

    # -- between

    def _leaving(self, frame: DataFrame, arms: tuple[Arm, ...]) -> None:
        """Rows of one origin, with what their ways compute; kept if they are read more than once."""
        frame = with_all_made(frame, arms)
        if len(set(map(self._taker, arms))) > 1:
            self._keep(frame)
        self._frames.append((frame, apart(arms)))

    def _keep(self, frame: DataFrame) -> None:
        frame.persist()
        self._kept.callback(frame.unpersist)
        self.shared.append(frame)

    def _taker(self, arm: Arm) -> tuple[object, bool]:
        """The host of a consumer, or a sink, which may stand behind an operator of its own."""
        if arm.consumer in self._record.steps and arm.branch.origin != arm.consumer:
            return self._host_of[arm.consumer], True
        return arm.consumer, False

    def _hidden(self, arm: Arm) -> dict[str, str]:
        return hidden_texts(arm, self._pipeline.hidden(), arm.branch.origin in self._record.sources)

    def _into(
        self,
        taker: tuple[object, bool],
        texts: Callable[[Arm], dict[str, str]],
        names: Mapping[str, str] = _AS_THEY_ARE,
    ) -> DataFrame | None:
        """Rows for a host or a sink, of all their ways; None if none come. `names` that some columns get."""
        found = []
        for frame, arms in self._frames:
            mine = tuple(arm for arm in arms if self._taker(arm) == taker)
            if len(mine) == 1:
                named = {names.get(name, name): text for name, text in texts(mine[0]).items()}
                found.append(projected(frame, named, mine[0].branch.condition))
            elif mine:
                rows = frame.selectExpr(f"inline({structs(mine, texts)})")
                final = {names.get(name, name): name for name in texts(mine[0])}
                found.append(projected(rows, final, None) if names else rows)
        return reduce(lambda left, right: left.unionAll(right), found) if found else None

    # -- operators

    def _host(self, host: Host) -> None:
        alive = self._alive(host)
        if not alive:
            return
        if host.native:
            self._native(host)
            return
        leaving = {number: self._leaving_arms(number) for number in alive}
        task = self._task(host, alive, leaving)
        given = self._given(host)
        ddl = f"{task.shape.ddl()}, {FROM} INT"
        folds = all(isinstance(self._record.steps[number], LocalRecord) for number in alive)
        if given is None:
            tasks = len(task.due) if self._exchanges else 1
            frame = self._ground.spark.range(0, tasks, 1, tasks).mapInArrow(task.woken, ddl)
        elif not self._exchanges:
            frame = given.coalesce(1).mapInArrow(task, ddl)
        elif folds:
            frame = given.mapInArrow(task, ddl)
        else:
            from pyspark.sql.functions import expr

            groups = self._ground.groups
            frame = given.repartitionById(groups.subtasks, expr(groups.subtask(HASH))).mapInArrow(task, ddl)
        self._leaving_host(frame, {number: arms for number, arms in leaving.items() if arms})

    def _native(self, host: Host) -> None:
        (number,) = host.members
        kernel = _body(self._record.steps[number])
        assert isinstance(kernel, LocalKernel)
        rows = self._into((host, True), partial(fold_texts, kernel=kernel))
        if rows is not None:
            self._leaving(fold_natively(rows, kernel), self._pipeline.leaving(number))

    def _alive(self, host: Host) -> tuple[int, ...]:
        """Members that rows come to, or that are to be woken."""
        fed = {arm.consumer for _, arms in self._frames for arm in arms if self._taker(arm) == (host, True)}
        alive = list[int]()
        for number in host.members:
            inside = any(each.origin in alive for each in host.handed if each.consumer == number)
            if number in fed or inside or self._due(number):
                alive.append(number)
        return tuple(alive)

    def _due(self, number: int) -> frozenset[int]:
        step = self._record.steps[number]
        return frozenset() if isinstance(step, LocalRecord) else self._batch.due(step.operator.uid)

    def _leaving_arms(self, number: int) -> tuple[Arm, ...]:
        handed = self._hosts.handed
        return tuple(arm for arm in self._pipeline.leaving(number) if (number, arm.consumer) not in handed)

    def _given(self, host: Host) -> DataFrame | None:
        """Rows for all members, in the slots that they need together."""
        taker = host, True
        fed = {arm.consumer for _, arms in self._frames for arm in arms if self._taker(arm) == taker}
        layout = SlotLayout.of(arm.types for arm in self._pipeline.arms if arm.consumer in fed)

        def texts(arm: Arm) -> dict[str, str]:
            no_hash = {HASH: "CAST(NULL AS BIGINT)"}
            return {TO: str(arm.consumer), **no_hash, **self._hidden(arm), **slot_texts(arm, layout)}

        return self._into(taker, texts)

    def _task(self, host: Host, alive: Collection[int], leaving: Mapping[int, tuple[Arm, ...]]) -> HostTask:
        batch, record, ground = self._batch, self._record, self._ground
        steps = {number: record.steps[number] for number in alive}
        uids = {each.operator.uid for each in steps.values() if isinstance(each, OperatorRecord)}
        members = (
            Member(number, _body(each), each.node.place, self._due(number), bool(leaving[number]))
            for number, each in steps.items()
        )
        layout = SlotLayout.of([column.type for column in each.output] for n, each in steps.items() if leaving[n])
        return HostTask(
            tuple(members),
            tuple(each for each in host.handed if each.origin in steps),
            FrameShape(layout, self._pipeline.ordered, record.row_watermarks, record.every_change),
            ground.groups,
            _moment(ground, batch),
            {state: file for state, file in batch.newest.items() if state.uid in uids},
            {key: at for key, at in batch.timers.items() if key[0] in uids},
            self._exchanges,
            ground.told,
        )

    def _leaving_host(self, frame: DataFrame, leaving: Mapping[int, tuple[Arm, ...]]) -> None:
        """Rows of several origins; those of one that ways compute something of are put apart first."""
        if len(leaving) == 1:
            (arms,) = leaving.values()
            self._leaving(frame, arms)
            return
        mixed = [arm for arms in leaving.values() if not _computes(arms) for arm in arms]
        apart_ = [number for number, arms in leaving.items() if _computes(arms)]
        if len(set(map(self._taker, mixed))) + len(apart_) > 1:
            self._keep(frame)
        self._frames.append((frame, tuple(map(_only_its_own, mixed))))
        for number in apart_:
            self._leaving(frame.where(f"{FROM} = {number}"), leaving[number])

    # -- sinks

    def sink_rows(self, sink: SinkRecord) -> DataFrame | None:
        """What enters a sink: its columns, then hidden ones; None if nothing comes."""
        hidden = self._pipeline.sink_hidden()
        names = {f"c{at}": quote(column.name) for at, column in enumerate(sink.columns)}

        def texts(arm: Arm) -> dict[str, str]:
            mine = self._hidden(arm)
            return {**typed_texts(arm), **{name: mine[name] for name in hidden}}

        return self._into((sink.node.id, False), texts, names)
