"""A graph as DataFrames: those of one step, built and not yet run.

Scalar work stays in the JVM; stateful operators that stand beside each other are an exchange by subtask and one
mapInArrow around their kernels (see `hosts`); a small micro-batch is one task without exchanges. A frame with several
consumers is kept while the step runs. When frames are built the moment they run in need not be known (see `Moment`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from execnodes.engine.bodies import FrameShape
from execnodes.lowering.slots import SlotLayout
from execnodes.lowering.stream import HASH, quote
from execnodes.lowering.user_calls import calls_functions
from execnodes.state.operator import LocalKernel, Operator
from rekindle.connectors.line_text import origin
from rekindle.engine.host import FROM, TO, HostTask, Member
from rekindle.engine.inputs import Inputs, Limits, tasks_of
from rekindle.engine.key_groups import KeyGroups
from rekindle.engine.native_fold import fold_natively, fold_texts
from rekindle.engine.observed import Observed
from rekindle.engine.reading import Reading
from rekindle.engine.store.disk import Disk
from rekindle.pipeline.arms import apart
from rekindle.pipeline.columns import inline_rows, projected, structs, with_all_made, with_made
from rekindle.pipeline.hosts import Host, Hosts, Size
from rekindle.pipeline.origins import can_fail, from_origin
from rekindle.pipeline.record import LocalRecord, OperatorRecord, SinkRecord, SourceRecord, Step
from rekindle.pipeline.ways import Arm, Pipeline, hidden_texts, slot_texts, typed_texts
from rekindle.spark.generated_code import GeneratedCode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AS_THEY_ARE: Mapping[str, str] = {}


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
    code: GeneratedCode
    """Whether Spark generates code for what it runs."""
    tag: str = ""
    """Of the jobs of Spark that the program runs, by which they can be ended; "" if nobody ends them."""


def _body(step: Step) -> Operator | LocalKernel:
    return step.kernel if isinstance(step, LocalRecord) else step.operator


def _member(number: int, step: Step, *, leaves: bool) -> Member:
    behind = step.behind if isinstance(step, OperatorRecord) else 0
    return Member(number, _body(step), step.node.place, leaves, behind)


def computes(arms: Iterable[Arm]) -> bool:
    """Whether something is computed for every row of the frame, also for those that are none of theirs."""
    return any(arm.branch.made or calls_functions(text) for arm in arms for text in _texts(arm))


def _texts(arm: Arm) -> Iterable[str]:
    return *arm.branch.columns, arm.branch.condition or "", arm.branch.kind or ""


def _only_its_own(arm: Arm) -> Arm:
    mine = f"{FROM} = {arm.branch.origin}"
    condition = arm.branch.condition
    both = mine if condition is None else f"CASE WHEN {mine} THEN {condition} END"
    return replace(arm, branch=replace(arm.branch, condition=both))


class Frames:
    """What sinks are given in a step."""

    def __init__(
        self,
        ground: Ground,
        pipeline: Pipeline,
        inputs: Inputs,
        positions: Mapping[str, tuple[Any, Any]],
        due: Callable[[str], frozenset[int]],
        hosts: Hosts,
        told: Collection[str] = (),
    ) -> None:
        """`positions`, `due`: see `MicroBatch`; `told`: sources that tasks are told to read, by uid."""
        self._ground, self._pipeline, self._inputs = ground, pipeline, inputs
        self.positions, self._due, self.hosts = positions, due, hosts
        self._exchanges, self.told = hosts.size is Size.LARGE, told
        size = inputs.size({uid: positions[uid] for uid in told if uid in positions})
        self._tasks = tasks_of(size, ground.groups.subtasks) if self._exchanges else 1
        """That read what they are told, together."""
        self._record = pipeline.record
        self._kept = ExitStack()
        self._host_of = {number: host for host in hosts.hosts for number in host.members}
        self._frames: list[tuple[DataFrame, tuple[Arm, ...]]] = []
        """Rows of sources and hosts, with the ways they take."""
        self.observed: dict[str, Observed] = {}
        self._shared: list[tuple[DataFrame, tuple[Arm, ...]]] = []
        """Those that are kept and are to be run first, with the ways of their rows."""
        self.of_sinks: list[tuple[SinkRecord, DataFrame]] = []
        """In the order of the statements; its columns, then hidden ones. None of sinks that nothing comes to."""
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    @property
    def shared(self) -> list[DataFrame]:
        """Those that are kept and that no other one of them gives all its rows to, first ones first."""
        return [frame for frame, _ in self._shared]

    def close(self) -> None:
        """Nothing of it is kept any more."""
        self._kept.close()

    def _build(self) -> None:
        """Sources first, then what they feed."""
        for number, source in self._record.sources.items():
            if source.uid in self.positions and self._pipeline.leaving(number) and number not in self.hosts.reading:
                self._source(number, source)
        for host in self.hosts.hosts:
            self._host(host)
        self._ends()

    def _ends(self) -> None:
        """What comes to sinks."""
        given = ((sink, self._sink_rows(sink)) for sink in self._record.sinks)
        self.of_sinks = [(sink, rows) for sink, rows in given if rows is not None]

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
        texts = source.event_times if source.uid in self._inputs.timed else []
        if texts:
            frame = with_made(frame, source.made)
        self._counted(number, frame, texts, arms)

    def _counted(self, number: int, frame: DataFrame, event_times: Sequence[str], arms: tuple[Arm, ...]) -> None:
        """Rows of a source, on their ways and counted."""
        observed = Observed(frame, event_times)
        self.observed[self._record.sources[number].uid] = observed
        # Operators take them in one task. Those that are kept are so before, or each of these would have them brought.
        near = not self._exchanges and any(arm.consumer in self._record.steps for arm in arms)
        self._leaving(observed.frame.coalesce(1) if near else observed.frame, arms)

    def _scan(self, source: SourceRecord, *, located: bool) -> DataFrame:
        reader = self._inputs.readers[source.uid]
        if source.uid in self.told:
            given = reader.in_tasks(self._tasks, located=located)
            assert given is not None
            return given.frame
        return reader.read(*self.positions[source.uid], located=located).frame

    # -- between

    def _leaving(self, frame: DataFrame, arms: tuple[Arm, ...]) -> None:
        """Rows of one origin, with what their ways compute; kept if they are read more than once."""
        frame = with_all_made(frame, arms)
        if len(set(map(self._taker, arms))) > 1:
            self._keep(frame, arms)
        self._frames.append((frame, apart(arms)))

    def _keep(self, frame: DataFrame, arms: tuple[Arm, ...]) -> None:
        """Rows are read on several ways."""
        frame.persist()
        self._kept.callback(frame.unpersist)
        if not self._exchanges:
            # What is read for this one alone need not be run before it. Where several tasks do, they might count twice.
            origins = {arm.branch.origin for arm in arms}
            self._shared = [each for each in self._shared if not self._lead_to(origins, each[1])]
        self._shared.append((frame, arms))

    def _lead_to(self, origins: Collection[int], arms: Iterable[Arm]) -> bool:
        """Whether all rows come to some operators, and to no sink before."""
        steps, passed, ahead = self._record.steps, set(origins), [arm.consumer for arm in arms]
        while ahead:
            number = ahead.pop()
            if number not in passed:
                if number not in steps:
                    return False
                passed.add(number)
                ahead += (arm.consumer for arm in self._pipeline.leaving(number))
        return True

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
        names: Mapping[str, str] = AS_THEY_ARE,
    ) -> DataFrame | None:
        """Rows for a host or a sink, of all their ways; None if none come. `names` that some columns get."""
        found = []
        for frame, arms in self._frames:
            mine = tuple(arm for arm in arms if self._taker(arm) == taker)
            if mine:
                found.append(self._on_their_ways(frame, mine, texts, names))
        if len(found) < 2:
            return found[0] if found else None
        rows = reduce(lambda left, right: left.unionAll(right), found)
        return rows.coalesce(1) if isinstance(taker[0], Host) and not self._exchanges else rows

    def _on_their_ways(
        self, frame: DataFrame, arms: tuple[Arm, ...], texts: Callable[[Arm], dict[str, str]], names: Mapping[str, str]
    ) -> DataFrame:
        if len(arms) == 1:
            named = {names.get(name, name): text for name, text in texts(arms[0]).items()}
            return projected(frame, named, arms[0].branch.condition)
        rows = frame.selectExpr(f"inline({structs(arms, texts)})")
        final = {names.get(name, name): name for name in texts(arms[0])}
        return projected(rows, final, None) if names else rows

    # -- operators

    def _host(self, host: Host) -> None:
        alive = self._alive(host)
        if not alive:
            return
        if host.native:
            self._native(host)
            return
        leaving = {number: self._leaving_arms(number) for number in alive}
        folds = all(isinstance(self._record.steps[number], LocalRecord) for number in alive)
        task = self._task(host, alive, leaving, exchanged=self._exchanges and not folds)
        given = self._given(host)
        ddl = f"{task.shape.ddl()}, {FROM} INT"
        if given is None:
            tasks = len(frozenset[int]().union(*map(self._due_of, alive))) if task.exchanged else self._tasks
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
        number, kernel = self._folding(host)
        rows = self._into((host, True), partial(fold_texts, kernel=kernel))
        if rows is not None:
            self._leaving(fold_natively(rows, kernel), self._pipeline.leaving(number))

    def _folding(self, host: Host) -> tuple[int, LocalKernel]:
        """The pre-aggregation that Spark makes, and its node id."""
        (number,) = host.members
        kernel = _body(self._record.steps[number])
        assert isinstance(kernel, LocalKernel)
        return number, kernel

    def _alive(self, host: Host) -> tuple[int, ...]:
        """Members that rows come to, or that are to be woken."""
        fed, giving, alive = self._fed(host), {each.number for each in self._read()}, list[int]()
        for number in host.members:
            inside = any(each.origin in giving for each in host.handed if each.consumer == number)
            if number in fed or inside or self._due_of(number):
                alive.append(number)
                giving.add(number)
        return tuple(alive)

    def _fed(self, host: Host) -> set[int]:
        """Members that rows come to from outside."""
        return {arm.consumer for _, arms in self._frames for arm in arms if self._taker(arm) == (host, True)}

    def _due_of(self, number: int) -> frozenset[int]:
        step = self._record.steps[number]
        return frozenset() if isinstance(step, LocalRecord) else self._due(step.operator.uid)

    def _leaving_arms(self, number: int) -> tuple[Arm, ...]:
        handed = self.hosts.handed
        return tuple(arm for arm in self._pipeline.leaving(number) if (number, arm.consumer) not in handed)

    def _given(self, host: Host) -> DataFrame | None:
        """Rows for all members, in the slots that they need together."""
        fed = self._fed(host)
        layout = SlotLayout.of(arm.types for arm in self._pipeline.arms if arm.consumer in fed)

        def texts(arm: Arm) -> dict[str, str]:
            no_hash = {HASH: "CAST(NULL AS BIGINT)"}
            return {TO: str(arm.consumer), **no_hash, **self._hidden(arm), **slot_texts(arm, layout)}

        return self._into((host, True), texts)

    def _task(
        self, host: Host, alive: Collection[int], leaving: Mapping[int, tuple[Arm, ...]], *, exchanged: bool
    ) -> HostTask:
        record, ground = self._record, self._ground
        steps = {number: record.steps[number] for number in alive}
        members = (_member(number, each, leaves=bool(leaving[number])) for number, each in steps.items())
        layout = SlotLayout.of([column.type for column in each.output] for n, each in steps.items() if leaving[n])
        reading = tuple(each for each in self._read() if any(each.number == one.origin for one in host.handed))
        inside = {*steps, *(each.number for each in reading)}
        return HostTask(
            tuple(members),
            tuple(each for each in host.handed if each.origin in inside),
            reading,
            FrameShape(layout, self._pipeline.ordered, record.row_watermarks, record.every_change),
            ground.groups,
            ground.disk,
            exchanged,
            self._tasks,
            ground.told,
        )

    def _read(self) -> list[Reading]:
        """Sources with news that calls read."""
        readings = (self._inputs.readings[number] for number in sorted(self.hosts.reading))
        return [each for each in readings if each.uid in self.positions]

    def _leaving_host(self, frame: DataFrame, leaving: Mapping[int, tuple[Arm, ...]]) -> None:
        """Rows of several origins; those of one that ways compute something of are put apart first."""
        if len(leaving) == 1:
            (arms,) = leaving.values()
            self._leaving(frame, arms)
            return
        mixed = [arm for arms in leaving.values() if not computes(arms) for arm in arms]
        apart_ = [number for number, arms in leaving.items() if computes(arms)]
        if len(set(map(self._taker, mixed))) + len(apart_) > 1:
            self._keep(frame, tuple(mixed))
        self._frames.append((frame, tuple(map(_only_its_own, mixed))))
        for number in apart_:
            self._leaving(frame.where(f"{FROM} = {number}"), leaving[number])

    # -- sinks

    def _sink_rows(self, sink: SinkRecord) -> DataFrame | None:
        hidden = self._pipeline.sink_hidden()
        names = {f"c{at}": quote(column.name) for at, column in enumerate(sink.columns)}

        def texts(arm: Arm) -> dict[str, str]:
            mine = self._hidden(arm)
            return {**typed_texts(arm), **{name: mine[name] for name in hidden}}

        return self._into((sink.node.id, False), texts, names)
