"""Operators in a task of Spark: rows of some subtasks in, changes out, state written, and the driver told."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from execnodes.core.places import Place
from execnodes.engine.bodies import FrameShape, encoded, folded, plain_record_batches, process_rows, restore_rows, wake
from execnodes.engine.hashes import hashes
from execnodes.engine.slot_frames import SLOT_DTYPES
from execnodes.kernels.failing import failing_at
from execnodes.lowering.slots import SlotLayout
from execnodes.lowering.stream import FIRED, HASH, KIND, MAJOR, SEQUENCE, WATERMARK
from execnodes.state.operator import DRAINED, Context, LocalKernel, Operator, State
from execnodes.user_functions.running import running_functions
from rekindle.connectors.in_tasks import number_in
from rekindle.engine.key_groups import KeyGroups, one_of
from rekindle.engine.observed import REACHED, ROWS, SOURCE, Seen, counted
from rekindle.engine.reading import Reading
from rekindle.engine.store.call import StoreCall, Written
from rekindle.engine.store.disk import Disk
from rekindle.engine.store.state_list import StateId
from rekindle.engine.watermarks import due_subtasks, watermark_behind
from rekindle.pipeline.hosts import Handed
from rekindle.spark.workers import settle

TO = "rk_to"
"""Node id of the member of a call that a row is for."""
FROM = "rk_from"
"""Node id of the member of a call that gave a row."""
MOMENT = "rekindle.moment"
"""Property of Spark's jobs: the `Moment` they run in."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a task tells the driver; of several attempts one counts."""

    written: Written
    timers: Mapping[tuple[str, int], int | None]
    """When the operator (uid, subtask) wants to be woken next; None if it does not. Only those that ran."""
    counters: Mapping[str, int]
    """By uid and name, as `Ran` has them."""
    rows: Mapping[StateId, int]
    """Of the states that were opened."""
    seen: Mapping[int, Seen]
    """What sources have given, by node id."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What operators of a micro-batch's step are to know, which is not known yet when their frames are built.

    It travels as a property of Spark's jobs.
    """

    number: tuple[int, int]
    """Of the micro-batch and the step."""
    watermark: int | None
    now: int
    sparse: frozenset[str]
    newest: Mapping[StateId, str]
    """The file that holds each state's newest list."""
    timers: Mapping[tuple[str, int], int]
    """When operators (uid, subtask) want to be woken next."""
    chained: bool = True
    held: frozenset[str] = frozenset()
    """See `MicroBatch`."""

    def wakes(self, uid: str) -> bool:
        """Whether an operator may be woken."""
        return self.number[1] > 0 and self.watermark is not None and uid not in self.held

    def due(self, uid: str) -> frozenset[int]:
        """Subtasks of an operator that are to be woken."""
        return due_subtasks(self.timers, uid, self.watermark) if self.wakes(uid) else frozenset()

    def has_reached(self, uid: str, asked: int | None) -> bool:
        """Whether an operator that has asked for a time while it took rows is woken right behind them."""
        if not self.chained or asked is None or self.watermark is None:
            return False
        return self.wakes(uid) and asked <= self.watermark

    def text(self) -> str:
        """As a property has it."""
        newest = [(each.uid, each.state, each.subtask, file) for each, file in self.newest.items()]
        timers = [(*operator, at) for operator, at in self.timers.items()]
        told = (self.number, self.watermark, self.now, sorted(self.sparse), newest, timers)
        parts = (*told, self.chained, sorted(self.held))
        return b64encode(zlib.compress(json.dumps(parts).encode(), 1)).decode()

    @classmethod
    def of_text(cls, text: str) -> Moment:
        """What `text` has written."""
        parts = json.loads(zlib.decompress(b64decode(text)))
        (number, step), watermark, now, sparse, newest, timers, chained, held = parts
        return cls(
            (number, step),
            watermark,
            now,
            frozenset(sparse),
            {StateId(uid, state, subtask): file for uid, state, subtask, file in newest},
            {(uid, subtask): at for uid, subtask, at in timers},
            chained,
            frozenset(held),
        )

    @classmethod
    def of_task(cls) -> Moment:
        """That of the task which asks."""
        from pyspark import TaskContext

        task = TaskContext.get()
        text = None if task is None else task.getLocalProperty(MOMENT)
        assert text is not None
        return cls.of_text(text)


