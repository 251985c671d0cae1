"""The loop, the log and the store on a disk that crashes, fails and fills up, under drivers that come and go.

What a job has read decides what it must hold: after each micro-batch its states are those that a dictionary has after
the rows up to the committed position, and each window has come to the sink once, in the micro-batch that closed it.
"""

from __future__ import annotations

import secrets
from collections import Counter
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
from execnodes.state.operator import BUCKET, DRAINED, StateSpec
from rekindle.connectors.positions import News
from rekindle.engine import log as logs
from rekindle.engine.log import newest_entry
from rekindle.engine.micro_batch import MicroBatch, MicroBatches, Ran
from rekindle.engine.store import merging
from rekindle.engine.store.call import StoreCall, Written
from rekindle.engine.store.inventory import Inventory
from rekindle.engine.store.segment_file import all_files, opened
from rekindle.engine.store.state_list import StateId
from tests.engine.simulated_disk import Crash, SimulatedDisk

VALUES = StateSpec("values", (Column("v", BIGINT),))
WINDOWS = StateSpec("windows", (Column("n", BIGINT),), bucketed=True)
SUBTASKS, SIZE = 3, 4
Row = tuple[int, int, int | None]
"""Key, time since the row before, value; None deletes."""
Event = tuple[str, Sequence[Row], int, int]
"""What happens, rows that have come, attempts of each task, after how many operations it happens."""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_SMALLEST", 2)
    monkeypatch.setattr(merging, "_SPARED", 6)
    monkeypatch.setattr(merging, "FANOUT", 3)
    monkeypatch.setattr(logs, "KEPT", 3)
    monkeypatch.setattr(logs, "WHOLE", 2)


@dataclass
class World:
    """A disk, the rows that there are, the sink, and what was promised."""

    disk: SimulatedDisk
    rows: list[tuple[int, int, int | None]] = field(default_factory=list)
    """Key, time, value."""
    ended: bool = False
    sink: dict[tuple[int, int], list[tuple[int, int, int]]] = field(default_factory=dict)
    """By micro-batch and step: windows (key, end, rows)."""
    attempts: int = 1
    committed: int = -1
    """The last micro-batch of which a driver was told that it is committed."""
    steps: int = 0

    def come(self, rows: Sequence[Row]) -> None:
        """More rows, none of them late."""
        time = self.rows[-1][1] if self.rows else 0
        for key, later, value in rows:
            time += later
            self.rows.append((key, time, value))

    def plan(self, position: int | None) -> News | None:
        """The source reads all that there is."""
        if len(self.rows) == (position or 0) and not self.ended:
            return None
        return News(len(self.rows), self.ended)


class Counts:
    """The program: newest values by key, and rows of each key in windows."""

    timeouts: Mapping[str, int] = {"source": 0}

    def __init__(self, world: World) -> None:
        self._world = world

    def run(self, batch: MicroBatch) -> Ran:
        first, last = batch.positions.get("source", (0, 0))
        rows = self._world.rows[first or 0 : last]
        written, fired = list[Written](), list[tuple[int, int, int]]()
        timers: dict[tuple[str, int], int | None] = {}
        for task in (range(2), range(2, SUBTASKS)):
            for _ in range(self._world.attempts):
                call = StoreCall(self._world.disk, batch.newest, 0, batch.sparse)
                results = [self._subtask(call, subtask, rows, batch, timers) for subtask in task]
                done = call.finish()
            written.append(done)
            fired += [each for result in results for each in result]
        sink = self._world.sink
        if batch.number >= max((number for number, _ in sink), default=0):
            assert sink.setdefault((batch.number, batch.step), fired) == fired, "it comes again as it was"
        self._world.steps += len(rows)
        return Ran(tuple(written), {"source": rows[-1][1]} if rows else {}, timers, {"rows": len(rows)})

    def _subtask(
        self,
        call: StoreCall,
        subtask: int,
        rows: Sequence[tuple[int, int, int | None]],
        batch: MicroBatch,
        timers: dict[tuple[str, int], int | None],
    ) -> list[tuple[int, int, int]]:
        own = [row for row in rows if row[0] % SUBTASKS == subtask]
        values, windows = (call.state(StateId("counts", each.name, subtask), each) for each in (VALUES, WINDOWS))
        if own:
            news = {key: value for key, _, value in own}
            values.read(frame(VALUES, {(0, key): 0 for key in news}))
            values.write(frame(VALUES, {(0, key): value for key, value in news.items() if value is not None}))
            added = Counter((_end(time), key) for key, time, _ in own)
            found = addressed(windows.read(frame(WINDOWS, added)))
            windows.write(frame(WINDOWS, {place: found.get(place, 0) + n for place, n in added.items()}))
        fired = []
        if not batch.positions and batch.watermark is not None:
            closed = addressed(windows.expire(min(batch.watermark, 2**60)))
            fired = [(key, end, n) for (end, key), n in closed.items()]
        timers["counts", subtask] = min(windows.buckets(), default=None)
        return fired


