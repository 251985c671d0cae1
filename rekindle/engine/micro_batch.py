"""A job as micro-batches: plan, run, let time pass, commit, sweep.

Nothing exists that the newest committed entry does not name. A crash anywhere before the commit runs the micro-batch
again, to the planned positions, on the state of the one before; sinks know it by its number. Rows are judged by the
watermark of the micro-batches before. What they move it to then passes in the same micro-batch: the program runs once
more without rows of sources if an operator waits for that time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from rekindle.connectors.positions import News
from rekindle.engine.log import Entry, Facts, Log, Plan, by_file, planned
from rekindle.engine.store.call import Written
from rekindle.engine.store.disk import Disk
from rekindle.engine.store.inventory import Inventory
from rekindle.engine.store.segment_file import path_of
from rekindle.engine.store.snapshot import Snapshot
from rekindle.engine.store.state_list import StateId
from rekindle.engine.watermarks import Watermarks, due_subtasks

_ROUNDS = 100
"""Times that operators may ask to be woken at a time that has passed already."""


class Source(Protocol):
    """Where rows come from."""

    def plan(self, position: Any) -> News | None:
        """How far the next micro-batch reads from a position (None: from the start); None if there is nothing new.

        Of a source that has ended, the same position, and that it has ended; it is not asked again.
        """
        ...


ReadPositions = Mapping[str, tuple[Any, Any]]
"""From where to where sources are read, by uid."""


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What a program runs."""

    number: int
    step: int
    """0 for the rows of sources, then counting each time that passes; sinks know it by number and step."""
    positions: ReadPositions
    """Of the sources that have news; none where only time passes."""
    watermark: int | None
    """By which rows are judged or, where only time passes, that has been reached; epoch ms."""
    now: int
    """Processing time, epoch ms."""
    newest: Mapping[StateId, str]
    """The file that holds each state's newest list."""
    sparse: frozenset[str]
    """Files whose sections are to be written anew."""
    timers: Mapping[tuple[str, int], int]
    """When operators (uid, subtask) want to be woken next; in step 0 nobody is woken."""
    chained: bool = True
    """Whether an operator that rows come to is woken behind them in the same step, if it waits for a time that has been
    reached. A micro-batch that a release before 2.3 began ends without, since sinks know rows by their steps.
    """
    held: frozenset[str] = frozenset()
    """Operators that are not woken in this step, since those that give them rows are first, by uid."""
    again: bool = False
    """It was planned by a driver before this one: sinks may have its rows already, and then need none of them."""
    following: Mapping[str, Callable[[], tuple[Any, Any]]] = field(default_factory=dict)
    """What the next one reads, as far as sources can tell; it may come otherwise."""

    def due(self, uid: str) -> frozenset[int]:
        """Subtasks of an operator that are to be woken."""
        if not self.step or uid in self.held:
            return frozenset()
        return due_subtasks(self.timers, uid, self.watermark)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program tells; of several attempts of a task only one counts."""

    written: tuple[Written, ...] = ()
    reached: Mapping[str, int | None] = field(default_factory=dict)
    """Where the rows of each source that gave some move it to, by uid; None if they do not. Epoch ms."""
    timers: Mapping[tuple[str, int], int | None] = field(default_factory=dict)
    """When the operator (uid, subtask) wants to be woken next; None if it does not. Only those that ran."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """What is added to counters."""


class Program(Protocol):
    """A graph as it runs."""

    @property
    def timeouts(self) -> Mapping[str, int]:
        """Sources whose rows move the watermark: after how many milliseconds of silence they are idle, 0 never."""
        ...

    def run(self, batch: MicroBatch) -> Ran:
        """Run it to its end; sinks have what it gives, under number and step, when this returns.

        What a sink has under them stays: it comes again after a crash, the same. A number lower than one that it has is
        that of a driver which is fenced off and does not know it yet: nothing of it is taken.
        """
        ...


class MicroBatches:
    """The loop of one driver."""

    def __init__(
        self,
        disk: Disk,
        sources: Mapping[str, Source],
        program: Program,
        now: Callable[[], int],
        ticks: int | None = None,
    ) -> None:
        """Take the job over. `sources` by uid; `now`: processing time, epoch ms. JobError, StateError, OSError.

        `ticks`: the watermark is the clock, which no row moves; windows end at multiples of so many milliseconds.
        """
        self._ticks = ticks
        self._disk, self._sources, self._program, self._now = disk, sources, program, now
        self._log = Log(disk)
        self._inventory = Inventory(disk, self.last.newest())
        self._inventory.sweep(self._log.found)
        self._time = Watermarks(program.timeouts, self.last.reached, self.last.ended, self.last.watermark, now())
        self._timers = self.last.due()
        self._removing = threading.Lock()
        """Held while files are removed, or looked for."""
        self._planned = planned(disk, self.last.micro_batch + 1, self.last.positions)
        self._following: dict[str, Callable[[], tuple[Any, Any]]] = {}
        self._again = self._planned is not None
        self.runs_since: int | None = None
        """Since when a micro-batch runs, epoch ms; None between them. Any thread may look."""

    @property
    def last(self) -> Entry:
        """The newest entry."""
        return self._log.last

    def restore(
        self, positions: Mapping[str, Any], watermark: int | None, run: Callable[[MicroBatch], Ran], number: int = 0
    ) -> None:
        """Begin as a savepoint was, before the first micro-batch: `run` writes its states.

        It is a micro-batch itself. Time goes on from its watermark. JobError if another driver has taken the job over.
        """
        plan = self._log.plan(positions, (), (), None, number)
        states = _States({})
        ran = run(MicroBatch(plan.micro_batch, 0, {}, watermark, self._now(), {}, frozenset(), {}))
        self._take(ran, states, {})
        self._time = Watermarks(self._program.timeouts, {}, (), watermark, self._now())
        self._commit(plan, states, watermark, {})

    def step(self) -> bool:
        """One micro-batch; False if there is nothing to do. JobError if another driver has taken the job over."""
        plan = self._plan()
        if plan is None:
            return False
        self.runs_since = self._now()
        try:
            self._run_steps(plan)
        finally:
            self.runs_since = None
        return True

    def _run_steps(self, plan: Plan) -> None:
        states, counters = _States(self._inventory.newest), dict(self.last.counters)
        if plan.positions:
            ran = self._run(plan, 0, states, self.last.watermark, counters)
            for source, reached in ran.reached.items():
                self._time.saw(source, reached, self._now())
        self._time.ended.update(plan.ended)
        self._time.tell(plan.clock)
        watermark = self._time.at(plan.idle)
        for step in range(1, _ROUNDS):
            if not self._is_due(watermark):
                break
            self._run(plan, step, states, watermark, counters)
        self._commit(plan, states, watermark, counters)

    def drain(self, waiting: Collection[str] = ()) -> None:
        """Finish what is planned; then all input has ended, and all time passes.

        `waiting`: sources that may have handed over rows, which are taken before.
        """
        while self._planned is not None:
            self.step()
        before = self.last.positions
        going_on = [uid for uid in waiting if uid not in self._time.ended]
        news = {uid: self._sources[uid].plan(before.get(uid)) for uid in going_on}
        positions = {uid: each.position for uid, each in news.items() if each is not None and not each.ended}
        self._planned = self._log.plan(positions, sorted(self._sources), (), None)
        self.step()

    def _plan(self) -> Plan | None:
        """What is to run; None if there are neither rows nor a time that somebody waits for."""
        if self._planned is not None:
            return self._planned
        before = self.last.positions
        going_on = {uid: source for uid, source in self._sources.items() if uid not in self._time.ended}
        news = {uid: source.plan(before.get(uid)) for uid, source in going_on.items()}
        found = {uid: each for uid, each in news.items() if each is not None}
        positions = {uid: each.position for uid, each in found.items() if each.position != before.get(uid)}
        ended = {uid for uid, each in found.items() if each.ended}
        now = self._now()
        idle = self._time.idle(now) - positions.keys()
        clock = None if self._ticks is None else now // self._ticks * self._ticks
        self._time.tell(clock)
        if not positions and not ended and not self._is_due(self._time.at(idle)):
            return None
        self._planned = self._log.plan(positions, sorted(ended), sorted(idle), clock)
        self._following = {uid: partial(_following, each) for uid, each in found.items() if each.then is not None}
        return self._planned

    def _run(self, plan: Plan, step: int, states: _States, watermark: int | None, counters: dict[str, int]) -> Ran:
        before, read = self.last.positions, {} if step else plan.positions
        batch = MicroBatch(
            plan.micro_batch,
            step,
            {uid: (before.get(uid), position) for uid, position in read.items()},
            watermark,
            self._now(),
            dict(states.newest),
            self._inventory.sparse(),
            dict(self._timers),
            plan.chained,
            frozenset(),
            self._again,
            {} if step else self._following,
        )
        ran = self._program.run(batch)
        self._take(ran, states, counters)
        return ran

    def _take(self, ran: Ran, states: _States, counters: dict[str, int]) -> None:
        for written in ran.written:
            states.add(written)
        for operator, due in ran.timers.items():
            self._timers.pop(operator, None)
            if due is not None:
                self._timers[operator] = due
        for name, count in ran.counters.items():
            counters[name] = counters.get(name, 0) + count

    def _is_due(self, watermark: int | None) -> bool:
        return watermark is not None and any(due <= watermark for due in self._timers.values())

    def _commit(self, plan: Plan, states: _States, watermark: int | None, counters: Mapping[str, int]) -> None:
        timers: dict[str, dict[str, int]] = {}
        for (uid, subtask), due in sorted(self._timers.items()):
            timers.setdefault(uid, {})[str(subtask)] = due
        facts = Facts(
            watermark=watermark,
            reached=dict(self._time.reached),
            ended=tuple(sorted(self._time.ended)),
            timers=timers,
            state=by_file(states.newest),
            counters=dict(counters),
        )
        self._log.commit(plan, facts)
        self._planned, self._again, self._following = None, False, {}
        with self._removing:
            unneeded = self._inventory.apply(states.changed, states.emptied)
            for name in unneeded | (states.files - self._inventory.needed()):
                self._disk.remove(path_of(name))
        self._log.tidy()

    def snapshot(self) -> tuple[Entry, Snapshot]:
        """The newest entry and its states, to be read while the job goes on; any thread may ask."""
        with self._removing:
            # Files of the entry before the one that is being committed are there until this is done.
            entry = self.last
            return entry, Snapshot.of(self._disk, entry.newest())


def _following(news: News) -> tuple[Any, Any]:
    assert news.then is not None
    return news.position, news.then()


class _States:
    """Which files hold the newest lists, while a micro-batch runs."""

    def __init__(self, newest: Mapping[StateId, str]) -> None:
        self.newest = dict(newest)
        self.changed: dict[StateId, str] = {}
        self.emptied: set[StateId] = set()
        self.files: set[str] = set()
        """All that were written."""

    def add(self, written: Written) -> None:
        """What a call has written comes to count."""
        for state_id in (*written.states, *written.emptied):
            self.newest.pop(state_id, None)
            self.changed.pop(state_id, None)
        self.emptied.update(written.emptied)
        self.emptied.difference_update(written.states)
        if written.file is not None:
            self.files.add(written.file)
            fresh = dict.fromkeys(written.states, written.file)
            self.newest |= fresh
            self.changed |= fresh
