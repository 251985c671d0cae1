"""Log and store on a disk that crashes, fails and fills up, under drivers that come and go: nothing is lost or torn.

A model says what each micro-batch has changed. Whatever happens, the newest entry is that of a micro-batch that a
driver has begun to commit, and every state that it names is as the model had it after that micro-batch.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from execnodes.core.errors import JobError, StateError
from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, StateSpec
from rekindle.engine import log as logs
from rekindle.engine.log import Log, newest_entry
from rekindle.engine.store import merging
from rekindle.engine.store.call import StoreCall
from rekindle.engine.store.inventory import Inventory
from rekindle.engine.store.segment_file import all_files, opened, path_of
from rekindle.engine.store.state_list import StateId
from tests.engine.simulated_disk import Crash, SimulatedDisk

SPECS = (
    StateSpec("plain", (Column("v", BIGINT),)),
    StateSpec("windows", (Column("v", BIGINT),), bucketed=True),
)
IDS = [(StateId(uid, spec.name, subtask), spec) for uid in "ab" for spec in SPECS for subtask in range(2)]
Changes = Sequence[tuple[int, int, int, int | None]]
"""Of (state, bucket, hash, value); None deletes."""
Event = tuple[str, Changes, int, int]
"""What happens, what a micro-batch changes, its attempts, after how many operations it happens."""
Content = Mapping[StateId, Mapping[tuple[int, int], int]]
"""Values by address (bucket, hash) of each state that has any."""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_SMALLEST", 2)
    monkeypatch.setattr(merging, "_SPARED", 6)
    monkeypatch.setattr(merging, "FANOUT", 3)
    monkeypatch.setattr(logs, "KEPT", 3)


@dataclass
class World:
    """A disk, what was ever begun to be committed on it, and how many steps were taken."""

    disk: SimulatedDisk
    begun: dict[int, list[tuple[Content, int]]] = field(default_factory=lambda: {-1: [({}, 0)]})
    """By micro-batch: contents and positions that a driver has tried to commit."""
    committed: int = -1
    """The last micro-batch of which a driver was told that it is committed."""
    steps: int = 0


class Driver:
    """A driver of the job, as the engine will be: plan, run attempts of tasks, commit, sweep."""

    def __init__(self, world: World, random: Random) -> None:
        self._world, self._random, disk = world, random, world.disk
        self._log = Log(disk)
        last = self._log.last
        self._inventory = Inventory(disk, last.newest())
        self.content = check(world)
        self._inventory.sweep(self._log.found)

    @property
    def epoch(self) -> int:
        return self._log.last.epoch

    def micro_batch(self, changes: Changes, attempts: int) -> None:
        """Changes are (state, bucket, hash, value), None to delete; all but the last attempt are lost."""
        world, disk = self._world, self._world.disk
        last = self._log.last
        plan = self._log.plan({"source": last.positions.get("source", 0) + 1})
        assert plan.micro_batch == last.micro_batch + 1
        for _ in range(attempts):
            call = StoreCall(disk, self._inventory.newest, 0, self._inventory.sparse())
            content = self._apply(call, changes)
            written = call.finish()
        newest = dict(self._inventory.newest)
        for state_id in (*written.states, *written.emptied):
            newest.pop(state_id, None)
        newest |= dict.fromkeys(written.states, written.file or "")
        number = len(world.begun.setdefault(plan.micro_batch, []))
        world.begun[plan.micro_batch].append((content, plan.positions["source"]))
        try:
            self._log.commit(plan, None, newest, {})
        except JobError:
            # It was told that nothing of this is so.
            world.begun[plan.micro_batch].pop(number)
            raise
        world.committed = max(world.committed, plan.micro_batch)
        self.content = content
        fresh = dict.fromkeys(written.states, written.file or "")
        for name in self._inventory.apply(fresh, written.emptied):
            disk.remove(path_of(name))
        self._log.tidy()

    def _apply(self, call: StoreCall, changes: Changes) -> Content:
        content = {state_id: dict(of_state) for state_id, of_state in self.content.items()}
        by_state: dict[int, dict[tuple[int, int], int | None]] = {}
        for number, bucket, key, value in changes:
            place = (bucket if IDS[number][1].bucketed else 0, key)
            by_state.setdefault(number, {})[place] = value
            self._world.steps += 1
        for number, values in by_state.items():
            state_id, spec = IDS[number]
            state, model = call.state(state_id, spec), content.setdefault(state_id, {})
            found = state.read(frame(spec, dict.fromkeys(values, 0)))
            assert addressed(found) == {place: model[place] for place in values if place in model}
            if spec.bucketed and self._random.random() < 0.2:
                until = self._random.randint(0, 3)
                due = {place: value for place, value in model.items() if place[0] <= until}
                assert addressed(state.expire(until)) == due
                for place in due:
                    del model[place]
                values = {place: value for place, value in values.items() if place[0] > until}
                state.read(frame(spec, dict.fromkeys(values, 0)))
            state.write(frame(spec, {place: value for place, value in values.items() if value is not None}))
            for place, value in values.items():
                if value is None:
                    model.pop(place, None)
                else:
                    model[place] = value
        return {state_id: of_state for state_id, of_state in content.items() if of_state}


def frame(spec: StateSpec, values: Mapping[tuple[int, int], int]) -> pl.DataFrame:
    columns = {BUCKET: [each[0] for each in values], HASH: [each[1] for each in values], "v": list(values.values())}
    return pl.DataFrame({name: columns[name] for name in spec.schema}, schema=spec.schema)


def addressed(rows: pl.DataFrame) -> dict[tuple[int, int], int]:
    bucket = pl.col(BUCKET) if BUCKET in rows.columns else pl.lit(0)
    found = {(b, h): v for b, h, v in rows.select(bucket.alias("b"), HASH, "v").iter_rows()}
    assert len(found) == len(rows), "an address twice"
    return found


def check(world: World) -> Content:
    """What the newest entry says is what a driver has begun to commit under its number, and no older than was told."""
    entry = newest_entry(world.disk)
    assert entry is not None
    assert entry.micro_batch >= world.committed, "a committed micro-batch is lost"
    call = StoreCall(world.disk, entry.newest(), 0)
    found = {}
    for state_id, spec in IDS:
        if state_id in entry.newest():
            found[state_id] = addressed(call.state(state_id, spec).scan())
    position = entry.positions.get("source", 0)
    assert (found, position) in world.begun[entry.micro_batch]
    return found


CHANGES = st.lists(
    st.tuples(st.integers(0, len(IDS) - 1), st.integers(0, 3), st.integers(-4, 4), st.none() | st.integers(0, 9)),
    max_size=8,
)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["run", "run", "run", "crash", "fail", "full", "second", "meanwhile"]),
        CHANGES,
        st.integers(1, 2),
        st.integers(0, 12),
    ),
    max_size=25,
)


def played(events: Sequence[Event], seed: int) -> int:
    """Steps taken: changes of state, and what befell the machine. All chance comes from the seed."""
    random = Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_hex", lambda size: random.randbytes(size).hex())
        return _played(events, random)


class Job:
    """Drivers of one job on one disk, at most one of which has a say."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.world = World(SimulatedDisk(random))
        self.driver: Driver | None = None
        self._retired: list[Driver] = []

    def take(self, event: Event) -> None:
        """One event; whatever befalls the machine, it goes on."""
        what, changes, attempts, after = event
        self.world.steps += 1
        disk = self.world.disk
        if what == "crash":
            disk.crash_in = after
        elif what == "fail":
            disk.fail_in = after
        elif what == "full":
            disk.full = True
        try:
            if what == "second" and self.driver is not None:
                self._retire()
            if what == "meanwhile":
                self._meanwhile(after, changes)
            if self._retired and self.random.random() < 0.3:
                self._awakes(changes, attempts)
            if self.driver is None:
                self._begins()
            if what != "second" and self.driver is not None:
                self._runs(self.driver, changes, attempts)
        except Crash:
            # Nobody on this machine goes on.
            self.driver = None
            self._retired.clear()
            opened.cache_clear()
            disk.restart()
        except OSError:
            # What the driver was doing is unknown to it: it begins again.
            self.driver = None
            disk.full = False
        finally:
            disk.between = nothing

    def _retire(self) -> None:
        """Another driver begins; the one there is sleeps."""
        assert self.driver is not None
        self._retired.append(self.driver)
        self.driver = None
        self._begins()

    def _begins(self) -> None:
        """A driver takes the job over, unless another one does so after it."""
        try:
            made = Driver(self.world, self.random)
        except (JobError, StateError):
            # What its entry names may be gone, if it is not the newest one any more.
            if self.driver is None:
                raise
        else:
            if self.driver is None or self.driver.epoch < made.epoch:
                self.driver = made

    def _meanwhile(self, after: int, changes: Changes) -> None:
        """In the midst of what the driver does next, another one takes the job over, and runs some micro-batches."""
        left, batches = after, self.random.randint(0, 5)

        def between() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                self.world.disk.between = nothing
                other = Driver(self.world, self.random)
                for _ in range(batches):
                    other.micro_batch(changes, 1)
                self.driver = other

        self.world.disk.between = between

    def _runs(self, driver: Driver, changes: Changes, attempts: int) -> None:
        try:
            driver.micro_batch(changes, attempts)
        except (JobError, StateError):
            # Files of one that is fenced off may be gone.
            if driver is self.driver:
                raise

    def _awakes(self, changes: Changes, attempts: int) -> None:
        """One that was asleep goes on, and finds that it has no say any more."""
        asleep = self.random.choice(self._retired)
        self._retired.remove(asleep)
        last = newest_entry(self.world.disk)
        assert last is not None
        if last.epoch == asleep.epoch:
            # Nobody has come to take the job over.
            self.driver = asleep
            return
        with pytest.raises((JobError, StateError, OSError)):
            asleep.micro_batch(changes, attempts)


def nothing() -> None:
    """Nobody else is there."""


def _played(events: Sequence[Event], random: Random) -> int:
    job = Job(random)
    for event in events:
        job.take(event)
    disk = job.world.disk
    disk.crash_in = disk.fail_in = None
    disk.full = False
    last = Driver(job.world, random)
    last.micro_batch([(0, 0, 0, 1)], 1)
    check(job.world)
    entry = newest_entry(disk)
    assert entry is not None
    assert all_files(disk) == Inventory(disk, entry.newest()).needed(), "nothing is left behind"
    return job.world.steps


@settings(max_examples=100, deadline=None)
@given(EVENTS, st.integers(0, 2**32))
def test_nothing_is_lost_or_torn(events: list[Event], seed: int) -> None:
    played(events, seed)


@pytest.mark.long
def test_a_million_steps() -> None:
    taken = 0

    @settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.lists(EVENTS, min_size=1, max_size=8).map(lambda parts: [each for part in parts for each in part]),
        st.integers(0, 2**32),
    )
    def play(events: list[Event], seed: int) -> None:
        nonlocal taken
        taken += played(events, seed)

    while taken < 1_000_000:
        play()
