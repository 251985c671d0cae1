"""Paged state against a dictionary: whatever is read, written, appended and expired, in whatever order."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.types import BIGINT, STRING, decimal
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, StateSpec
from execnodes.state.pages import overlay_segments, pages
from execnodes.state.pages.map_client import DIRECTORY, OVERLAY, Address
from execnodes.state.pages.overlay import Overlay, visible
from execnodes.state.pages.page_cache import VersionCache
from execnodes.state.pages.page_directory import Directory
from execnodes.state.pages.page_format import Page
from execnodes.state.pages.pages import PagedState

PLAIN = StateSpec("s", (Column("k", BIGINT), Column("v", BIGINT)))
WINDOWS = StateSpec("w", (Column("v", BIGINT),), bucketed=True)


class MemoryMap:
    """A map state in memory that refuses what Spark's would refuse."""

    def __init__(self, data: Mapping[Address, bytes] | None = None) -> None:
        self.data = dict(data or {})

    def get(self, keys: Sequence[Address]) -> list[bytes | None]:
        return [self.data.get(key) for key in keys]

    def put(self, items: Sequence[tuple[Address, bytes]]) -> None:
        self.data.update(items)

    def remove(self, keys: Sequence[Address]) -> None:
        for key in keys:
            del self.data[key]


def spread(key: int) -> int:
    """A hash whose page bits differ for neighbouring keys."""
    return (key * 0x9E3779B97F4A7C15 + 7) % 2**63 - 2**62


def frame(rows: dict[int, int]) -> pl.DataFrame:
    return pl.DataFrame(
        {HASH: [spread(k) for k in rows], "k": list(rows), "v": list(rows.values())}, schema=PLAIN.schema
    )


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE_BYTES", 96)
    monkeypatch.setattr(pages, "MAX_SEGMENTS", 2)
    monkeypatch.setattr(overlay_segments, "MAX_SEGMENTS", 2)


class Processes:
    """Processes that a subtask meets in turn, each with a cache of its own."""

    def __init__(self, count: int) -> None:
        self._caches = [(VersionCache[Address, Page](), VersionCache[None, Overlay]()) for _ in range(count)]

    def enter(self, number: int, patch: pytest.MonkeyPatch) -> None:
        of_pages, of_overlays = self._caches[number]
        patch.setattr(pages, "_PAGES", of_pages)
        patch.setattr(overlay_segments, "_OVERLAYS", of_overlays)


STEPS = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, 60), st.none() | st.integers(-9, 9), max_size=12),
        st.sampled_from((0, 1, 10**9)),
        st.integers(0, 1),
        st.booleans(),
    ),
    max_size=14,
)
"""Changes of a batch, how many rows an overlay must cover for each of its own, the process that runs it, and whether an
attempt of it fails before."""


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_upserts_and_deletes_equal_a_dictionary(
    batches: list[tuple[dict[int, int | None], int, int, bool]],
) -> None:
    store, model, processes = MemoryMap(), dict[int, int](), Processes(2)
    for number, (batch, rows_each, process, fails) in enumerate(batches):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pages, "COVERED_PAGES", 1)
            patch.setattr(pages, "COVERED_ROWS", rows_each)
            patch.setattr(pages, "SETTLED_PART", 2)
            if fails:
                processes.enter(1 - process, patch)
                lost = MemoryMap(store.data)
                upsert(lost, dict.fromkeys(batch, number + 100), model)
            processes.enter(process, patch)
            upsert(store, batch, model)
            for key, value in batch.items():
                if value is None:
                    model.pop(key, None)
                else:
                    model[key] = value
            again = PagedState(PLAIN, MemoryMap(store.data), now=0)
            assert again.total_rows == len(model)
            everything = frame(dict.fromkeys(range(61), 0))
            assert dict(again.read(everything).select("k", "v").iter_rows()) == model
            assert sorted(seen_from_outside(store)) == sorted(model.items())


def upsert(store: MemoryMap, batch: dict[int, int | None], model: dict[int, int]) -> None:
    state = PagedState(PLAIN, store, now=0)
    old = state.read(frame(dict.fromkeys(batch, 0)))
    merged: dict[int, int | None] = dict(old.select("k", "v").iter_rows())
    assert merged == {k: model[k] for k in batch if k in model}
    merged.update(batch)
    state.write(frame({key: value for key, value in merged.items() if value is not None}))
    state.flush()


