"""What a program reads: its sources, how many bytes make a micro-batch small or large, and who reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from execnodes.core.options import Configuration
from rekindle.connectors.positions import Once
from rekindle.engine.reading import Reading
from rekindle.engine.sources import Reader
from rekindle.pipeline.hosts import Size
from rekindle.pipeline.record import Record

FEW_BYTES = 128 << 10
"""Up to which all of a micro-batch is in calls of Python: Spark's own fold takes longer to build than these to run."""
_MOST_BYTES = 64 << 20
"""That one task of several reads."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of sources up to which a micro-batch is of a size (see `Size`)."""

    few: int
    small: int

    @classmethod
    def of(cls, configuration: Configuration) -> Limits:
        """Of a job."""
        return cls(FEW_BYTES, configuration.bytes("execution.micro-batch.one-task-size"))

    def size(self, size: int) -> Size:
        """That of so many bytes."""
        return Size.FEW if size <= self.few else Size.SMALL if size <= self.small else Size.LARGE


def tasks_of(size: int, subtasks: int) -> int:
    """How many read so many bytes of a large micro-batch."""
    return max(subtasks, -(-size // _MOST_BYTES))


@dataclass(frozen=True)
class Inputs:
    """What a program reads."""

    readers: Mapping[str, Reader]
    """Of tables, by the sources' uids."""
    readings: Mapping[int, Reading]
    """How calls read sources, where they can; by node id."""
    timed: Collection[str]
    """Sources that move time, by uid."""

    @classmethod
    def of(cls, record: Record, readers: Mapping[str, Reader], timed: Collection[str]) -> Inputs:
        """Those of a record."""
        readings = (
            Reading.of(number, source, readers[source.uid], timed=source.uid in timed)
            for number, source in record.sources.items()
            if source.uid in readers and not record.row_watermarks
        )
        return cls(readers, {each.number: each for each in readings if each is not None}, timed)

    @cached_property
    def plain(self) -> frozenset[str]:
        """Sources that several tasks can read, by uid."""
        return frozenset(uid for uid, each in self.readers.items() if each.plain)

    def size(self, positions: Mapping[str, tuple[Any, Any]]) -> int:
        """Bytes that a micro-batch reads, about."""
        readers = {uid: self.readers[uid] for uid in positions if uid in self.readers}
        return sum(each.positions.size(*positions[uid]) for uid, each in readers.items())

    def is_size_known(self, positions: Iterable[str]) -> bool:
        """Whether `size` says how many bytes sources read; a table that is read at once does not say its own."""
        read = (self.readers[uid].positions for uid in positions if uid in self.readers)
        return not any(isinstance(each, Once) for each in read)

    def told(self, uids: Iterable[str], positions: Mapping[str, tuple[Any, Any]]) -> Mapping[str, Any] | None:
        """What tasks are told to read of sources that have news; None if they cannot read all of it."""
        reads = dict[str, Any]()
        for uid in positions.keys() & set(uids):
            reads[uid] = self.readers[uid].told(*positions[uid])
            if reads[uid] is None:
                return None
        return reads
