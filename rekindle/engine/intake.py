"""A way to read the sources, and what is built for it: frames of micro-batches, of the next one ahead, and programs
that stand.

Where a source tells what comes next, the frames of the next micro-batch are built while one runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rekindle.connectors.base import SinkWriter
from rekindle.engine.frames import Frames, Ground
from rekindle.engine.inputs import Inputs
from rekindle.engine.micro_batch import MicroBatch, ReadPositions
from rekindle.engine.sources import Reader
from rekindle.engine.standing import Standing, Standings
from rekindle.engine.store.state_list import StateId
from rekindle.pipeline.hosts import Hosts, Size, hosts_of
from rekindle.pipeline.ways import Pipeline
from rekindle.spark.session import make_active


class Ahead:
    """Frames of the micro-batch that comes next, built by a thread of their own."""

    def __init__(self) -> None:
        """None yet."""
        self._frames: Frames | None = None

    def take(self, positions: ReadPositions, hosts: Hosts | None, told: Collection[str] = ()) -> Frames | None:
        """Those that read so far in this way, if they are there; others are given up."""
        frames, self._frames = self._frames, None
        alike = frames is not None and frames.hosts is hosts and frames.told == told
        if frames is None or (alike and frames.positions == positions):
            return frames
        frames.close()
        return None

    @contextmanager
    def building(self, batch: MicroBatch, build: Callable[[ReadPositions], Frames | None]) -> Iterator[None]:
        """Meanwhile those are built that follow a micro-batch, if its sources tell what they read."""
        if not batch.following:
            yield
            return
        with ThreadPoolExecutor(1) as pool:
            building = pool.submit(lambda: build({uid: then() for uid, then in batch.following.items()}))
            try:
                yield
            finally:
                # What stands in its way is told when it is that micro-batch's turn.
                self._frames = building.result() if building.exception() is None else None


class Intake:
    """Reads the sources of a program in one way."""

    def __init__(
        self,
        ground: Ground,
        pipeline: Pipeline,
        readers: Mapping[str, Reader],
        timed: Collection[str],
        writers: Sequence[SinkWriter],
    ) -> None:
        """`timed`: sources that move time, by uid."""
        self._ground, self._pipeline = ground, pipeline
        self._inputs = Inputs.of(pipeline.record, readers, timed)
        self._hosts = {size: hosts_of(pipeline, size) for size in Size}
        readings = self._inputs.readings
        shared = {number for number, each in readings.items() if each.uid in self._inputs.plain}
        self._reading = {
            size: hosts_of(pipeline, size, shared if size is Size.LARGE else readings.keys()) for size in Size
        }
        """Where tasks can read what their sources give."""
        self._standings = Standings(ground, pipeline, self._inputs, self._reading, writers)
        self._ahead = Ahead()

    def size(self, positions: ReadPositions) -> Size:
        """That of a micro-batch."""
        return self._ground.limits.size(self._inputs.size(positions))

    def is_size_known(self, positions: ReadPositions) -> bool:
        """See `Inputs`."""
        return self._inputs.is_size_known(positions)

    def reads_plainly(self, positions: ReadPositions) -> bool:
        """Whether it fails for rows of a micro-batch that are not plain."""
        return bool(positions.keys() & self._inputs.plain)

    def standing(self, batch: MicroBatch, size: Size, state_rows: Mapping[StateId, int]) -> Standing | None:
        """The program that runs a micro-batch, if one stands that can."""
        return self._standings.of(batch, size, state_rows)

    def frames(self, batch: MicroBatch, size: Size) -> tuple[Frames, Mapping[str, Any]]:
        """Those of a step, and what its tasks are told to read."""
        hosts, reads = self._hosts_of(batch.positions, size)
        ready = None if batch.step else self._ahead.take(batch.positions, hosts, reads.keys())
        return ready or self._built(batch.positions, batch.due, hosts, reads.keys()), reads

    def building_ahead(self, batch: MicroBatch) -> AbstractContextManager[None]:
        """Meanwhile frames of the next micro-batch are built, if it is known."""
        return self._ahead.building(batch, self._build_ahead)

    def close(self) -> None:
        """What was built for a micro-batch that does not come is given up."""
        self._ahead.take({}, None)

    def _hosts_of(self, positions: ReadPositions, size: Size) -> tuple[Hosts, Mapping[str, Any]]:
        hosts = self._reading[size]
        uids = {self._inputs.readings[number].uid for number in hosts.reading} | self._inputs.plain
        reads = self._inputs.told(uids, positions)
        return (self._hosts[size], {}) if reads is None else (hosts, reads)

    def _built(
        self, positions: ReadPositions, due: Callable[[str], frozenset[int]], hosts: Hosts, told: Collection[str]
    ) -> Frames:
        return Frames(self._ground, self._pipeline, self._inputs, positions, due, hosts, told)

    def _build_ahead(self, positions: ReadPositions) -> Frames | None:
        make_active(self._ground.spark)
        size = self.size(positions)
        if self._standings.expects(positions, size):
            return None
        hosts, reads = self._hosts_of(positions, size)
        return self._built(positions, lambda uid: frozenset(), hosts, reads.keys())