def seen_from_outside(store: MemoryMap) -> list[tuple[int, int]]:
    entries = [
        ("subtask", page, segment, data) for (_, page, segment), data in store.data.items() if page != DIRECTORY[1]
    ]
    return [row for rows in visible(PLAIN, reversed(entries)) for row in rows.select("k", "v").iter_rows()]


def test_few_rows_over_many_pages_cover_them_until_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "COVERED_ROWS", 2)
    store = MemoryMap()
    upsert(store, dict.fromkeys(range(4000), 1), {})
    model, before = dict.fromkeys(range(4000), 1), dict(store.data)
    covered, settled = 0, 0
    for number in range(30):
        batch: dict[int, int | None] = dict.fromkeys(range(number * 40, number * 40 + 40), number)
        upsert(store, batch, model)
        model.update(dict.fromkeys(batch, number))
        changed = [address for address, data in store.data.items() if before.get(address) != data]
        if any(page == OVERLAY[1] for _, page, _ in store.data):
            covered += 1
            assert len(changed) == 2, "a segment and the directory"
        else:
            settled += 1
        before = dict(store.data)
    assert covered > 20
    assert settled >= 2
    assert dict(seen_from_outside(store)) == model


def test_addresses_that_were_read_and_not_written_stay() -> None:
    store = MemoryMap()
    state = PagedState(PLAIN, store, now=0)
    state.append(frame(dict.fromkeys(range(60), 1)))
    state.read(frame(dict.fromkeys(range(30), 0)))
    state.read(frame({59: 0}))
    state.write(frame({59: 2}))
    found = dict(state.read(frame(dict.fromkeys(range(60), 0))).select("k", "v").iter_rows())
    assert found == {**dict.fromkeys(range(59), 1), 59: 2}


def test_rows_appended_to_covered_pages_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "COVERED_PAGES", 1)
    monkeypatch.setattr(pages, "COVERED_ROWS", 1)
    store = MemoryMap()
    upsert(store, dict.fromkeys(range(60), 1), {})
    upsert(store, {3: None, 4: 2}, dict.fromkeys(range(60), 1))
    state = PagedState(PLAIN, store, now=0)
    state.append(frame({3: 7, 4: 8}))
    found = state.read(frame({3: 0, 4: 0})).select("k", "v").sort("k", "v").rows()
    assert found == [(3, 7), (4, 2), (4, 8)]


def test_covered_rows_live_as_long_as_they_would_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "COVERED_PAGES", 1)
    monkeypatch.setattr(pages, "COVERED_ROWS", 1)
    spec = StateSpec("s", PLAIN.columns, ttl_ms=100)
    store = MemoryMap()
    state = PagedState(spec, store, now=1000)
    state.append(frame(dict.fromkeys(range(60), 1)))
    state.flush()
    state = PagedState(spec, store, now=1050)
    state.write(state.read(frame({1: 0})))
    state.flush()
    assert any(page == OVERLAY[1] for _, page, _ in store.data)
    later = PagedState(spec, store, now=1120)
    assert later.read(frame({1: 0, 2: 0}))["k"].to_list() == [1]
    assert PagedState(spec, store, now=1150).read(frame({1: 0, 2: 0})).is_empty()


def test_a_directory_of_a_release_before_overlays_is_read() -> None:
    store = MemoryMap()
    state = PagedState(PLAIN, store, now=0)
    state.append(frame(dict.fromkeys(range(60), 1)))
    state.flush()
    known = Directory.decode(store.data[DIRECTORY]).buckets[0]
    old = struct.pack("<qi", 0, len(known.segments)) + known.segments.tobytes() + known.rows.tobytes()
    store.data[DIRECTORY] = old
    state = PagedState(PLAIN, store, now=0)
    assert state.total_rows == 60
    state.write(state.read(frame({5: 0})).with_columns(v=pl.lit(9, pl.Int64)))
    state.flush()
    again = PagedState(PLAIN, store, now=0)
    assert again.read(frame({5: 0, 6: 0})).sort("k")["v"].to_list() == [9, 1]


