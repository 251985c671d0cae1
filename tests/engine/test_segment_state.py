"""State over segments against a dictionary: whatever is read, written, appended and expired, in whatever order."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.errors import StateError
from execnodes.core.types import BIGINT, STRING, decimal
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, Former, State, StateSpec
from rekindle.engine.key_groups import KeyGroups, one_of
from rekindle.engine.store import merging, section
from rekindle.engine.store.call import StoreCall
from rekindle.engine.store.disk import LocalDisk
from rekindle.engine.store.inventory import Inventory
from rekindle.engine.store.segment_file import all_files, opened, path_of
from rekindle.engine.store.snapshot import Snapshot
from rekindle.engine.store.state_list import StateId

PLAIN = StateSpec("s", (Column("k", BIGINT), Column("v", BIGINT)))
WINDOWS = StateSpec("w", (Column("k", BIGINT), Column("v", BIGINT)), bucketed=True)
ID = StateId("operator", "s", 0)


class Store:
    """A store with one state, of one subtask or several, whose micro-batches are all committed at once."""

    def __init__(self, folder: Path, spec: StateSpec = PLAIN, subtasks: int = 1) -> None:
        self.disk, self.spec, self.groups = LocalDisk(str(folder)), spec, KeyGroups(subtasks, 8)
        self.inventory = Inventory(self.disk, {})

    def batch(self, now: int = 0) -> Batch:
        return Batch(self, now)


class Batch:
    """One micro-batch of it, as a context."""

    def __init__(self, store: Store, now: int) -> None:
        self.store = store
        self.call = StoreCall(store.disk, store.inventory.newest, now, store.inventory.sparse())

    def __enter__(self) -> State:
        subtasks = range(self.store.groups.subtasks)
        states = {each: self.call.state(StateId("operator", "s", each), self.store.spec) for each in subtasks}
        return one_of(states, self.store.groups)

    def __exit__(self, *_: object) -> None:
        written = self.call.finish()
        newest = dict.fromkeys(written.states, written.file or "")
        for name in self.store.inventory.apply(newest, written.emptied):
            self.store.disk.remove(path_of(name))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_SMALLEST", 4)
    monkeypatch.setattr(merging, "_SPARED", 12)
    monkeypatch.setattr(merging, "FANOUT", 3)
    monkeypatch.setattr(section, "_FEW_BUCKETS", 2)


def spread(key: int) -> int:
    return (key * 0x9E3779B97F4A7C15 + 7) % 2**64 - 2**63


def frame(rows: list[tuple[int, int, int]], spec: StateSpec = PLAIN) -> pl.DataFrame:
    """Of (bucket, key, value)."""
    columns = {
        BUCKET: [row[0] for row in rows],
        HASH: [spread(row[1]) for row in rows],
        "k": [row[1] for row in rows],
        "v": [row[2] for row in rows],
    }
    return pl.DataFrame({name: columns[name] for name in spec.schema}, schema=spec.schema)


def tuples(rows: pl.DataFrame) -> list[tuple[int, int, int]]:
    bucket = pl.col(BUCKET) if BUCKET in rows.columns else pl.lit(0)
    return sorted(rows.select(bucket.alias("b"), "k", "v").iter_rows())


KEYS, BUCKETS = st.integers(0, 25), st.integers(0, 5)
ROWS = st.lists(st.tuples(BUCKETS, KEYS, st.integers(-9, 9)), max_size=10)
Step = tuple[str, list[tuple[int, int]], list[tuple[int, int, int]]]
STEP: st.SearchStrategy[Step] = (
    st.tuples(st.just("write"), st.lists(st.tuples(BUCKETS, KEYS), max_size=10), ROWS)
    | st.tuples(st.just("append"), st.just([]), ROWS)
    | st.tuples(st.just("expire"), st.just([]), st.lists(st.tuples(BUCKETS, KEYS, KEYS), min_size=1, max_size=1))
)
BATCHES = st.lists(st.lists(STEP, max_size=4), max_size=12)


@settings(max_examples=60, deadline=None)
@given(BATCHES, st.booleans(), st.sampled_from((1, 3)))
def test_it_is_a_dictionary_of_lists(batches: list[list[Step]], bucketed: bool, subtasks: int) -> None:
    spec = WINDOWS if bucketed else PLAIN
    model: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    everywhere = frame([(bucket, key, 0) for bucket in range(6) for key in range(26)], spec)
    with TemporaryDirectory() as folder:
        store = Store(Path(folder), spec, subtasks)
        for batch in batches:
            with store.batch() as state:
                for action, asked, given_rows in batch:
                    rows = given_rows if bucketed else [(0, key, value) for _, key, value in given_rows]
                    if action == "write":
                        addresses = {(bucket if bucketed else 0, key) for bucket, key in asked}
                        found = state.read(frame([(*address, 0) for address in addresses], spec))
                        assert tuples(found) == sorted(row for each in addresses for row in model[each])
                        inside = [row for row in rows if row[:2] in addresses]
                        state.write(frame(inside, spec))
                        for address in addresses:
                            model[address] = [row for row in inside if row[:2] == address]
                    elif action == "append":
                        state.append(frame(rows, spec))
                        for row in rows:
                            model[row[:2]].append(row)
                    elif bucketed:
                        until = rows[0][0]
                        due = [row for address, kept in model.items() if address[0] <= until for row in kept]
                        assert tuples(state.expire(until)) == sorted(due)
                        for address in [each for each in model if each[0] <= until]:
                            del model[address]
            whole = sorted(row for kept in model.values() for row in kept)
            last = store.batch()
            with last as state:
                assert tuples(state.read(everywhere)) == whole
                assert tuples(state.scan()) == whole
                assert sum(last.call.rows().values()) == len(whole)
                if bucketed:
                    assert state.buckets() == sorted({row[0] for row in whole})
            assert all_files(store.disk) == store.inventory.needed()
            if not whole:
                assert not all_files(store.disk)


def test_rows_elsewhere_are_added(store: Store) -> None:
    with store.batch() as state:
        state.append(frame([(0, 1, 1), (0, 2, 2)]))
    with store.batch() as state:
        state.read(frame([(0, 1, 0)]))
        state.write(frame([(0, 1, 5), (0, 2, 6)]))
    with store.batch() as state:
        assert tuples(state.scan()) == [(0, 1, 5), (0, 2, 2), (0, 2, 6)]


@pytest.mark.parametrize("subtasks", [1, 3])
def test_rows_are_put_in_place_of_what_was_read_last(tmp_path: Path, subtasks: int) -> None:
    store = Store(tmp_path, subtasks=subtasks)
    every = [(0, key, 1) for key in range(20)]
    with store.batch() as state:
        state.append(frame(every))
        state.read(frame(every[:10]))
        state.read(frame(every[10:11]))
        state.write(frame([(0, key, 2) for key in range(10)]))
    with store.batch() as state:
        kept = [row for row in every if row[1] != 10]
        assert tuples(state.scan()) == sorted([*kept, *((0, key, 2) for key in range(10))])


def test_addresses_that_were_read_and_not_written_stay(store: Store) -> None:
    with store.batch() as state:
        state.append(frame([(0, key, 1) for key in range(60)]))
        state.read(frame([(0, key, 0) for key in range(30)]))
        state.read(frame([(0, 59, 0)]))
        state.write(frame([(0, 59, 2)]))
    with store.batch() as state:
        assert tuples(state.scan()) == [*((0, key, 1) for key in range(59)), (0, 59, 2)]


def test_what_is_only_read_writes_nothing(store: Store) -> None:
    with store.batch() as state:
        state.append(frame([(0, 1, 1)]))
    before = all_files(store.disk)
    with store.batch() as state:
        state.read(frame([(0, 1, 0), (0, 2, 0)]))
    with store.batch() as state:
        state.read(frame([(0, 2, 0)]))
        state.write(frame([]))
    assert all_files(store.disk) == before


def test_sections_stay_few(store: Store) -> None:
    rewritten = 0
    for number in range(150):
        with store.batch() as state:
            rows = [(0, key, number) for key in range(number * 4, number * 4 + 4)]
            state.read(frame(rows))
            state.write(frame(rows))
        (name,) = store.inventory.newest.values()
        found = opened(store.disk, name).lists[ID]
        assert len(found.sections) <= 3 * 7
        rewritten += sum(each.rows for each in found.sections if each.file == name)
    assert rewritten <= 600 * 8, "each row about log(rows) times"


def test_rows_that_are_written_over_do_not_pile_up(store: Store) -> None:
    for number in range(100):
        with store.batch() as state:
            rows = [(0, key, number) for key in range(number % 5, 40, 5)]
            state.read(frame(rows))
            state.write(frame(rows))
        (name,) = store.inventory.newest.values()
        assert sum(each.rows for each in opened(store.disk, name).lists[ID].sections) <= 2 * 40 + 12 + 8


def test_files_with_little_alive_are_rewritten(store: Store) -> None:
    """Two states in one file: one changes for ever, and does not keep the file of the other."""
    ids = [StateId("operator", "s", subtask) for subtask in range(2)]
    call = StoreCall(store.disk, {}, 0)
    call.state(ids[0], PLAIN).append(frame([(0, 1, 1)]))
    call.state(ids[1], PLAIN).append(frame([(0, key, 1) for key in range(1000)]))
    written = call.finish()
    assert written.file
    store.inventory.apply(dict.fromkeys(written.states, written.file), ())
    everything = frame([(0, key, 2) for key in range(1000)])
    for _ in range(2):
        call = StoreCall(store.disk, store.inventory.newest, 0)
        call.state(ids[1], PLAIN).read(everything)
        call.state(ids[1], PLAIN).write(everything)
        later = call.finish()
        assert later.file
        store.inventory.apply(dict.fromkeys(later.states, later.file), ())
    assert written.file in store.inventory.sparse()
    call = StoreCall(store.disk, store.inventory.newest, 0, store.inventory.sparse())
    call.state(ids[0], PLAIN).append(frame([(0, 2, 2)]))
    third = call.finish()
    assert third.file
    assert store.inventory.apply(dict.fromkeys(third.states, third.file), ()) == {written.file}
    call = StoreCall(store.disk, store.inventory.newest, 0)
    assert tuples(call.state(ids[0], PLAIN).scan()) == [(0, 1, 1), (0, 2, 2)]


def test_rows_past_their_time_to_live_are_gone(tmp_path: Path) -> None:
    store = Store(tmp_path, StateSpec("s", PLAIN.columns, ttl_ms=100))
    with store.batch(1000) as state:
        state.append(frame([(0, 1, 1), (0, 2, 2)]))
    with store.batch(1050) as state:
        state.write(state.read(frame([(0, 1, 0)])))
    both = frame([(0, 1, 0), (0, 2, 0)])
    with store.batch(1099) as state:
        assert tuples(state.read(both)) == [(0, 1, 1), (0, 2, 2)]
    with store.batch(1120) as state:
        assert tuples(state.read(both)) == [(0, 1, 1)], "what was not touched does not live longer"
    for number in range(40):
        with store.batch(1150 + number) as state:
            assert tuples(state.read(both)) == []
            state.append(frame([(0, 100 + number, 1)]))
    last = store.batch(2000)
    with last:
        assert last.call.rows() == {ID: 40}, "merging has dropped the others"


def test_a_row_whose_time_is_over_hides_older_ones(tmp_path: Path) -> None:
    """Merged without the oldest section it leaves word that there is nothing."""
    store = Store(tmp_path, StateSpec("s", PLAIN.columns, ttl_ms=100))
    with store.batch(1000) as state:
        state.append(frame([(0, key, 1) for key in range(60)]).with_columns(rk_written=pl.lit(9_000, pl.Int64)))
    with store.batch(1000) as state:
        state.read(frame([(0, 1, 0)]))
        state.write(frame([(0, 1, 2)]))
    for number in range(8):
        with store.batch(2000) as state:
            state.append(frame([(0, 100 + number, 1)]))
    with store.batch(2000) as state:
        assert tuples(state.read(frame([(0, 1, 0), (0, 2, 0)]))) == [(0, 2, 1)]


def test_wide_decimals_texts_and_nulls_come_back(tmp_path: Path) -> None:
    spec = StateSpec("s", (Column("d", decimal(38, 2)), Column("t", STRING)))
    store = Store(tmp_path, spec)
    rows = pl.DataFrame({HASH: [1, 2], "d": [10**37, None], "t": ["ß😀", None]}, schema=spec.schema)
    with store.batch() as state:
        state.append(rows)
    with store.batch() as state:
        assert state.read(rows).sort(HASH).equals(rows.sort(HASH))
        assert state.scan().sort(HASH).equals(rows.sort(HASH))


def test_rows_of_an_earlier_layout_are_converted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.batch() as state:
        state.append(frame([(0, 1, 1), (0, 2, 2)]))
    with store.batch() as state:
        state.read(frame([(0, 2, 0)]))
        state.write(frame([]))
    doubled = Former(PLAIN.columns, lambda rows: rows.with_columns(w=pl.col("v") * 2))
    store.spec = dataclasses.replace(PLAIN, columns=(*PLAIN.columns, Column("w", BIGINT)), former=(doubled,))
    with store.batch() as state:
        assert state.read(frame([(0, 1, 0), (0, 2, 0)]))["w"].to_list() == [2]
        state.append(pl.DataFrame({HASH: [spread(3)], "k": [3], "v": [3], "w": [0]}))
    for number in range(20):
        with store.batch() as state:
            state.append(pl.DataFrame({HASH: [spread(9)], "k": [9], "v": [number], "w": [0]}))
    with store.batch() as state:
        found = state.scan().filter(pl.col("k") < 9).sort("k")
        assert found.select("k", "v", "w").rows() == [(1, 1, 2), (3, 3, 0)]
    store.spec = PLAIN
    with pytest.raises(StateError, match="rows of state s have layout 2, and only 1 are known"), store.batch() as state:
        state.scan()


@pytest.mark.parametrize("rows", [10, 60_000])
def test_a_damaged_section_is_told_and_not_copied(store: Store, rows: int) -> None:
    """A large one is looked at where all of it is read."""
    with store.batch() as state:
        state.append(frame([(0, key, 1) for key in range(rows)]))
    (name,) = store.inventory.newest.values()
    file = Path(store.disk.root) / path_of(name)
    content = bytearray(file.read_bytes())
    values = content.find((1).to_bytes(8, "little") * 8)
    content[values] = 7
    file.unlink()
    file.write_bytes(content)
    opened.cache_clear()

    def go_on() -> None:
        for key in range(rows, 2 * rows):
            with store.batch() as state:
                if rows == 10:
                    state.read(frame([(0, 1, 0)]))
                state.append(frame([(0, each, 1) for each in range(key, key + rows)]))

    with pytest.raises(StateError, match="a section of this file is damaged") as caught:
        go_on()
    assert str(caught.value.where).endswith(name)
    with pytest.raises(StateError, match="a section of this file is damaged"):
        list(Snapshot.of(store.disk, store.inventory.newest).frames("operator", PLAIN))


def test_jobs_whose_states_look_alike_number_their_own_layouts(tmp_path: Path) -> None:
    """A process of Python serves one job after the other."""
    first = Store(tmp_path / "one")
    doubled = Former(PLAIN.columns[:1], lambda rows: rows.with_columns(v=pl.col("k") * 2))
    later = Store(tmp_path / "two", dataclasses.replace(PLAIN, former=(doubled,)))
    for store in (first, later):
        with store.batch() as state:
            state.append(frame([(0, 1, 1)]))
    for store in (first, later):
        with store.batch() as state:
            assert tuples(state.scan()) == [(0, 1, 1)]


@pytest.mark.parametrize("damage", ["short", "foot", "index", "gone"])
def test_a_broken_file_is_told(store: Store, damage: str) -> None:
    with store.batch() as state:
        state.append(frame([(0, 1, 1)]))
    (name,) = store.inventory.newest.values()
    file = Path(store.disk.root) / path_of(name)
    content = file.read_bytes()
    file.unlink()
    opened.cache_clear()
    if damage != "gone":
        cut = {"short": content[:10], "foot": content[:-3], "index": content[:-30] + b"x" + content[-29:]}[damage]
        file.write_bytes(cut)
    message = "a segment file is missing" if damage == "gone" else "this is no whole segment file"
    with pytest.raises(StateError, match=message):
        opened(store.disk, name)