def _end(time: int) -> int:
    return time // SIZE * SIZE + SIZE


def frame(spec: StateSpec, values: Mapping[tuple[int, int], int]) -> pl.DataFrame:
    columns = {BUCKET: [each[0] for each in values], HASH: [each[1] for each in values]}
    columns[spec.columns[0].name] = list(values.values())
    return pl.DataFrame({name: columns[name] for name in spec.schema}, schema=spec.schema)


def addressed(rows: pl.DataFrame) -> dict[tuple[int, int], int]:
    bucket = pl.col(BUCKET) if BUCKET in rows.columns else pl.lit(0)
    found = {(b, h): v for b, h, v in rows.select(bucket.alias("b"), HASH, pl.nth(-1).alias("v")).iter_rows()}
    assert len(found) == len(rows), "an address twice"
    return found


def check(world: World) -> None:
    """All that the newest entry says follows from the rows up to its position."""
    entry = newest_entry(world.disk)
    assert entry is not None
    assert entry.micro_batch >= world.committed, "a committed micro-batch is lost"
    read = world.rows[: entry.positions.get("source", 0)]
    newest = {key: value for key, _, value in read}
    counts = Counter((_end(time), key) for key, time, _ in read)
    watermark = entry.watermark if entry.watermark is not None else -1
    assert watermark == (DRAINED if entry.ended else read[-1][1] if read else -1)
    call = StoreCall(world.disk, entry.newest(), 0)
    values, windows = dict[tuple[int, int], int](), dict[tuple[int, int], int]()
    for subtask in range(SUBTASKS):
        values |= addressed(call.state(StateId("counts", "values", subtask), VALUES).scan())
        windows |= addressed(call.state(StateId("counts", "windows", subtask), WINDOWS).scan())
    assert values == {(0, key): value for key, value in newest.items() if value is not None}
    assert windows == {place: n for place, n in counts.items() if place[0] > watermark}
    out = [each for (number, _), rows in world.sink.items() if number <= entry.micro_batch for each in rows]
    assert sorted(out) == sorted((key, end, n) for (end, key), n in counts.items() if end <= watermark)
    assert entry.counters.get("rows", 0) == len(read)


