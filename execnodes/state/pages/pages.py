"""Keyed state as pages: Arrow record batches of some hundred rows, addressed by (bucket, page, segment).

A page holds the rows whose key hash ends in the page's number; the number of pages of a bucket is a power of two that
grows with its rows, so that a batch costs what it touches, not what there is. Rows are appended as further segments of
a page, and a page with too many segments is written anew as one. Rows of few addresses in many pages are written above
the pages instead (see overlay.py). A directory, kept under a key of its own, knows every bucket's pages, segments and
rows, and the version by which pages are known that are still in memory (see page_cache.py).

Why these numbers: docs/decisions/0003-pages.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from execnodes.lowering.stream import HASH
from execnodes.state.operator import BUCKET, StateSpec
from execnodes.state.pages.map_client import DIRECTORY, Address, MapClient, fetch
from execnodes.state.pages.overlay import Overlay
from execnodes.state.pages.overlay_segments import OverlaySegments
from execnodes.state.pages.page_cache import VersionCache, new_version
from execnodes.state.pages.page_directory import Bucket, Directory
from execnodes.state.pages.page_format import WRITTEN, Page, decode, layout

PAGE_BYTES = 4_000
"""A page is split when pages hold twice this on average."""
MAX_SEGMENTS = 6
COVERED_PAGES = 32
COVERED_ROWS = 8
"""Addresses in at least so many pages, that hold so many rows for each, are covered by an overlay (see overlay.py)."""
SETTLED_PART = 8
"""An overlay over more than this part of the rows is written into the pages."""
_HASH_SHIFT = 20
"""The low bits of the hash choose the subtask; pages use higher ones."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What the last `read` has met."""

    addresses: pl.DataFrame
    rows: int
    """At the addresses."""
    pages: Sequence[tuple[int, int]]
    others: pl.DataFrame | None
    """Rows of the pages at other addresses; None if the pages are to be covered."""


_PAGES: VersionCache[Address, Page] = VersionCache()


