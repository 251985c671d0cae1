"""Reading state that releases up to 1.5 kept in a map of Spark's: pages, and segments of an overlay above them.

A segment holds the newest rows of some addresses; they hide those of the same addresses in older segments and pages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from tempfile import SpooledTemporaryFile

import numpy as np
import polars as pl

from execnodes.lowering.stream import HASH
from execnodes.state.operator import StateSpec
from execnodes.state.pages.page_format import Page, decode, decode_pages, decompress, layout

DIRECTORY = -1
"""In place of a page's number: which pages there are."""
_OVERLAY = -2
"""In place of a page's number: a segment of the overlay."""
_HEAD = struct.Struct("<II")
"""Bytes of the rows, hashes without rows behind them."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """The newest rows of some addresses; for state without buckets, so that an address is a hash."""

    rows: pl.DataFrame
    """As pages hold them."""
    covered: pl.Series
    """The hashes, each once; some may have no rows any more."""

    @classmethod
    def empty(cls, spec: StateSpec) -> Overlay:
        """Over nothing."""
        return cls(pl.DataFrame(schema=layout(spec).schema), pl.Series(HASH, [], pl.Int64))

    @classmethod
    def of(cls, rows: pl.DataFrame, hashes: pl.Series) -> Overlay:
        """Rows that take the place of all others of these addresses and their own."""
        return cls(rows, pl.concat([hashes, rows[HASH]]).unique())

    def over(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Older rows, and those here in place of some."""
        return pl.concat([self.without_covered(rows), self.rows.select(rows.columns)])

    def without_covered(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Older rows that are still there."""
        return rows.filter(~pl.col(HASH).is_in(self.covered.implode()))

    def above(self, older: Overlay) -> Overlay:
        """Both as one."""
        return Overlay(self.over(older.rows), pl.concat([older.covered, self.covered]).unique())

    @classmethod
    def decode(cls, spec: StateSpec, data: bytes) -> Overlay:
        """Read a segment's bytes, in whichever layout."""
        size, gone = _HEAD.unpack_from(data)
        end = _HEAD.size + size
        rows, _ = decode(spec, [Page.decode(data[_HEAD.size : end])])
        hashes = np.frombuffer(decompress(memoryview(data)[end:], gone * 8), np.int64)
        return cls.of(rows, pl.Series(HASH, hashes))


def visible(spec: StateSpec, entries: Iterable[tuple[str, int, int, bytes]]) -> Iterator[pl.DataFrame]:
    """Rows of subtasks whose entries (subtask, page, segment, bytes) come in any order: pages, overlays above them."""
    segments: dict[str, list[tuple[int, bytes]]] = {}
    subtasks: dict[str, int] = {}
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as pages:
        for subtask, page, segment, data in entries:
            if page == _OVERLAY:
                segments.setdefault(subtask, []).append((segment, data))
            else:
                number = subtasks.setdefault(subtask, len(subtasks))
                pages.write(_HEAD.pack(number, len(data)))
                pages.write(data)
        overlays = {}
        for subtask, found in segments.items():
            overlay = Overlay.empty(spec)
            for _, data in sorted(found):
                overlay = Overlay.decode(spec, data).above(overlay)
            overlays[subtask] = overlay
            yield overlay.rows
        names = {number: subtask for subtask, number in subtasks.items()}
        pages.seek(0)
        stored = _read(pages)
        while run := list(islice(stored, _AT_ONCE)):
            by_subtask: dict[int, list[bytes]] = {}
            for number, data in run:
                by_subtask.setdefault(number, []).append(data)
            for number, of_subtask in by_subtask.items():
                rows = decode_pages(spec, of_subtask)
                above = overlays.get(names[number])
                yield rows if above is None else above.without_covered(rows)


_AT_ONCE = 512
"""Pages that are decoded together."""
_IN_MEMORY = 64 * 1024 * 1024
"""Bytes of pages that wait in memory for the overlays; more wait in a file."""


def _read(pages: SpooledTemporaryFile[bytes]) -> Iterator[tuple[int, bytes]]:
    while head := pages.read(_HEAD.size):
        number, size = _HEAD.unpack(head)
        yield number, pages.read(size)
