"""A section: rows of one state of one subtask, sorted by address (bucket, hash), searched without being read whole.

Each row has a mark that says what it does to rows of its address in older sections: it adds to them, stands in their
place, or says that there are none any more. Rows of one address in one section have the same mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from execnodes.core.errors import StateError
from execnodes.lowering.stream import HASH
from execnodes.state.operator import BUCKET, StateSpec
from execnodes.state.pages.page_format import layout

MARK = "rk_mark"
"""ADDS, REPLACES or GONE; UInt8."""
ADDS, REPLACES, GONE = 0, 1, 2
_LAYOUT = b"rekindle.layout"
"""In the schema's metadata: the number of the layout in which rows were written."""
_FEW_BUCKETS = 64
"""So many are searched one after the other."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses, sorted, each once."""

    hashes: NDArray[np.int64]
    buckets: NDArray[np.int64] | None
    """None where the state has none."""

    @classmethod
    def of(cls, rows: pl.DataFrame, *, bucketed: bool) -> Addresses:
        """Those of rows in any order."""
        if not bucketed:
            # Sorting beats numpy's `unique`, which hashes.
            ordered = np.sort(rows[HASH].to_numpy())
            return cls(ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]], None)
        distinct = rows.select(BUCKET, HASH).unique().sort(BUCKET, HASH)
        return cls(distinct[HASH].to_numpy(), distinct[BUCKET].to_numpy())

    def __len__(self) -> int:
        return len(self.hashes)

    def frame(self) -> pl.DataFrame:
        """As columns."""
        buckets = {} if self.buckets is None else {BUCKET: self.buckets}
        return pl.DataFrame({**buckets, HASH: self.hashes})

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Addresses:
        return Addresses(self.hashes[chosen], None if self.buckets is None else self.buckets[chosen])

    def among(self, others: Addresses) -> NDArray[np.bool_]:
        """Which of them are there, too."""
        first, last = self.ranges_in(others)
        return last > first

    def ranges_in(self, other: Addresses, start: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each address begins and ends in others, which are sorted, too, but may repeat; not before `start`."""
        if not len(self):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        if self.buckets is None or other.buckets is None:
            first = np.searchsorted(other.hashes, self.hashes, "left")
            last = first.copy()
            met = first < len(other.hashes)
            met[met] = other.hashes[first[met]] == self.hashes[met]
            last[met] = np.searchsorted(other.hashes, self.hashes[met], "right")
        else:
            first, last = self._ranges_by_bucket(self.buckets, other.hashes, other.buckets)
        return np.maximum(first, start), np.maximum(last, start)

    def _ranges_by_bucket(
        self, own: NDArray[np.int64], hashes: NDArray[np.int64], buckets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        distinct, begins = np.unique(own, return_index=True)
        low, high = np.searchsorted(buckets, distinct, "left"), np.searchsorted(buckets, distinct, "right")
        ends = np.append(begins[1:], len(own))
        if len(distinct) <= _FEW_BUCKETS:
            first, last = np.empty(len(own), np.int64), np.empty(len(own), np.int64)
            for begin, end, lowest, highest in zip(begins, ends, low, high, strict=True):
                within, wanted = hashes[lowest:highest], self.hashes[begin:end]
                first[begin:end] = lowest + np.searchsorted(within, wanted, "left")
                last[begin:end] = lowest + np.searchsorted(within, wanted, "right")
            return first, last
        lowest, highest = np.repeat(low, ends - begins), np.repeat(high, ends - begins)
        first = _search(hashes, self.hashes, lowest, highest, right=False)
        return first, _search(hashes, self.hashes, first, highest, right=True)


def _search(
    values: NDArray[np.int64],
    wanted: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    *,
    right: bool,
) -> NDArray[np.int64]:
    """`searchsorted` of each value in a range of its own."""
    low, high = low.copy(), high.copy()
    left = np.flatnonzero(low < high)
    while len(left):
        middle = (low[left] + high[left]) >> 1
        found = values[middle]
        below = found <= wanted[left] if right else found < wanted[left]
        low[left[below]] = middle[below] + 1
        high[left[~below]] = middle[~below]
        left = left[low[left] < high[left]]
    return low


@dataclass(frozen=True)
class Section:
    """Rows in the layout that they were written in, as an Arrow table of one chunk."""

    table: pa.Table
    start: int = 0
    """Rows before it have expired."""

    @classmethod
    def of(
        cls, spec: StateSpec, rows: pl.DataFrame, marks: NDArray[np.uint8], gone: Addresses | None = None
    ) -> Section:
        """Rows of today's layout with a mark each, in any order, and addresses that have no rows any more."""
        stored = layout(spec).stored
        marked = rows.select(pl.col(name).cast(dtype) for name, dtype in stored.items()).with_columns(
            pl.Series(MARK, marks, pl.UInt8)
        )
        if gone is not None and len(gone):
            marked = pl.concat([marked, gone.frame().with_columns(pl.lit(GONE, pl.UInt8).alias(MARK))], how="diagonal")
        # Rows of one address keep their order.
        ordered = marked.sort([BUCKET, HASH] if spec.bucketed else [HASH], maintain_order=True).rechunk()
        return cls(ordered.to_arrow().cast(table_schema(spec)).combine_chunks())

    def __len__(self) -> int:
        return int(self.table.num_rows) - self.start

    @cached_property
    def addresses(self) -> Addresses:
        """Of all rows, expired ones too, with repetitions."""
        return Addresses(self._numbers(HASH), self._numbers(BUCKET) if BUCKET in self.table.column_names else None)

    @cached_property
    def marks(self) -> NDArray[np.uint8]:
        """Of all rows, expired ones too."""
        column = self.table.column(MARK)
        found: NDArray[np.uint8] = column.chunk(0).to_numpy() if len(column) else np.empty(0, np.uint8)
        return found

    def _numbers(self, name: str) -> NDArray[np.int64]:
        column = self.table.column(name)
        found: NDArray[np.int64] = column.chunk(0).to_numpy() if len(column) else np.empty(0, np.int64)
        return found

    @property
    def last(self) -> int | None:
        """Its highest bucket; None where the state has none."""
        buckets = self.addresses.buckets
        return None if buckets is None or not len(buckets) else int(buckets[-1])

    def expired(self, until: int) -> Section:
        """Without the rows of buckets <= `until`."""
        assert self.addresses.buckets is not None
        return replace(self, start=max(self.start, int(np.searchsorted(self.addresses.buckets, until, "right"))))

    def up_to(self, until: int) -> Section:
        """Only the rows of buckets <= `until`."""
        assert self.addresses.buckets is not None
        end = int(np.searchsorted(self.addresses.buckets, until, "right"))
        return Section(self.table.slice(self.start, max(0, end - self.start)))

    def rows(self, spec: StateSpec, chosen: NDArray[np.int64]) -> pl.DataFrame:
        """Rows at these places in today's layout, with `WRITTEN` if the state has a TTL; none of them may be GONE."""
        return converted(spec, self.table.take(pa.array(chosen)))


def converted(spec: StateSpec, table: pa.Table) -> pl.DataFrame:
    """Rows of a table in whichever layout as today's has them."""
    number = int((table.schema.metadata or {}).get(_LAYOUT, b"1"))
    if number > spec.number:
        raise StateError(
            f"rows of state {spec.name} have layout {number}, and only {spec.number} are known",
            hint="The job's folder is of a newer release; start from a savepoint.",
        )
    later = spec.former[number - 1 :]
    then = layout(replace(spec, columns=later[0].columns) if later else spec)
    found = pl.DataFrame(table.select(then.arrow.names))
    found = found.select(pl.col(name).cast(dtype) for name, dtype in then.schema.items())
    for former in later:
        found = former.step(found)
    return found.select(list(layout(spec).schema)) if later else found


def table_schema(spec: StateSpec) -> pa.Schema:
    """Of sections that are written today."""
    return _numbered_schema(spec, spec.number)


@lru_cache(maxsize=256)
def _numbered_schema(spec: StateSpec, number: int) -> pa.Schema:
    """Specs are equal that have other layouts behind them, and so another number."""
    marked = layout(spec).arrow.append(pa.field(MARK, pa.uint8()))
    return marked.with_metadata({_LAYOUT: str(number).encode()})


def visible(sections: Sequence[Section], addresses: Addresses) -> Iterator[tuple[Section, NDArray[np.int64]]]:
    """Rows at addresses as they are now: places in each section, the newest (last) first."""
    unsettled = addresses
    for section in reversed(sections):
        if not len(unsettled):
            return
        first, last = unsettled.ranges_in(section.addresses, section.start)
        met = last > first
        if not met.any():
            continue
        first, last = first[met], last[met]
        found = _places(first, last)
        yield section, found[section.marks[found] != GONE]
        goes_on = ~met
        goes_on[met] = section.marks[first] == ADDS
        unsettled = unsettled[goes_on]


def _places(first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers of several ranges, none of which is empty."""
    counts = last - first
    if len(counts) == counts.sum():
        return first
    before = np.cumsum(counts) - counts
    return np.repeat(first - before, counts) + np.arange(counts.sum())