class PagedState:
    """`State` (see operator.py) of one subtask over a map state."""

    def __init__(self, spec: StateSpec, client: MapClient, now: int) -> None:
        """`now`: processing time in epoch ms, for the TTL."""
        self._spec = spec
        self._client = client
        self._now = now
        self._layout = layout(spec)
        self.rows_converted = 0
        """Rows read that an earlier layout had; what is written is of today's."""
        self._address = [BUCKET, HASH] if spec.bucketed else [HASH]
        self._asked: _Read | None = None
        self._dirty = False
        found = client.get([DIRECTORY])[0]
        self._directory = Directory.decode(found) if found is not None else Directory()
        self._overlay = OverlaySegments(spec, client, self._directory.overlay)
        self._was_empty = found is None
        self._own_version = False
        _PAGES.use(self._directory.version)

    @property
    def total_rows(self) -> int:
        """Rows of this subtask."""
        return self._directory.total_rows

    def buckets(self) -> Sequence[int]:
        """Buckets with rows, ascending."""
        return sorted(self._directory.buckets)

    def read(self, addresses: pl.DataFrame) -> pl.DataFrame:
        """Rows at the addresses; remembered for `write`."""
        pages = self._pages_of(addresses)
        sparse = self._is_sparse(len(addresses), pages)
        if self._directory.overlay and not sparse:
            self._settle()
            pages = self._pages_of(addresses)
        rows = self._load(pages)
        at = self._at(rows, addresses)
        found = rows.filter(at)
        if sparse:
            found = self._seen(found, addresses)
        others = None if sparse else rows.filter(~at)
        self._asked = _Read(addresses.select(self._address), len(found), pages, others)
        return found.select(list(self._spec.schema))

    def write(self, rows: pl.DataFrame) -> None:
        """Put these rows in place of those at the addresses of the last read."""
        asked, self._asked = self._asked, None
        rows = self._stamped(rows.select(list(self._spec.schema)))
        if asked is None:
            self._replace([], rows)
        elif asked.others is None:
            self._cover(asked, rows)
        else:
            self._replace(asked.pages, pl.concat([asked.others, rows.select(asked.others.columns)]))

    def append(self, rows: pl.DataFrame) -> None:
        """Add rows as new segments."""
        if rows.is_empty():
            return
        self._settle()
        written = self._replace([], self._stamped(rows))
        self._compact({(bucket, page) for bucket, page, _ in written})

    def expire(self, until: int) -> pl.DataFrame:
        """Take out every bucket <= until."""
        due = [bucket for bucket in self._directory.buckets if bucket <= until]
        pages = self._all_pages(due)
        rows = self._load(pages)
        self._remove([address for page in pages for address in self._segments(page)])
        for bucket in due:
            del self._directory.buckets[bucket]
        self._dirty = self._dirty or bool(due)
        return rows.select(list(self._spec.schema))

    def scan(self) -> pl.DataFrame:
        """Every row of every bucket."""
        return self._load(self._all_pages(self._directory.buckets)).select(list(self._spec.schema))

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

    def _all_pages(self, buckets: Iterable[int]) -> list[tuple[int, int]]:
        return [
            (bucket, int(page))
            for bucket in buckets
            for page in np.flatnonzero(self._directory.buckets[bucket].segments)
        ]

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

    def _at(self, rows: pl.DataFrame, addresses: pl.DataFrame) -> pl.Series:
        """Whether each row is at one of the addresses."""
        if not self._spec.bucketed:
            return rows[HASH].is_in(addresses[HASH].implode())
        asked = addresses.select(*self._address, pl.lit(True).alias("asked")).unique()
        return rows.join(asked, on=self._address, how="left", maintain_order="left")["asked"].fill_null(False)

    def _load(self, pages: Iterable[tuple[int, int]]) -> pl.DataFrame:
        """What is in the pages, with the time of writing where there is a TTL."""
        version = self._directory.version
        addresses = [address for page in pages for address in self._segments(page)]
        found = {address: _PAGES.get(version, address) for address in addresses}
        absent = [address for address, page in found.items() if page is None]
        for address, data in zip(absent, fetch(self._client, absent, self._spec.name), strict=True):
            found[address] = page = Page.decode(data)
            _PAGES.put(version, address, page, page.plain.size)
        rows, converted = decode(self._spec, [page for page in found.values() if page is not None])
        self.rows_converted += converted
        return self._alive(rows)

    def _alive(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.filter(pl.col(WRITTEN) > self._now - self._spec.ttl_ms) if self._spec.ttl_ms else rows

    def _stamped(self, rows: pl.DataFrame) -> pl.DataFrame:
        """With a TTL, rows that do not say when they were written are written now."""
        if not self._spec.ttl_ms:
            return rows
        given = pl.col(WRITTEN) if WRITTEN in rows.columns else pl.lit(None, pl.Int64)
        return rows.with_columns(given.fill_null(self._now).alias(WRITTEN))

    def _is_sparse(self, asked: int, pages: Sequence[tuple[int, int]]) -> bool:
        """Whether to cover so many addresses in these pages rather than write the pages anew."""
        if self._spec.bucketed or self._spec.former or len(pages) < COVERED_PAGES:
            return False
        known = self._directory.buckets[0]
        if known.segments.max() > 1:
            return False
        return bool(known.rows[[page for _, page in pages]].sum() > asked * COVERED_ROWS)

    def _seen(self, rows: pl.DataFrame, addresses: pl.DataFrame) -> pl.DataFrame:
        """Rows of pages at the addresses as they are under the overlay."""
        if not self._directory.overlay:
            return rows
        overlay = self._overlay.read()
        above = overlay.rows.filter(self._at(overlay.rows, addresses))
        return pl.concat([overlay.without_covered(rows), self._alive(above)])

    def _cover(self, asked: _Read, rows: pl.DataFrame) -> None:
        """Write rows above the pages, or into them if too many would be covered."""
        newest = Overlay.of(rows.select(list(self._layout.schema)), asked.addresses[HASH])
        whole = newest.above(self._overlay.read())
        if len(whole.covered) * SETTLED_PART > self.total_rows:
            self._sink(whole)
            return
        self._dirty = True
        self._overlay.add(newest, whole)
        self._directory.added += len(rows) - asked.rows

    def _settle(self) -> None:
        """Write what covers pages into them."""
        if self._directory.overlay:
            self._sink(self._overlay.read())

    def _sink(self, overlay: Overlay) -> None:
        """Write an overlay, which takes in the one there is, into the pages."""
        self._overlay.clear()
        self._directory.added = 0
        pages = self._pages_of(overlay.covered.to_frame())
        self._replace(pages, overlay.over(self._load(pages)))

    def _replace(self, pages: Sequence[tuple[int, int]], rows: pl.DataFrame) -> set[Address]:
        """Put rows in place of all that is in the pages; pages to segments that were written."""
        removals = [address for page in pages for address in self._segments(page)]
        for bucket, page in pages:
            known = self._directory.buckets[bucket]
            known.segments[page] = known.rows[page] = 0
        written = self._put(rows)
        self._remove([address for address in removals if address not in written])
        for bucket in {bucket for bucket, _ in pages} | {bucket for bucket, _, _ in written}:
            self._resize(bucket)
        return written

    def _remove(self, addresses: Sequence[Address]) -> None:
        if not addresses:
            return
        self._renew()
        self._client.remove(addresses)
        for address in addresses:
            _PAGES.drop(self._directory.version, address)

    def _renew(self) -> None:
        """Pages are about to change: nobody else knows them as they will be."""
        self._dirty = True
        if not self._own_version:
            self._own_version = True
            old, self._directory.version = self._directory.version, new_version()
            _PAGES.rename(old, self._directory.version)

    def _put(self, rows: pl.DataFrame) -> set[Address]:
        """Write rows behind the segments there are; pages to segments that were written."""
        self._renew()
        if rows.is_empty():
            return set()
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
            made = Page.of(self._spec, batch.slice(start, end - start))
            items.append((address, made.encode()))
            _PAGES.put(self._directory.version, address, made, made.plain.size)
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
        self._remove([address for address in removals if address not in written])

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
            self._replace(many, self._load(many))

    def _row_bytes(self) -> int:
        return sum(_WIDTHS.get(dtype.base_type(), 8) for dtype in self._layout.stored.values())


_WIDTHS: dict[type[pl.DataType], int] = {pl.String: 40, pl.Binary: 40, pl.Decimal: 16, pl.Boolean: 1, pl.Float32: 4}
"""Bytes a value takes, about: pages are sized by rows, so that their number follows from the row count alone."""


def _page(hashes: npt.NDArray[np.int64], mask: int) -> npt.NDArray[np.int64]:
    return (hashes >> _HASH_SHIFT) & mask


def _narrow(pages: npt.NDArray[np.int64]) -> npt.NDArray[np.uint16] | npt.NDArray[np.int64]:
    """Sixteen bits where they suffice: numpy sorts those by radix."""
    return pages.astype(np.uint16) if len(pages) and pages.max() < 1 << 16 else pages
