"""`State` of one subtask over sections: what a micro-batch changes is a new section, merged with older ones or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from execnodes.lowering.stream import HASH
from execnodes.state.operator import BUCKET, StateSpec
from execnodes.state.pages.page_format import WRITTEN, layout
from rekindle.engine.store.disk import Disk
from rekindle.engine.store.merging import counted, resolve, suffix
from rekindle.engine.store.section import ADDS, REPLACES, Addresses, Section, visible
from rekindle.engine.store.segment_file import opened
from rekindle.engine.store.state_list import SectionPlace, StateList

EMPTY = StateList((), {})


@dataclass(frozen=True, slots=True)
class _Read:
    """What the last `read` has asked for and met."""

    addresses: Addresses
    met: pl.DataFrame
    """Addresses of the rows that are there, those whose time is over included."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a micro-batch leaves of a state."""

    kept: tuple[SectionPlace | Section, ...]
    """The oldest first; sections without a place are to be written."""
    rows: dict[int, int]
    """By bucket, as in a StateList."""


class SegmentState:
    """See `State` in operator.py."""

    def __init__(self, spec: StateSpec, disk: Disk, known: StateList, now: int) -> None:
        """`known`: its sections before this micro-batch; `now`: processing time in epoch ms, for the TTL."""
        self._spec, self._disk, self._now = spec, disk, now
        self._address = [BUCKET, HASH] if spec.bucketed else [HASH]
        self._places = list(known.sections)
        self._new: list[Section] = []
        """What this micro-batch has written, the oldest first."""
        self._rows = Counter(known.rows)
        self._asked: _Read | None = None
        self._changed = False

    @property
    def total_rows(self) -> int:
        """Visible rows, those whose time to live is over included until they are met."""
        return sum(self._rows.values())

    def buckets(self) -> Sequence[int]:
        """Buckets with rows, ascending."""
        return sorted(self._rows)

    def read(self, addresses: pl.DataFrame) -> pl.DataFrame:
        """Rows at the addresses; remembered for `write`."""
        asked = Addresses.of(addresses, bucketed=self._spec.bucketed)
        frames = [section.rows(self._spec, places) for section, places in visible(self._sections(), asked)]
        found = pl.concat(frames) if frames else pl.DataFrame(schema=layout(self._spec).schema)
        self._asked = _Read(asked, found.select(self._address))
        return self._alive(found)

    def write(self, rows: pl.DataFrame) -> None:
        """Put these rows in place of those at the addresses of the last read."""
        asked, self._asked = self._asked, None
        if asked is None:
            self.append(rows)
            return
        bucketed = self._spec.bucketed
        given, met = Addresses.of(rows, bucketed=bucketed), Addresses.of(asked.met, bucketed=bucketed)
        gone = met[~met.among(given)]
        if rows.is_empty() and not len(gone):
            return
        marks = np.full(len(rows), REPLACES, np.uint8)
        if not given.among(asked.addresses).all():
            own = rows.select(self._address).join(
                asked.addresses.frame().with_columns(pl.lit(True).alias("asked")),
                on=self._address, how="left", maintain_order="left",
            )  # fmt: skip
            marks[own["asked"].is_null().to_numpy()] = ADDS
        self._add(rows, marks, gone)
        self._take(counted(asked.met[BUCKET].to_numpy() if bucketed else None, np.arange(len(asked.met))))

    def append(self, rows: pl.DataFrame) -> None:
        """Add rows."""
        if not rows.is_empty():
            self._add(rows, np.full(len(rows), ADDS, np.uint8), None)

    def expire(self, until: int) -> pl.DataFrame:
        """Take out every bucket <= until."""
        due = [bucket for bucket in self._rows if bucket <= until]
        if not due:
            return pl.DataFrame(schema=self._spec.schema)
        parts = [part for each in self._sections() if len(part := each.up_to(until))]
        rows = resolve(self._spec, parts, None, bottom=True).rows
        self._places = [
            replace(each, floor=until if each.floor is None else max(until, each.floor))
            for each in self._places
            if each.last is None or each.last > until
        ]
        self._new = [left for each in self._new if len(left := each.expired(until))]
        for bucket in due:
            del self._rows[bucket]
        self._changed = True
        return self._alive(rows)

    def scan(self) -> pl.DataFrame:
        """Every row."""
        sections = [each for each in self._sections() if len(each)]
        if not sections:
            return pl.DataFrame(schema=self._spec.schema)
        return self._alive(resolve(self._spec, sections, None, bottom=True).rows)

    def changed(self, rewrite: Collection[str]) -> Changed | None:
        """What is to be kept of it; None if it is as it was. Sections in the files `rewrite` are written anew."""
        if not self._changed:
            return None
        self._settle()
        if not self.total_rows:
            return Changed((), {})
        kept = [self._section(each, every_row=True) if each.file in rewrite else each for each in self._places]
        return Changed((*kept, *self._new), dict(self._rows))

    def _settle(self) -> None:
        """Make one of what is new, and merge it with older sections where it is time."""
        if len(self._new) > 1:
            self._new = [self._merged(self._new, bottom=not self._places)]
        self._new = [each for each in self._new if len(each)]
        sizes = [*(each.rows for each in self._places), *map(len, self._new)]
        begin = suffix(sizes, self.total_rows)
        if begin < len(sizes) - 1:
            older = (self._section(each, every_row=True) for each in self._places[begin:])
            taken = [*older, *self._new]
            self._places = self._places[:begin]
            self._new = [each for each in [self._merged(taken, bottom=begin == 0)] if len(each)]

    def _merged(self, sections: Sequence[Section], *, bottom: bool) -> Section:
        resolved = resolve(self._spec, sections, self._now, bottom=bottom)
        self._take(resolved.outlived)
        return resolved.section(self._spec)

    def _sections(self) -> list[Section]:
        return [*map(self._section, self._places), *self._new]

    def _section(self, place: SectionPlace, *, every_row: bool = False) -> Section:
        section = opened(self._disk, place.file).section(place.number, every_row=every_row)
        return section if place.floor is None else section.expired(place.floor)

    def _add(self, rows: pl.DataFrame, marks: NDArray[np.uint8], gone: Addresses | None) -> None:
        if self._spec.ttl_ms:
            # Rows that do not say when they were written are written now.
            given = pl.col(WRITTEN) if WRITTEN in rows.columns else pl.lit(None, pl.Int64)
            rows = rows.with_columns(given.fill_null(self._now).alias(WRITTEN))
        section = Section.of(self._spec, rows, marks, gone)
        self._new.append(section)
        lives = np.flatnonzero(section.marks <= REPLACES)
        self._rows += counted(section.addresses.buckets, lives)
        self._changed = True

    def _take(self, rows: Counter[int]) -> None:
        """So many are not there any more."""
        self._rows.subtract(rows)
        # Without buckets that have none.
        self._rows = +self._rows

    def _alive(self, rows: pl.DataFrame) -> pl.DataFrame:
        if self._spec.ttl_ms:
            rows = rows.filter(pl.col(WRITTEN) > self._now - self._spec.ttl_ms)
        return rows.select(list(self._spec.schema))
