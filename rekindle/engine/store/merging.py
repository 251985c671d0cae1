"""Several sections as one, and which ones: sections of like size become one, so that a row is written log(rows) times.

Size-tiered merging as in log-structured merge trees (O'Neil et al. 1996); the bound on what is kept in vain is that of
RocksDB's universal compaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from execnodes.state.operator import StateSpec
from execnodes.state.pages.page_format import WRITTEN
from rekindle.engine.store.section import ADDS, GONE, REPLACES, Addresses, Section, converted

FANOUT = 4
"""So many sections of one tier become one; tiers grow by the same factor."""
_SMALLEST = 256
"""Rows of the lowest tier."""
_SPARED = 4_096
"""Rows that may be kept in vain, however few there are."""


def suffix(sizes: Sequence[int], visible: int) -> int:
    """From where on sections (the oldest first) are to become one; the number of sections if nothing is to do.

    `visible`: rows of all sections that are not hidden by newer ones.
    """
    begin, total = len(sizes), 0
    if begin > 1 and sum(sizes) > 2 * visible + _SPARED:
        return 0
    while begin:
        tier = _tier(total or sizes[-1])
        start = begin
        while start and _tier(sizes[start - 1]) <= tier:
            start -= 1
        # What has become one counts as one.
        if begin - start + (total > 0) < FANOUT:
            break
        begin, total = start, total + sum(sizes[start:begin])
    return begin


def _tier(size: int) -> int:
    tier, most = 0, _SMALLEST
    while size > most:
        tier, most = tier + 1, most * FANOUT
    return tier


@dataclass(frozen=True, slots=True)
class Resolved:
    """What several sections say together."""

    rows: pl.DataFrame
    """In today's layout, with `WRITTEN` where there is a TTL."""
    marks: NDArray[np.uint8]
    """Of each row."""
    gone: Addresses
    """Addresses of which it must still be said that they have no rows."""
    outlived: Counter[int]
    """Rows by bucket (0 where there are none) that were visible, and whose time to live was over."""

    def section(self, spec: StateSpec) -> Section:
        """As one."""
        return Section.of(spec, self.rows, self.marks, self.gone)


def resolve(spec: StateSpec, sections: Sequence[Section], now: int | None, *, bottom: bool) -> Resolved:
    """Sections (the oldest first; the last one is the newest of its state) as one.

    `now`: epoch ms, for the TTL; None leaves rows whose time is over. `bottom`: there are no older sections, so that
    nothing need be said of what is gone.
    """
    together = _Together.of(spec, sections)
    order = together.order()
    hides = np.where(together.marks != ADDS, together.ages, -1)[order]
    begins = together.begins(order)
    newest = np.maximum.reduceat(hides, begins) if len(begins) else hides
    sizes = np.diff(np.append(begins, len(order)))
    kept = (together.ages[order] >= np.repeat(newest, sizes)) & (together.marks[order] != GONE)
    outlived: Counter[int] = Counter()
    if now is not None and spec.ttl_ms:
        dead = kept & (together.written()[order] <= now - spec.ttl_ms)
        outlived = counted(together.addresses.buckets, order[dead])
        kept &= ~dead
    replaces = np.repeat(newest >= 0, sizes) | bottom
    marks = np.where(replaces[kept], REPLACES, ADDS).astype(np.uint8)
    left = np.add.reduceat(kept, begins, dtype=np.int64) if len(begins) else begins
    gone = order[begins[(left == 0) & (newest >= 0)]] if not bottom else order[:0]
    addresses = together.addresses
    ended = Addresses(addresses.hashes[gone], None if addresses.buckets is None else addresses.buckets[gone])
    return Resolved(together.rows[together.places[order[kept]]], marks, ended, outlived)


def counted(buckets: NDArray[np.int64] | None, chosen: NDArray[np.int64]) -> Counter[int]:
    """How many of the chosen places are in each bucket; all in 0 where there are none."""
    if not len(chosen):
        return Counter()
    if buckets is None:
        return Counter({0: len(chosen)})
    numbers, counts = np.unique(buckets[chosen], return_counts=True)
    return Counter(dict(zip(numbers.tolist(), counts.tolist(), strict=True)))


@dataclass(frozen=True, slots=True)
class _Together:
    """Entries of several sections, one behind the other: rows, and addresses that are gone."""

    rows: pl.DataFrame
    places: NDArray[np.int64]
    """Of each entry's row; -1 of those that are gone."""
    addresses: Addresses
    """Of each entry, in no order."""
    marks: NDArray[np.uint8]
    ages: NDArray[np.int32]
    """Numbers of sections, the newest has the highest."""

    @classmethod
    def of(cls, spec: StateSpec, sections: Sequence[Section]) -> _Together:
        frames, places, before = [], [], 0
        for section in sections:
            lives = section.marks[section.start :] != GONE
            table = section.table.slice(section.start)
            frames.append(converted(spec, table if lives.all() else table.filter(pa.array(lives))))
            places.append(np.where(lives, before + np.cumsum(lives) - 1, -1))
            before += len(frames[-1])
        counts = [len(each) for each in sections]
        hashes = np.concatenate([each.addresses.hashes[each.start :] for each in sections])
        buckets = [each.addresses.buckets[each.start :] for each in sections if each.addresses.buckets is not None]
        return cls(
            pl.concat(frames),
            np.concatenate(places),
            Addresses(hashes, np.concatenate(buckets) if spec.bucketed else None),
            np.concatenate([each.marks[each.start :] for each in sections]),
            np.repeat(np.arange(len(sections), dtype=np.int32), counts),
        )

    def order(self) -> NDArray[np.int64]:
        """By address, and at each address by age; a stable sort finds the runs that are sorted already."""
        if self.addresses.buckets is None:
            return np.argsort(self.addresses.hashes, kind="stable")
        return np.lexsort((self.addresses.hashes, self.addresses.buckets))

    def begins(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where in this order another address begins."""
        if not len(order):
            return order
        differs = np.diff(self.addresses.hashes[order]) != 0
        if self.addresses.buckets is not None:
            differs |= np.diff(self.addresses.buckets[order]) != 0
        return np.concatenate(([0], np.flatnonzero(differs) + 1))

    def written(self) -> NDArray[np.int64]:
        """When each entry's row was; the entries that are gone, in the far future."""
        if self.rows.is_empty():
            return np.full(len(self.places), 2**62)
        found = self.rows[WRITTEN].to_numpy()
        return np.where(self.places < 0, 2**62, found[self.places])
