"""A stateful operator in a task of Spark: rows of some subtasks in, changes out, state written, and the driver told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from execnodes.core.places import Place
from execnodes.engine.bodies import FrameShape, encoded, plain_record_batches, process_rows, restore_rows, wake
from execnodes.kernels.failing import failing_at
from execnodes.lowering.stream import HASH
from execnodes.state.operator import Context, Operator, State
from execnodes.user_functions.running import running_functions
from rekindle.engine.store.call import StoreCall, Written
from rekindle.engine.store.disk import Disk
from rekindle.engine.store.state_list import StateId

_SUBTASK = "rk_subtask"


@dataclass(frozen=True, slots=True)
class KeyGroups:
    """How hashes of keys are spread: a subtask takes a range of key groups, as in Flink."""

    subtasks: int
    max_parallelism: int

    def subtask(self, rk_hash: str) -> str:
        """Spark SQL of the subtask of a hash."""
        return f"CAST(pmod({rk_hash}, {self.max_parallelism}L) * {self.subtasks}L DIV {self.max_parallelism}L AS INT)"

    def split(self, rows: pl.DataFrame) -> Mapping[int, pl.DataFrame]:
        """Rows with a hash by subtask, in their order."""
        groups = np.mod(rows[HASH].to_numpy(), self.max_parallelism)
        subtasks = pl.Series(_SUBTASK, groups * self.subtasks // self.max_parallelism, dtype=pl.Int32)
        if subtasks.n_unique() == 1:
            return {int(subtasks[0]): rows}
        marked = rows.with_columns(subtasks)
        parts = marked.partition_by(_SUBTASK, as_dict=True, include_key=False, maintain_order=True)
        return {int(key[0]): part for key, part in parts.items()}


@dataclass(frozen=True, slots=True)
class Told:
    """What a task tells the driver; of several attempts one counts."""

    written: Written
    timers: Mapping[int, int | None]
    """When a subtask wants to be woken next; None if it does not. Only those that ran."""
    counters: Mapping[str, int]
    rows: Mapping[StateId, int]
    """Of the states that were opened."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What is the same for all operators of a micro-batch's step."""

    disk: Disk
    number: tuple[int, int]
    """Of the micro-batch and the step."""
    watermark: int | None
    now: int
    sparse: frozenset[str]


@dataclass(slots=True)
class SegmentContext(Context):
    """`Context` over segments, for one call of one subtask."""

    call: StoreCall
    operator: Operator
    subtask: int
    watermark: int | None
    now: int
    asked: int | None = None
    """The earliest time at which it wants to be woken."""
    counters: dict[str, int] = field(default_factory=dict)

    def state(self, name: str) -> State:
        """See Context."""
        spec = next(each for each in self.operator.states if each.name == name)
        return self.call.state(StateId(self.operator.uid, name, self.subtask), spec)

    def wake_at(self, watermark: int) -> None:
        """See Context."""
        self.asked = watermark if self.asked is None else min(watermark, self.asked)

    def count(self, metric: str, rows: int) -> None:
        """See Context."""
        self.counters[metric] = self.counters.get(metric, 0) + rows


@dataclass(frozen=True, slots=True)
class OperatorTask:
    """The body of an operator's mapInArrow."""

    operator: Operator
    place: Place | None
    """Where the SQL has it."""
    shape: FrameShape
    groups: KeyGroups
    moment: Moment
    newest: Mapping[StateId, str]
    """Of its states."""
    timers: Mapping[int, int]
    """When its subtasks want to be woken next."""
    due: frozenset[int]
    """Those that are to be woken."""
    exchanged: bool
    """Each task has the rows of one subtask, whose number is that of its partition; else one task has all."""
    told: Any
    """A Spark accumulator of dictionaries."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Rows in slots with hidden columns (see `FrameShape`) to rows of the same kind."""
        import pyarrow as pa

        # To the end: Spark throws a worker away that leaves rows.
        given, partition = list(batches), _partition()
        rows = pl.DataFrame(pa.Table.from_batches(given)) if given else None
        due = self.due & {partition} if self.exchanged else self.due
        yield from self._run(rows, due, partition)

    def woken(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The same where there are no rows: only what is to be woken runs, a subtask in each task or all in one."""
        for _ in batches:
            pass
        partition = _partition()
        due = frozenset(sorted(self.due)[partition : partition + 1]) if self.exchanged else self.due
        yield from self._run(None, due, partition)

    def _run(self, rows: pl.DataFrame | None, due: frozenset[int], partition: int) -> Iterator[Any]:
        parts = {} if rows is None or rows.is_empty() else self.groups.split(rows)
        if not parts and not due:
            return
        call = StoreCall(self.moment.disk, self.newest, self.moment.now, self.moment.sparse)
        frames, timers, counters = list[pl.DataFrame](), dict[int, int | None](), dict[str, int]()
        with running_functions(), failing_at(self.place):
            for subtask in sorted({*parts, *due}):
                context = SegmentContext(call, self.operator, subtask, self.moment.watermark, self.moment.now)
                frames += self._changes(parts.get(subtask), subtask in due, context)
                timers[subtask] = self._next(subtask, context)
                for name, count in context.counters.items():
                    counters[name] = counters.get(name, 0) + count
        told = Told(call.finish(), timers, counters, call.rows())
        self.told.add({(*self.moment.number, self.operator.uid, partition): told})
        for frame in frames:
            yield from plain_record_batches(frame)

    def _changes(self, rows: pl.DataFrame | None, is_due: bool, context: SegmentContext) -> Iterator[pl.DataFrame]:
        if rows is not None:
            changes, order = process_rows(self.operator, rows, context, self.shape)
            if changes is not None and len(changes):
                yield encoded(changes, self.operator.output, self.shape, order)
        if is_due:
            context.watermark = self.moment.watermark
            fired = wake(self.operator, context)
            if fired is not None and len(fired):
                yield encoded(fired, self.operator.output, self.shape, None)

    def _next(self, subtask: int, context: SegmentContext) -> int | None:
        """Its next timer: what it has asked for now or before; whoever was woken has seen all up to the watermark."""
        if subtask in self.due:
            assert self.moment.watermark is not None
            return None if context.asked is None else max(context.asked, self.moment.watermark + 1)
        return min((each for each in (self.timers.get(subtask), context.asked) if each is not None), default=None)


@dataclass(frozen=True, slots=True)
class RestoreTask:
    """The body of a mapInArrow that puts rows of a savepoint into an operator's state; it gives none."""

    operator: Operator
    groups: KeyGroups
    moment: Moment
    told: Any
    """As in `OperatorTask`."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Rows as `Restore.rows` has them."""
        import pyarrow as pa

        given = list(batches)
        if given:
            call = StoreCall(self.moment.disk, {}, self.moment.now)
            timers = dict[int, int | None]()
            for subtask, rows in self.groups.split(pl.DataFrame(pa.Table.from_batches(given))).items():
                context = SegmentContext(call, self.operator, subtask, self.moment.watermark, self.moment.now)
                restore_rows(self.operator, rows, context)
                timers[subtask] = context.asked
            told = Told(call.finish(), timers, {}, call.rows())
            self.told.add({(*self.moment.number, self.operator.uid, _partition()): told})
        return iter(())


def _partition() -> int:
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    return task.partitionId()
