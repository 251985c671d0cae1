"""Keyed state as pages: Arrow record batches of some hundred rows, addressed by (bucket, page, segment).

A page holds the rows whose key hash ends in the page's number; the number of pages of a bucket is a power of two that
grows with its rows, so that a batch costs what it touches, not what there is. Rows are appended as further segments of
a page, and a page with too many segments is written anew as one. A directory, kept under a key of its own, knows every
bucket's pages, segments and rows.

Why these numbers: docs/decisions/0003-pages.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from execnodes.core.lowering import HASH
from execnodes.state.operator import BUCKET, StateSpec
from execnodes.state.page_format import WRITTEN, decode, encode, layout

Address = tuple[int, int, int]
"""Bucket, page, segment."""
DIRECTORY: Address = (-(2**62), -1, -1)
PAGE_BYTES = 4_000
"""A page is split when pages hold twice this on average."""
MAX_SEGMENTS = 6
_HASH_SHIFT = 20
"""The low bits of the hash choose the lane; pages use higher ones."""
_BUCKET_HEAD = struct.Struct("<qi")


class MapClient(Protocol):
    """A map state of Spark's, many keys a call; values are bytes."""

    def get(self, keys: Sequence[Address]) -> list[bytes | None]:
        """Values in the order of the keys, None where there is none."""
        ...

    def put(self, items: Sequence[tuple[Address, bytes]]) -> None:
        """Write values."""
        ...

    def remove(self, keys: Sequence[Address]) -> None:
        """Remove keys that are there."""
        ...


@dataclass(slots=True)
class Bucket:
    """Pages of one bucket: `segments[p]` and `rows[p]` of page p."""

    segments: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int64]

    @property
    def mask(self) -> int:
        """Bits of the hash that choose the page."""
        return len(self.segments) - 1

    @classmethod
    def empty(cls, pages: int = 1) -> Bucket:
        """A bucket without rows."""
        return cls(np.zeros(pages, np.int32), np.zeros(pages, np.int64))


@dataclass(slots=True)
class Directory:
    """All buckets of one state of one lane."""

    buckets: dict[int, Bucket] = field(default_factory=dict)

    @property
    def total_rows(self) -> int:
        """Rows in all buckets, expired ones included until they are met."""
        return int(sum(bucket.rows.sum() for bucket in self.buckets.values()))

    def encode(self) -> bytes:
        """Bytes to keep under `DIRECTORY`: per bucket its number, page count, segments and rows."""
        parts = []
        for number, bucket in self.buckets.items():
            parts += [_BUCKET_HEAD.pack(number, len(bucket.segments)), bucket.segments.tobytes(), bucket.rows.tobytes()]
        return b"".join(parts)

    @classmethod
    def decode(cls, data: bytes) -> Directory:
        """Read what `encode` wrote."""
        directory, at = cls(), 0
        while at < len(data):
            number, pages = _BUCKET_HEAD.unpack_from(data, at)
            at += _BUCKET_HEAD.size
            segments = np.frombuffer(data, np.int32, pages, at).copy()
            at += segments.nbytes
            rows = np.frombuffer(data, np.int64, pages, at).copy()
            at += rows.nbytes
            directory.buckets[number] = Bucket(segments, rows)
        return directory