def test_a_cache_holds_what_fits_and_forgets_the_oldest_versions() -> None:
    cache = VersionCache[int, str](limit=10)
    cache.put(1, 1, "a", 4)
    cache.put(2, 1, "b", 4)
    cache.use(1)
    cache.put(3, 1, "c", 4)
    assert [cache.get(version, 1) for version in (1, 2, 3)] == ["a", None, "c"]
    cache.put(1, 2, "d", 6)
    assert [cache.get(1, 1), cache.get(1, 2), cache.get(3, 1)] == ["a", "d", None]
    cache.put(1, 3, "too much", 1)
    assert cache.get(1, 3) is None
    cache.rename(1, 4)
    assert [cache.get(1, 1), cache.get(4, 1)] == [None, "a"]
    cache.put(0, 1, "of an unknown version", 1)
    assert cache.get(0, 1) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 40), max_size=15), max_size=10))
def test_appended_rows_are_all_there_and_segments_stay_few(batches: list[list[int]]) -> None:
    store, model = MemoryMap(), list[tuple[int, int]]()
    for number, batch in enumerate(batches):
        state = PagedState(PLAIN, store, now=0)
        rows = pl.DataFrame(
            {HASH: [spread(k) for k in batch], "k": batch, "v": [number] * len(batch)}, schema=PLAIN.schema
        )
        state.append(rows)
        state.flush()
        model += [(key, number) for key in batch]
        again = PagedState(PLAIN, store, now=0)
        found = again.read(frame(dict.fromkeys(range(41), 0)))
        assert sorted(found.select("k", "v").iter_rows()) == sorted(model)
    known = store.get([DIRECTORY])[0]
    if known is not None:
        assert all(bucket.segments.max() <= 2 for bucket in Directory.decode(known).buckets.values())


def test_buckets_expire_by_time_and_leave_nothing_behind() -> None:
    store = MemoryMap()
    rows = pl.DataFrame(
        {BUCKET: [10, 10, 20, 30], HASH: [spread(i) for i in range(4)], "v": [1, 2, 3, 4]}, schema=WINDOWS.schema
    )
    state = PagedState(WINDOWS, store, now=0)
    state.append(rows)
    state.flush()
    state = PagedState(WINDOWS, store, now=0)
    assert state.buckets() == [10, 20, 30]
    assert sorted(state.expire(20)["v"]) == [1, 2, 3]
    assert state.buckets() == [30]
    state.flush()
    state = PagedState(WINDOWS, store, now=0)
    assert sorted(state.expire(30)["v"]) == [4]
    state.flush()
    assert store.data == {}


def test_rows_past_their_time_to_live_are_gone() -> None:
    spec = StateSpec("s", PLAIN.columns, ttl_ms=100)
    store = MemoryMap()
    state = PagedState(spec, store, now=1000)
    state.append(frame({1: 1}))
    state.flush()
    assert len(PagedState(spec, store, now=1099).read(frame({1: 0}))) == 1
    assert len(PagedState(spec, store, now=1100).read(frame({1: 0}))) == 0


def test_a_key_that_is_not_touched_does_not_live_longer() -> None:
    spec = StateSpec("s", PLAIN.columns, ttl_ms=100)
    store = MemoryMap()
    state = PagedState(spec, store, now=1000)
    state.append(frame({1: 1, 2: 2}))
    state.flush()
    state = PagedState(spec, store, now=1050)
    touched = frame({1: 0})
    state.write(state.read(touched))
    state.flush()
    later = PagedState(spec, store, now=1120)
    assert later.read(frame({1: 0, 2: 0}))["k"].to_list() == [1]


def test_wide_decimals_texts_and_nulls_come_back() -> None:
    spec = StateSpec("s", (Column("d", decimal(38, 2)), Column("t", STRING)))
    store = MemoryMap()
    rows = pl.DataFrame({HASH: [1, 2], "d": [10**37, None], "t": ["ß😀", None]}, schema=spec.schema)
    state = PagedState(spec, store, now=0)
    state.append(rows)
    state.flush()
    assert PagedState(spec, store, now=0).read(rows).sort(HASH).equals(rows.sort(HASH))
