"""The Top-N kernel against a naive model, for every strategy and whatever the cuts of the input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.changelog import RowKind
from execnodes.core.rank_spec import RankRange, RankStrategy
from execnodes.core.sort_spec import SortField, SortSpec
from execnodes.core.types import BIGINT, STRING
from execnodes.lowering.stream import KIND
from execnodes.state.kernel_types import Column
from execnodes.stream.rank.v1_kernel import TopN
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (Column("k", STRING), Column("id", BIGINT), Column("v", BIGINT), Column("n", BIGINT))
STATE = "rankState"
NUMBER = Column("rn", BIGINT.not_null())
Row = tuple[Any, ...]
Event = tuple[int, Row]
"""Kind of row, and the row."""
RANGES = [RankRange(type="Constant", start=a, end=b) for a, b in ((1, 1), (1, 2), (1, 3), (2, 3), (2, 2), (1, 0))]
VARIABLE = RankRange(type="Variable", end_index=3)
ORDERS = (
    SortSpec(fields=()),
    SortSpec(fields=(SortField(index=2),)),
    SortSpec(fields=(SortField(index=2, is_ascending=False, null_is_last=True),)),
    SortSpec(fields=(SortField(index=2, null_is_last=True), SortField(index=1, is_ascending=False))),
)


def operator(strategy: RankStrategy, ranks: RankRange, order: SortSpec, **others: Any) -> TopN:
    settings: dict[str, Any] = {"partition": (0,), "number": None, "update_before": True, "single": False, **others}
    return TopN("5_rank", STATE, COLUMNS, order=order, ranks=ranks, strategy=strategy, **settings)


def key(order: SortSpec, row: Row) -> list[Any]:
    parts: list[Any] = []
    for each in order.fields:
        value = row[each.index]
        null = (value is None) == each.null_is_last
        parts.append((null, 0 if value is None else value if each.is_ascending else -value))
    return parts


class Model:
    """Rows of each partition in the order in which they came, row by row."""

    def __init__(self, order: SortSpec, ranks: RankRange, primary: int | None = None) -> None:
        self.order, self.ranks, self.primary = order, ranks, primary
        self.rows: dict[Any, list[Row]] = {}
        self.ends: dict[Any, int] = {}

    def take(self, kind: int, row: Row) -> None:
        rows = self.rows.setdefault(row[0], [])
        self.ends.setdefault(row[0], row[3] or 0)
        if self.primary is not None:
            place = [at for at, each in enumerate(rows) if each[self.primary] == row[self.primary]]
            if place and key(self.order, rows[place[0]]) == key(self.order, row):
                rows[place[0]] = row
                return
            self.rows[row[0]] = [each for each in rows if each[self.primary] != row[self.primary]] + [row]
        elif kind % 2 == 0:
            rows.append(row)
        elif row in rows:
            rows.remove(row)

    def table(self, numbered: bool) -> Counter[Row]:
        found: Counter[Row] = Counter()
        for partition, rows in self.rows.items():
            end = self.ends[partition] if self.ranks.end is None else self.ranks.end
            ordered = sorted(rows, key=lambda row: key(self.order, row))
            for rank, row in enumerate(ordered[:end], 1):
                if rank >= self.ranks.start:
                    found[(*row, rank) if numbered else row] += 1
        return found


def apply(table: Counter[Row], changes: pl.DataFrame) -> None:
    """A changelog with -U, row by row."""
    for *row, kind in changes.drop("rk_seq").select(pl.exclude(KIND), KIND).iter_rows():
        if kind % 2 == 0:
            table[tuple(row)] += 1
            continue
        assert table[tuple(row)] > 0, f"{RowKind(kind).short} of a row that is not there: {row}"
        table[tuple(row)] -= 1
    for each in [each for each, count in table.items() if not count]:
        del table[each]


def batches_of(operator: TopN, events: Sequence[Event], cuts: Sequence[bool]) -> list[pl.DataFrame]:
    batches: list[list[Event]] = [[]]
    for event, cut in zip(events, cuts, strict=True):
        if cut:
            batches.append([])
        batches[-1].append(event)
    return [
        rows_of(operator, 0, [row for _, row in batch], [kind for kind, _ in batch], keys=operator_keys(operator))
        for batch in batches
    ]


def operator_keys(operator: TopN) -> list[int]:
    return [operator.names.index(each) for each in operator.partition]


rows = st.tuples(
    st.sampled_from(["a", "b", None]), st.integers(0, 2), st.one_of(st.none(), st.integers(0, 4)), st.integers(0, 3)
)


@st.composite
def additions(draw: st.DrawFn) -> list[Event]:
    return [(0, row) for row in draw(st.lists(rows, max_size=20))]


@st.composite
def retractions(draw: st.DrawFn) -> list[Event]:
    """Rows that come and go; now and then one is taken back that never came."""
    live: list[Row] = []
    events: list[Event] = []
    for _ in range(draw(st.integers(0, 25))):
        if draw(st.booleans()) and live:
            row = live.pop(draw(st.integers(0, len(live) - 1)))
            events.append((draw(st.sampled_from([1, 3])), row))
        else:
            row = draw(rows)
            strange = draw(st.integers(0, 9)) == 0
            events.append((3 if strange else draw(st.sampled_from([0, 2])), row))
            live += [] if strange else [row]
    return events


@st.composite
def improvements(draw: st.DrawFn) -> list[Event]:
    """Rows by id whose value only grows; a partition for each id modulo two."""
    values: dict[int, int] = {}
    events: list[Event] = []
    for _ in range(draw(st.integers(0, 25))):
        id = draw(st.integers(0, 5))
        kind = 2 if id in values else 0
        values[id] = values.get(id, 0) + draw(st.integers(0, 2))
        events.append((kind, ("ab"[id % 2], id, values[id], draw(st.integers(0, 9)))))
    return events


def check(operator: TopN, model: Model, events: Sequence[Event], cuts: Sequence[bool], numbered: bool) -> FakeContext:
    context, table = FakeContext(operator), Counter[Row]()
    left = iter(events)
    for batch in batches_of(operator, events, cuts):
        apply(table, run(operator, context, batch))
        for _ in range(len(batch)):
            model.take(*next(left))
        assert table == model.table(numbered)
    return context


def most_rows(context: FakeContext) -> int:
    """Of a partition in the state."""
    return max(Counter(context.state(STATE).frame["k"]).values(), default=0)


def cut(data: st.DataObject, events: Sequence[Event]) -> list[bool]:
    return data.draw(st.lists(st.booleans(), min_size=len(events), max_size=len(events)))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_rows_that_are_only_added(data: st.DataObject) -> None:
    ranks, order = data.draw(st.sampled_from([*RANGES, VARIABLE])), data.draw(st.sampled_from(ORDERS))
    number = data.draw(st.sampled_from([None, NUMBER]))
    top = operator(RankStrategy(type="AppendFast"), ranks, order, number=number)
    events = data.draw(additions())
    context = check(top, Model(order, ranks), events, cut(data, events), number is not None)
    assert most_rows(context) <= (3 if ranks.end is None else ranks.end)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_rows_that_are_taken_back(data: st.DataObject) -> None:
    ranks, order = data.draw(st.sampled_from([*RANGES, VARIABLE])), data.draw(st.sampled_from(ORDERS))
    number = data.draw(st.sampled_from([None, NUMBER]))
    partition = data.draw(st.sampled_from([(0,), ()])) if ranks is not VARIABLE else (0,)
    single = ranks.start == ranks.end
    top = operator(RankStrategy(type="Retract"), ranks, order, number=number, partition=partition, single=single)
    events = data.draw(retractions())
    if not partition:
        events = [(kind, ("a", *row[1:])) for kind, row in events]
    check(top, Model(order, ranks), events, cut(data, events), number is not None)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_rows_that_only_get_better(data: st.DataObject) -> None:
    ranks, order = data.draw(st.sampled_from(RANGES)), ORDERS[2]
    number = data.draw(st.sampled_from([None, NUMBER]))
    top = operator(RankStrategy(type="UpdateFast", primary_keys=(0, 1)), ranks, order, number=number)
    events = data.draw(improvements())
    context = check(top, Model(order, ranks, 1), events, cut(data, events), number is not None)
    assert most_rows(context) <= (ranks.end or 0)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_without_update_before_each_key_finds_its_row(data: st.DataObject) -> None:
    """The partition with the rank, and a key of the input, are both keys of what is given out."""
    ranks, fast = data.draw(st.sampled_from(RANGES)), data.draw(st.booleans())
    number = data.draw(st.sampled_from([None, NUMBER]))
    strategy = RankStrategy(type="UpdateFast", primary_keys=(0, 1)) if fast else RankStrategy(type="Retract")
    events = data.draw(improvements() if fast else upserts())
    cuts = cut(data, events)
    single = ranks.start == ranks.end and data.draw(st.booleans())
    top = operator(strategy, ranks, ORDERS[2], number=number, update_before=False, single=single)
    model, context = Model(ORDERS[2], ranks, 1 if fast else None), FakeContext(top)
    keys: list[tuple[int, ...]] = [(0,)] if single and not number else [(0, 1), (0, 4)] if number else [(0, 1)]
    tables: list[dict[Row, Row]] = [{} for _ in keys]
    left = iter(events)
    for batch in batches_of(top, events, cuts):
        for *row, kind in run(top, context, batch).drop("rk_seq").select(pl.exclude(KIND), KIND).iter_rows():
            assert kind != RowKind.UPDATE_BEFORE
            for columns, table in zip(keys, tables, strict=True):
                address = tuple(row[each] for each in columns)
                if kind % 2:
                    table.pop(address, None)
                else:
                    table[address] = tuple(row)
        for _ in range(len(batch)):
            model.take(*next(left))
        for table in tables:
            assert Counter(table.values()) == model.table(number is not None)


@st.composite
def upserts(draw: st.DrawFn) -> list[Event]:
    """Rows by id that change and go, with what they were before."""
    rows: dict[int, Row] = {}
    events: list[Event] = []
    for _ in range(draw(st.integers(0, 15))):
        id = draw(st.integers(0, 5))
        new = ("ab"[id % 2], id, draw(st.integers(0, 4)), 0)
        if id not in rows:
            events.append((0, new))
        elif draw(st.booleans()):
            events += [(1, rows[id]), (2, new)]
        else:
            events.append((3, rows.pop(id)))
            continue
        rows[id] = new
    return events


def test_a_row_that_cannot_come_in_is_not_written() -> None:
    top = operator(RankStrategy(type="AppendFast"), RANGES[1], ORDERS[1])
    context = FakeContext(top)
    run(top, context, rows_of(top, 0, [("a", 1, 1, 0), ("a", 2, 1, 0)], keys=[0]))
    assert top.process([rows_of(top, 0, [("a", 3, 1, 0)], keys=[0])], context) is None


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (None, [("-D", "b", 1), ("+I", "c", 5)]),
        (NUMBER, [("-U", "a", 3, 1), ("-U", "b", 1, 2), ("+U", "c", 5, 1), ("+U", "a", 3, 2)]),
    ],
)
def test_changes_of_one_row(number: Column | None, expected: list[tuple[object, ...]]) -> None:
    columns = (Column("s", STRING), Column("v", BIGINT))
    top = TopN(
        "5_rank", STATE, columns, partition=(), order=SortSpec(fields=(SortField(index=1, is_ascending=False),)),
        ranks=RANGES[1], strategy=RankStrategy(type="AppendFast"), number=number, update_before=True,
        single=False,
    )  # fmt: skip
    context = FakeContext(top)
    run(top, context, rows_of(top, 0, [("a", 3), ("b", 1)]))
    changes = run(top, context, rows_of(top, 0, [("c", 5)])).drop("rk_seq")
    found = [(RowKind(kind).short, *row) for *row, kind in changes.select(pl.exclude(KIND), KIND).iter_rows()]
    assert found == expected