class PagedState:
    """`State` (see operator.py) of one lane over a map state."""

    def __init__(self, spec: StateSpec, client: MapClient, now: int) -> None:
        """`now`: processing time in epoch ms, for the TTL."""
        self._spec = spec
        self._client = client
        self._now = now
        self._layout = layout(spec)
        self.rows_converted = 0
        """Rows read that an earlier layout had; what is written is of today's."""
        self._address = [BUCKET, HASH] if spec.bucketed else [HASH]
        self._read_pages: set[tuple[int, int]] = set()
        self._untouched: list[pl.DataFrame] = []
        """With a TTL: rows of other keys that were read along, with the time they were written."""
        self._dirty = False
        found = client.get([DIRECTORY])[0]
        self._directory = Directory.decode(found) if found is not None else Directory()
        self._was_empty = found is None

    @property
    def total_rows(self) -> int:
        """Rows of this lane."""
        return self._directory.total_rows

    def buckets(self) -> Sequence[int]:
        """Buckets with rows, ascending."""
        return sorted(self._directory.buckets)

    def read(self, addresses: pl.DataFrame) -> pl.DataFrame:
        """Rows of the pages that hold the addresses; remembered for `write`."""
        pages = self._pages_of(addresses)
        self._read_pages.update(pages)
        rows = self._load(pages)
        if self._spec.ttl_ms:
            self._untouched.append(rows.join(addresses, on=self._address, how="anti"))
        return rows.select(list(self._spec.schema))

    def peek(self, addresses: pl.DataFrame) -> pl.DataFrame:
        """As `read`, but the pages are not to be replaced by the next `write`."""
        return self._load(self._pages_of(addresses)).select(list(self._spec.schema))

    def write(self, rows: pl.DataFrame) -> None:
        """Replace the pages read since the last write by these rows."""
        stale = self._read_pages
        self._read_pages = set()
        removals = [address for page in stale for address in self._segments(page)]
        rows = self._with_old_times(rows)
        for bucket, page in stale:
            known = self._directory.buckets[bucket]
            known.segments[page] = known.rows[page] = 0
        written = self._put(rows)
        gone = [address for address in removals if address not in written]
        self._client.remove(gone)
        for bucket in {bucket for bucket, _ in stale} | {bucket for bucket, _, _ in written}:
            self._resize(bucket)

    def append(self, rows: pl.DataFrame) -> None:
        """Add rows as new segments."""
        if rows.is_empty():
            return
        written = self._put(rows)
        for bucket in {bucket for bucket, _, _ in written}:
            self._resize(bucket)
        self._compact({(bucket, page) for bucket, page, _ in written})

    def expire(self, until: int) -> pl.DataFrame:
        """Take out every bucket <= until."""
        due = [bucket for bucket in self._directory.buckets if bucket <= until]
        pages = [
            (bucket, int(page)) for bucket in due for page in np.flatnonzero(self._directory.buckets[bucket].segments)
        ]
        rows = self._load(pages)
        self._client.remove([address for page in pages for address in self._segments(page)])
        for bucket in due:
            del self._directory.buckets[bucket]
        self._dirty = self._dirty or bool(due)
        return rows.select(list(self._spec.schema))

    def flush(self) -> None:
        """Write the directory; call once at the end of a batch."""
        if not self._dirty:
            return
        self._dirty = False
        if self._directory.buckets:
            self._client.put([(DIRECTORY, self._directory.encode())])
            self._was_empty = False
        elif not self._was_empty:
            self._client.remove([DIRECTORY])
            self._was_empty = True

    def _pages_of(self, addresses: pl.DataFrame) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for bucket, hashes in self._by_bucket(addresses):
            known = self._directory.buckets.get(bucket)
            if known is not None:
                asked = np.zeros(len(known.segments), np.bool_)
                asked[_page(hashes, known.mask)] = True
                found += [(bucket, int(page)) for page in np.flatnonzero(asked & (known.segments > 0))]
        return found

    def _by_bucket(self, rows: pl.DataFrame) -> Iterable[tuple[int, npt.NDArray[np.int64]]]:
        if not self._spec.bucketed:
            yield 0, rows[HASH].to_numpy()
            return
        for (bucket,), part in rows.select(BUCKET, HASH).group_by(BUCKET):
            yield int(str(bucket)), part[HASH].to_numpy()

    def _segments(self, page: tuple[int, int]) -> list[Address]:
        bucket, number = page
        return [(bucket, number, segment) for segment in range(int(self._directory.buckets[bucket].segments[number]))]

    def _load(self, pages: Iterable[tuple[int, int]]) -> pl.DataFrame:
        addresses = [address for page in pages for address in self._segments(page)]
        found = []
        for address, data in zip(addresses, self._client.get(addresses), strict=True):
            if data is None:
                raise RuntimeError(
                    f"page {address} of state {self._spec.name!r} is in the directory but not in the store"
                )
            found.append(data)
        rows, converted = decode(self._spec, found)
        self.rows_converted += converted
        return rows.filter(pl.col(WRITTEN) > self._now - self._spec.ttl_ms) if self._spec.ttl_ms else rows

    def _with_old_times(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of keys that were not asked for keep the time they were written; only touched ones live on."""
        if not self._untouched:
            return rows
        old = pl.concat(self._untouched)
        self._untouched = []
        names = list(self._spec.schema)
        times = old.group_by(names).agg(pl.col(WRITTEN).max())
        return rows.select(names).join(times, on=names, how="left", nulls_equal=True)

    def _put(self, rows: pl.DataFrame) -> set[Address]:
        """Write rows behind the segments there are; pages to segments that were written."""
        self._dirty = True
        if rows.is_empty():
            return set()
        if self._spec.ttl_ms:
            given = pl.col(WRITTEN) if WRITTEN in rows.columns else pl.lit(None, pl.Int64)
            rows = rows.with_columns(given.fill_null(self._now).alias(WRITTEN))
        bucket = rows[BUCKET].to_numpy() if self._spec.bucketed else np.zeros(len(rows), np.int64)
        pages = np.empty(len(rows), np.int64)
        for each in np.unique(bucket) if self._spec.bucketed else (0,):
            chosen = bucket == each
            known = self._directory.buckets.get(int(each))
            if known is None:
                known = self._directory.buckets[int(each)] = Bucket.empty(self._pages_for(int(chosen.sum())))
            pages[chosen] = _page(rows[HASH].to_numpy()[chosen], known.mask)
        order = np.lexsort((pages, bucket)) if self._spec.bucketed else np.argsort(_narrow(pages), kind="stable")
        ordered = rows[order].select(pl.col(name).cast(dtype) for name, dtype in self._layout.stored.items())
        batch = self._layout.batch(ordered)
        bucket, pages = bucket[order], pages[order]
        cuts = np.flatnonzero((np.diff(pages) != 0) | (np.diff(bucket) != 0)) + 1
        items: list[tuple[Address, bytes]] = []
        for start, end in zip(np.concatenate(([0], cuts)), np.concatenate((cuts, [len(pages)])), strict=True):
            known = self._directory.buckets[int(bucket[start])]
            page = int(pages[start])
            address = (int(bucket[start]), page, int(known.segments[page]))
            items.append((address, encode(self._spec, batch.slice(start, end - start))))
            known.segments[page] += 1
            known.rows[page] += end - start
        self._client.put(items)
        return {address for address, _ in items}

    def _resize(self, bucket: int) -> None:
        """Double the pages of a bucket until they are small enough; forget an empty bucket."""
        known = self._directory.buckets.get(bucket)
        if known is None:
            return
        total = int(known.rows.sum())
        if total == 0:
            del self._directory.buckets[bucket]
            return
        pages = self._pages_for(total, len(known.segments))
        if pages == len(known.segments):
            return
        old = [(bucket, int(page)) for page in np.flatnonzero(known.segments)]
        rows = self._load(old)
        removals = [address for page in old for address in self._segments(page)]
        self._directory.buckets[bucket] = Bucket.empty(pages)
        written = self._put(rows)
        self._client.remove([address for address in removals if address not in written])

    def _pages_for(self, rows: int, pages: int = 1) -> int:
        """How many pages a bucket of so many rows has that has `pages` now."""
        while rows * self._row_bytes() > 2 * PAGE_BYTES * pages:
            pages *= 2
        return pages

    def _compact(self, pages: set[tuple[int, int]]) -> None:
        many = [
            (bucket, page)
            for bucket, page in pages
            if bucket in self._directory.buckets
            and page < len(self._directory.buckets[bucket].segments)
            and self._directory.buckets[bucket].segments[page] > MAX_SEGMENTS
        ]
        if many:
            rows = self._load(many)
            self._read_pages, kept = set(many), self._read_pages
            self.write(rows)
            self._read_pages = kept

    def _row_bytes(self) -> int:
        return sum(_WIDTHS.get(dtype.base_type(), 8) for dtype in self._layout.stored.values())


_WIDTHS: dict[type[pl.DataType], int] = {pl.String: 40, pl.Binary: 40, pl.Decimal: 16, pl.Boolean: 1, pl.Float32: 4}
"""Bytes a value takes, about: pages are sized by rows, so that their number follows from the row count alone."""


def _page(hashes: npt.NDArray[np.int64], mask: int) -> npt.NDArray[np.int64]:
    return (hashes >> _HASH_SHIFT) & mask


def _narrow(pages: npt.NDArray[np.int64]) -> npt.NDArray[np.uint16] | npt.NDArray[np.int64]:
    """Sixteen bits where they suffice: numpy sorts those by radix."""
    return pages.astype(np.uint16) if len(pages) and pages.max() < 1 << 16 else pages