@dataclass(slots=True)
class SegmentContext(Context):
    """`Context` over segments, for one call of some subtasks."""

    call: StoreCall
    operator: Operator
    groups: KeyGroups
    subtasks: frozenset[int]
    watermark: int | None
    """That of the operator: see `watermark_behind`."""
    now: int
    asked: int | None = None
    """The earliest watermark of the job at which it wants to be woken."""
    behind: int = 0
    """Milliseconds by which its watermark is less than the job's."""
    counters: dict[str, int] = field(default_factory=dict)
    _states: dict[str, State] = field(default_factory=dict)

    def state(self, name: str) -> State:
        """See Context."""
        if name not in self._states:
            spec = next(each for each in self.operator.states if each.name == name)
            ids = {subtask: StateId(self.operator.uid, name, subtask) for subtask in sorted(self.subtasks)}
            states = {subtask: self.call.state(state_id, spec) for subtask, state_id in ids.items()}
            self._states[name] = one_of(states, self.groups)
        return self._states[name]

    def wake_at(self, watermark: int) -> None:
        """See Context."""
        # Whatever is waited for comes at the end.
        due = max(watermark, min(watermark + self.behind, DRAINED - 1))
        self.asked = due if self.asked is None else min(due, self.asked)

    def count(self, metric: str, rows: int) -> None:
        """See Context."""
        self.counters[metric] = self.counters.get(metric, 0) + rows


@dataclass(frozen=True, slots=True)
class Member:
    """An operator, or a pre-aggregation, of a call."""

    number: int
    """Of its node; rows for it have it as `TO`, what it gives as `FROM`."""
    step: Operator | LocalKernel
    place: Place | None
    """Where the SQL has it."""
    leaves: bool
    """Whether rows of it leave the call."""
    behind: int = 0
    """Milliseconds by which its watermark is less than the job's."""

    def due(self, moment: Moment) -> frozenset[int]:
        """Its subtasks that are to be woken."""
        return moment.due(self.step.uid) if isinstance(self.step, Operator) else frozenset()

    def slots(self) -> tuple[str, ...]:
        """Of the rows that it takes."""
        inputs = self.step.inputs if isinstance(self.step, Operator) else (self.step.inputs,)
        return SlotLayout.of([[column.type for column in columns] for columns in inputs]).names()


