"""Paged state against a dictionary: whatever is read, written, appended and expired, in whatever order."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.lowering import HASH
from execnodes.core.types import BIGINT, STRING, decimal
from execnodes.state import pages
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, StateSpec
from execnodes.state.pages import DIRECTORY, Address, Directory, PagedState

PLAIN = StateSpec("s", (Column("k", BIGINT), Column("v", BIGINT)))
WINDOWS = StateSpec("w", (Column("v", BIGINT),), bucketed=True)


class MemoryMap:
    """A map state in memory that refuses what Spark's would refuse."""

    def __init__(self) -> None:
        self.data: dict[Address, bytes] = {}

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


BATCHES = st.lists(st.dictionaries(st.integers(0, 60), st.none() | st.integers(-9, 9), max_size=12), max_size=12)


@settings(max_examples=60, deadline=None)
@given(BATCHES)
def test_upserts_and_deletes_equal_a_dictionary(batches: list[dict[int, int | None]]) -> None:
    store, model = MemoryMap(), dict[int, int]()
    for batch in batches:
        state = PagedState(PLAIN, store, now=0)
        old = state.read(frame(dict.fromkeys(batch, 0)))
        assert set(old["k"]) <= set(model)
        merged = dict(old.select("k", "v").iter_rows())
        assert {k: merged.get(k) for k in batch} == {k: model.get(k) for k in batch}
        for key, value in batch.items():
            for table in (merged, model):
                if value is None:
                    table.pop(key, None)
                else:
                    table[key] = value
        state.write(frame(merged))
        state.flush()
        again = PagedState(PLAIN, store, now=0)
        assert again.total_rows == len(model)
        assert dict(again.read(frame(dict.fromkeys(range(61), 0))).select("k", "v").iter_rows()) == model
    assert bool(store.data) == bool(model)


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