class Job:
    """Drivers of one job on one disk, at most one of which has a say."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.world = World(SimulatedDisk(random))
        self.driver: MicroBatches | None = None
        self._retired: list[MicroBatches] = []

    def take(self, event: Event) -> None:
        """One event; whatever befalls the machine, it goes on."""
        what, rows, self.world.attempts, after = event
        self.world.steps += 1
        self.world.come(rows)
        disk = self.world.disk
        if what == "crash":
            disk.crash_in = after
        elif what == "fail":
            disk.fail_in = after
        elif what == "full":
            disk.full = True
        try:
            if what == "second" and self.driver is not None:
                self._retired.append(self.driver)
                self.driver = None
                self._begins()
            if what == "meanwhile":
                self._meanwhile(after)
            if self._retired and self.random.random() < 0.3:
                self._awakes()
            if self.driver is None:
                self._begins()
            if what != "second" and self.driver is not None:
                self._runs(self.driver)
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

    def drain(self) -> None:
        """The input ends, and nothing befalls the machine any more."""
        disk = self.world.disk
        disk.crash_in = disk.fail_in = None
        disk.full = False
        self.world.ended, self.world.attempts = True, 1
        last = self._new()
        while last.step():
            self.world.committed = last.last.micro_batch
            if last.last.ended:
                break
        check(self.world)
        assert all_files(disk) == Inventory(disk, last.last.newest()).needed(), "nothing is left behind"
        assert len(disk.names("log")) <= 2 * logs.KEPT + 1

    def _new(self) -> MicroBatches:
        made = MicroBatches(self.world.disk, {"source": self.world}, Counts(self.world), lambda: 0)
        check(self.world)
        return made

    def _begins(self) -> None:
        """A driver takes the job over, unless another one does so after it."""
        try:
            made = self._new()
        except (JobError, StateError):
            # What its entry names may be gone, if it is not the newest one any more.
            if self.driver is None:
                raise
        else:
            if self.driver is None or self.driver.last.epoch < made.last.epoch:
                self.driver = made

    def _meanwhile(self, after: int) -> None:
        """In the midst of what the driver does next, another one takes the job over, and runs some micro-batches."""
        left, batches = after, self.random.randint(0, 5)

        def between() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                self.world.disk.between = nothing
                other = self._new()
                for _ in range(batches):
                    self.world.come([(self.random.randrange(6), self.random.randrange(3), 1)])
                    self._step(other)
                self.driver = other

        self.world.disk.between = between

    def _runs(self, driver: MicroBatches) -> None:
        try:
            self._step(driver)
        except (JobError, StateError):
            # Files of one that is fenced off may be gone.
            if driver is self.driver:
                raise

    def _step(self, driver: MicroBatches) -> None:
        if driver.step():
            self.world.committed = max(self.world.committed, driver.last.micro_batch)

    def _awakes(self) -> None:
        """One that was asleep goes on, and finds that it has no say any more."""
        asleep = self.random.choice(self._retired)
        self._retired.remove(asleep)
        last = newest_entry(self.world.disk)
        assert last is not None
        if last.epoch == asleep.last.epoch:
            # Nobody has come to take the job over.
            self.driver = asleep
            return
        self.world.come([(0, 0, 1)])
        with pytest.raises((JobError, StateError, OSError)):
            asleep.step()


def nothing() -> None:
    """Nobody else is there."""


def played(events: Sequence[Event], seed: int) -> int:
    """Steps taken: rows, and what befell the machine. All chance comes from the seed."""
    random = Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_hex", lambda size: random.randbytes(size).hex())
        job = Job(random)
        for event in events:
            job.take(event)
        job.drain()
    return job.world.steps


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["run", "run", "run", "crash", "fail", "full", "second", "meanwhile"]),
        st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.none() | st.integers(0, 9)), max_size=8),
        st.integers(1, 2),
        st.integers(0, 12),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(EVENTS, st.integers(0, 2**32))
def test_nothing_is_lost_or_doubled(events: list[Event], seed: int) -> None:
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


def test_time_passes_without_rows_and_without_either_nothing_runs() -> None:
    """A source that is silent for its time-out lets windows close; nobody runs a program for nothing."""
    world, clock, ran = World(SimulatedDisk(Random(1))), [0], list[MicroBatch]()

    class Quiet:
        def plan(self, position: object) -> News | None:
            return None

    class Watched(Counts):
        def run(self, batch: MicroBatch) -> Ran:
            ran.append(batch)
            return super().run(batch)

    world.come([(0, 1, 1), (0, 9, 1)])
    program = Watched(world)
    program.timeouts = {"source": 0, "silent": 10}
    job = MicroBatches(world.disk, {"source": world, "silent": Quiet()}, program, lambda: clock[0])
    assert job.step()
    assert not job.step()
    assert [each.positions for each in ran] == [{"source": (None, 2)}]
    clock[0] = 10
    assert job.step()
    assert not job.step()
    assert [(each.number, each.step, each.watermark) for each in ran] == [(0, 0, None), (1, 1, 10)]
    assert world.sink[1, 1] == [(0, 4, 1)]
    assert job.last.watermark == 10
    assert job.last.timers == {"counts": {"0": 12}}


def test_a_micro_batch_that_fails_does_not_run_any_more() -> None:
    """Who watches a job that waits for its restart must not take it for busy."""
    world, seen = World(SimulatedDisk(Random(1))), list[int | None]()

    class Failing(Counts):
        def run(self, batch: MicroBatch) -> Ran:
            seen.append(job.runs_since)
            raise OSError("disk")

    world.come([(0, 1, 1)])
    job = MicroBatches(world.disk, {"source": world}, Failing(world), lambda: 7)
    with pytest.raises(OSError, match="disk"):
        job.step()
    assert (seen, job.runs_since) == ([7], None)