@dataclass(frozen=True, slots=True)
class HostTask:
    """The body of a mapInArrow around operators and pre-aggregations."""

    members: tuple[Member, ...]
    """Inputs first."""
    handed: tuple[Handed, ...]
    """Rows between them, and of what is read here."""
    reading: tuple[Reading, ...]
    shape: FrameShape
    """Of what leaves."""
    groups: KeyGroups
    disk: Disk
    exchanged: bool
    """Each task has the rows of one subtask; else one has those of all."""
    tasks: int
    """How many there are that read."""
    told: Any
    """A Spark accumulator of dictionaries."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Rows in slots with hidden columns (see `FrameShape`) and `TO`; rows of the same kind with `FROM`.

        Where rows are counted here (see `SOURCE`), those without `TO` are for no member. A task of a subtask that no
        rows come to does not know which it is, since its partition's number may be that in a union of frames: what is
        due is woken by the next step.
        """
        import pyarrow as pa

        # To the end: Spark throws a worker away that leaves rows.
        given = list(batches)
        rows = pl.DataFrame(pa.Table.from_batches(given)) if given else None
        yield from self.run(rows, Moment.of_task(), 0, self._subtasks_of(rows))

    def woken(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The same where no rows come: it reads its part, and wakes a subtask in each task, or all in one."""
        number, moment = number_in(batches), Moment.of_task()
        due = sorted(frozenset[int]().union(*(each.due(moment) for each in self.members)))
        yield from self.run(None, moment, number, frozenset((due[number],)) if self.exchanged else None)

    def _subtasks_of(self, rows: pl.DataFrame | None) -> frozenset[int] | None:
        """Whose rows they are; None where one task has all."""
        if not self.exchanged:
            return None
        return frozenset() if rows is None else self.groups.of(rows)

    def run(
        self, rows: pl.DataFrame | None, moment: Moment, task: int, subtasks: frozenset[int] | None
    ) -> Iterator[Any]:
        """The same of a moment. `task`: its number, of those that read. `subtasks`: whose rows it has, and which it
        wakes; None: all.
        """
        seen = dict[int, Seen]()
        if rows is not None and SOURCE in rows.columns:
            seen.update(counted(rows))
            rows = rows.filter(pl.col(TO).is_not_null()).drop(SOURCE, REACHED, ROWS)
        waiting = self._by_member(rows)
        for source in self.reading:
            read, seen[source.number] = source.rows(task, self.tasks)
            self._hand(source.number, [read], waiting)
        work = _Work(moment, StoreCall(self.disk, moment.newest, moment.now, moment.sparse))
        leaving = list[pl.DataFrame]()
        for member in self.members:
            given = [each for each in waiting.pop(member.number, ()) if len(each)]
            due = member.due(moment) if subtasks is None else member.due(moment) & subtasks
            if not given and not due:
                continue
            mine = pl.concat(given, how="diagonal") if given else None
            with running_functions(), failing_at(member.place):
                changes = [each for each in self._changes(member, mine, due, work) if len(each)]
            self._hand(member.number, changes, waiting)
            if member.leaves:
                leaving += (each.with_columns(pl.lit(member.number, pl.Int32).alias(FROM)) for each in changes)
        if work.timers or seen:
            told = Told(work.call.finish(), work.timers, work.counters, work.call.rows(), seen)
            self.told.add({(*moment.number, self.members[0].number, task, subtasks): told})
        for frame in leaving:
            yield from plain_record_batches(frame)
        settle()

    def _hand(self, origin: int, given: list[pl.DataFrame], waiting: dict[int, list[pl.DataFrame]]) -> None:
        """Put rows of an origin to what waits for those that take them."""
        for handed in self.handed:
            if handed.origin == origin and any(map(len, given)):
                passed = _passed(pl.concat(given), handed, self._slots(handed.consumer))
                waiting.setdefault(handed.consumer, []).append(passed)

    def _slots(self, number: int) -> tuple[str, ...]:
        return next(each.slots() for each in self.members if each.number == number)

    def _by_member(self, rows: pl.DataFrame | None) -> dict[int, list[pl.DataFrame]]:
        if rows is None or rows.is_empty():
            return {}
        if len(self.members) == 1:
            return {self.members[0].number: [rows]}
        parts = rows.partition_by(TO, as_dict=True, include_key=False, maintain_order=True)
        return {int(key[0]): [part] for key, part in parts.items()}

    def _changes(
        self, member: Member, rows: pl.DataFrame | None, due: frozenset[int], work: _Work
    ) -> Iterator[pl.DataFrame]:
        step, shape = member.step, self.shape
        if not member.leaves:
            shape = replace(shape, layout=SlotLayout.of([[column.type for column in step.output]]))
        if not isinstance(step, Operator):
            assert rows is not None
            yield folded(step, rows, shape)
            return
        given = frozenset[int]() if rows is None else self.groups.of(rows)
        moment = work.moment
        watermark = watermark_behind(moment.watermark, member.behind)
        calls = SegmentContext(work.call, step, self.groups, given, watermark, moment.now, behind=member.behind)
        if rows is not None:
            changes, order = process_rows(step, rows, calls, shape)
            if changes is not None and len(changes):
                yield encoded(changes, step.output, shape, order)
            if moment.has_reached(step.uid, calls.asked):
                # All rows that come in this step have come: what gives them was woken before.
                due |= given
        woken = SegmentContext(work.call, step, self.groups, due, watermark, moment.now, behind=member.behind)
        if due:
            fired = wake(step, woken)
            if fired is not None and len(fired):
                yield encoded(fired, step.output, shape, None)
        for subtask in given | due:
            work.timers[step.uid, subtask] = _next(step.uid, subtask, moment, calls, woken)
        for name, count in (*calls.counters.items(), *woken.counters.items()):
            work.counters[f"{step.uid}__{name}"] = work.counters.get(f"{step.uid}__{name}", 0) + count


@dataclass(slots=True)
class _Work:
    """What a task has done."""

    moment: Moment
    call: StoreCall
    timers: dict[tuple[str, int], int | None] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)


def _next(uid: str, subtask: int, moment: Moment, calls: SegmentContext, woken: SegmentContext) -> int | None:
    """Its next timer: what it has asked for now or before; whoever was woken has seen all up to the watermark."""
    asked = [each.asked for each in (calls, woken) if subtask in each.subtasks and each.asked is not None]
    if subtask in woken.subtasks:
        assert moment.watermark is not None
        if not moment.chained:
            return max(min(asked), moment.watermark + 1) if asked else None
        later = [max(woken.asked, moment.watermark + 1)] if woken.asked is not None else []
        if subtask in calls.subtasks and calls.asked is not None and calls.asked > moment.watermark:
            later.append(calls.asked)
        return min(later, default=None)
    before = moment.timers.get((uid, subtask))
    return min((each for each in (before, *asked) if each is not None), default=None)


def _passed(changes: pl.DataFrame, handed: Handed, names: Sequence[str]) -> pl.DataFrame:
    """Rows of an origin as its consumer takes them, in slots of these names (see `ways.hidden_texts`)."""
    kind = pl.col(KIND)
    kinds = (kind % 4 if handed.kinds else pl.lit(0)) + 4 * handed.side + (kind & FIRED if handed.fired else 0)
    places = dict(handed.slots)
    slots = [
        pl.col(places[name]).alias(name) if name in places else pl.lit(None, SLOT_DTYPES[name[0]]).alias(name)
        for name in names
    ]
    hidden = [name for name in (SEQUENCE, MAJOR, WATERMARK) if name in changes.columns]
    passed = changes.select(kinds.cast(pl.Int8).alias(KIND), *hidden, *slots)
    for slot, missing in handed.times:
        if passed[slot].null_count():
            raise missing.error()
    if handed.keys is None:
        return passed.with_columns(pl.lit(None, pl.Int64).alias(HASH))
    keys = (passed[name].to_arrow(compat_level=pl.CompatLevel.oldest()) for name in handed.keys)
    return passed.with_columns(pl.Series(HASH, hashes(keys, len(passed)), pl.Int64))


@dataclass(frozen=True, slots=True)
class RestoreTask:
    """The body of a mapInArrow that puts rows of a savepoint into an operator's state; it gives none."""

    operator: Operator
    groups: KeyGroups
    disk: Disk
    told: Any
    """As in `HostTask`."""
    behind: int = 0
    """As in `Member`."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Rows as `Restore.rows` has them."""
        import pyarrow as pa

        given = list(batches)
        if given:
            self.run(pl.DataFrame(pa.Table.from_batches(given)), Moment.of_task())
        return iter(())

    def run(self, given: pl.DataFrame, moment: Moment) -> None:
        """The same of a moment."""
        call = StoreCall(self.disk, {}, moment.now)
        timers, uid = dict[tuple[str, int], int | None](), self.operator.uid
        for subtask, rows in self.groups.split(given).items():
            watermark = watermark_behind(moment.watermark, self.behind)
            context = SegmentContext(
                call, self.operator, self.groups, frozenset((subtask,)), watermark, moment.now, behind=self.behind
            )
            restore_rows(self.operator, rows, context)
            timers[uid, subtask] = context.asked
        told = Told(call.finish(), timers, {}, call.rows(), {})
        self.told.add({(*moment.number, uid, frozenset(subtask for _, subtask in timers)): told})
