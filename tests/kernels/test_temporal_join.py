"""Temporal joins against a naive model: rows and versions in any order and any cuts, late ones, deletions and NULLs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.changelog import RowKind
from execnodes.core.expressions import Call, InputRef
from execnodes.core.join_spec import JoinSpec
from execnodes.core.types import BIGINT, BOOLEAN, STRING, TimeKind, timestamp
from execnodes.lowering.stream import HASH, KIND
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED
from execnodes.stream.temporal_join.v1_kernel import TemporalJoinOperator
from execnodes.stream.temporal_join.v1_updates import TemporalJoinOfUpdates
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (Column("k", STRING), Column("v", BIGINT), Column("ts", timestamp(3, TimeKind.ROWTIME)))
Kind = Literal["INNER", "LEFT"]
Row = tuple[Any, ...]
Change = tuple[int, Row]
NOTHING = (None, None, None)
SMALLER = Call(
    internal_name="$<$1",
    operands=(InputRef(input_index=1, type=BIGINT), InputRef(input_index=4, type=BIGINT)),
    type=BOOLEAN,
)


def operator(
    kind: Kind,
    *,
    strict: bool = True,
    smaller: bool = False,
    newest: bool = False,
    insert_only: bool = True,
    ttl_ms: int = 0,
) -> TemporalJoinOperator:
    condition = SMALLER if smaller else None
    spec = JoinSpec(
        join_type=kind, left_keys=(0,), right_keys=(0,), filter_nulls=(strict,), non_equi_condition=condition
    )
    kernel = TemporalJoinOperator if insert_only else partial(TemporalJoinOfUpdates, given="givenState")
    return kernel(
        "5_temporal-join",
        spec,
        (COLUMNS, COLUMNS),
        tuple(Column(f"o{at}", each.type) for at, each in enumerate((*COLUMNS, *COLUMNS))),
        states=("leftState", "rightState"),
        times=(2, 2),
        newest_rows_only=newest,
        ttl_ms=ttl_ms,
    )


@dataclass
class Model:
    """Looks for each row's version among all of its key."""

    kind: Kind
    strict: bool
    smaller: bool
    newest: bool
    waiting: list[Change] = field(default_factory=list)
    versions: dict[str | None, dict[int, Change]] = field(default_factory=dict)
    """By key and time."""
    given: list[Row] = field(default_factory=list)

    def come(self, lefts: list[Change], rights: list[Change], watermark: int | None) -> list[Change]:
        said = [(kind, row) for kind, row in rights if kind != RowKind.UPDATE_BEFORE]
        for kind, row in said:
            known = self.versions.setdefault(row[0], {})
            if not self.newest or row[2] // 1000 >= max(known, default=row[2] // 1000):
                known[row[2] // 1000] = (kind, row)
        for key in {row[0] for _, row in said}:
            self.forget(key, watermark)
        late = [each for each in lefts if watermark is not None and each[1][2] // 1000 <= watermark]
        self.waiting += [each for each in lefts if each not in late]
        return self.join(net(late), watermark)

    def pass_time(self, watermark: int) -> list[Change]:
        due = [each for each in self.waiting if each[1][2] // 1000 <= watermark or watermark >= DRAINED]
        self.waiting = [each for each in self.waiting if each not in due]
        return self.join(net(due), watermark)

    def join(self, lefts: list[Change], watermark: int | None) -> list[Change]:
        found = []
        for kind, row in sorted(lefts, key=lambda each: each[0] % 2 == 0):
            before = next((each for each in self.given if each[:3] == row), None)
            version = self.find(row)
            if kind % 2 and before is not None:
                self.given.remove(before)
                found.append((kind, before))
            elif kind % 2 == 0 and (version is not None or self.kind == "LEFT"):
                self.given.append((*row, *(version or NOTHING)))
                found.append((kind, self.given[-1]))
        for key in {row[0] for kind, row in lefts if kind % 2 == 0}:
            self.forget(key, watermark)
        return found

    def find(self, row: Row) -> Row | None:
        if self.strict and row[0] is None:
            return None
        valid = {time: each for time, each in self.versions.get(row[0], {}).items() if time <= row[2] // 1000}
        if not valid:
            return None
        kind, version = valid[max(valid)]
        met = not self.smaller or (row[1] is not None and version[1] is not None and row[1] < version[1])
        return version if met and kind != RowKind.DELETE else None

    def forget(self, key: str | None, watermark: int | None) -> None:
        times = [] if watermark is None else sorted(time for time in self.versions.get(key, {}) if time <= watermark)
        for time in times[:-1]:
            del self.versions[key][time]


def net(rows: list[Change]) -> list[Change]:
    """Without rows that came and went."""
    found: list[Change] = []
    for kind, row in rows:
        against = next((each for each in found if each[1] == row and (each[0] + kind) % 2), None)
        if against is None:
            found.append((kind, row))
        else:
            found.remove(against)
    return found


def changes(kinds: list[int]) -> st.SearchStrategy[list[Change]]:
    times = st.one_of(st.integers(-30_000, 60_000), st.integers(0, 40))
    row = st.tuples(st.sampled_from(["a", "b", None]), st.one_of(st.none(), st.integers(0, 2)), times)
    micros = row.map(lambda each: (*each[:2], each[2] * 1000 + 7))
    return st.lists(st.tuples(st.sampled_from(kinds), micros), max_size=6)


ALL = [int(each) for each in RowKind]
WATERMARKS = st.one_of(st.integers(-5, 60), st.integers(-30_000, 60_000))


@settings(max_examples=200, deadline=None)
@given(
    data=st.data(), kind=st.sampled_from(["INNER", "LEFT"]), strict=st.booleans(), smaller=st.booleans(),
    newest=st.booleans(), insert_only=st.booleans(), ttl_ms=st.sampled_from([0, 1000]),
)  # fmt: skip
def test_rows_find_the_version_of_their_time(
    data: st.DataObject, kind: Kind, strict: bool, smaller: bool, newest: bool, insert_only: bool, ttl_ms: int
) -> None:
    steps = st.lists(st.tuples(changes([0] if insert_only else ALL), changes(ALL), WATERMARKS), max_size=6)
    join = operator(kind, strict=strict, smaller=smaller, newest=newest, insert_only=insert_only, ttl_ms=ttl_ms)
    model, context = Model(kind, strict, smaller, newest), FakeContext(join)
    names = [each.name for each in join.output]
    for left, right, ahead in [*data.draw(steps), ([], [], DRAINED)]:
        before = context.watermark
        watermark = ahead if before is None else max(before, ahead)
        frames = [
            rows_of(join, at, [row for _, row in rows], [kind for kind, _ in rows], keys=[0])
            for at, rows in enumerate((left, right))
        ]
        given = run(join, context, *frames, watermark=watermark)
        found = [(row[-1], row[:-1]) for row in given.select(*names, KIND).rows()]
        expected = model.come(left, right, before) + model.pass_time(watermark)
        assert sorted(found, key=str) == sorted(expected, key=str)
        assert context.state("leftState").frame.height == len(model.waiting)
        kept = context.state("rightState").frame.select("k", pl.col("ts") // 1000).rows()
        assert sorted(kept, key=str) == sorted(((k, t) for k, each in model.versions.items() for t in each), key=str)


def test_rows_are_given_in_the_order_of_their_times() -> None:
    join = operator("LEFT")
    context = FakeContext(join)
    rows = [("a", at, time * 1000) for at, time in enumerate((25_000, 5, 70, 30_000))]
    given = run(join, context, rows_of(join, 0, rows, keys=[0]), rows_of(join, 1, []), watermark=26_000)
    assert given["o1"].to_list() == [1, 2, 0]
    assert run(join, context, rows_of(join, 0, []), rows_of(join, 1, []), watermark=DRAINED)["o1"].to_list() == [3]


def test_restored_rows_are_waited_for() -> None:
    join = operator("INNER")
    first, second = FakeContext(join), FakeContext(join)
    version, row = ("a", 1, 3_000), ("a", 2, 40_000)
    run(join, first, rows_of(join, 0, [row], keys=[0]), rows_of(join, 1, [version], keys=[0]), watermark=10)
    for name in ("leftState", "rightState"):
        join.restore(name, first.state(name).frame, second)
    given = run(join, second, rows_of(join, 0, []), rows_of(join, 1, []), watermark=45)
    assert given.select("o1", "o4").rows() == [(2, 1)]


def test_a_column_may_be_compared_twice() -> None:
    columns = (*COLUMNS, Column("k2", STRING))
    spec = JoinSpec(join_type="LEFT", left_keys=(0, 3, 0), right_keys=(0, 0, 3), filter_nulls=(True,) * 3)
    output = tuple(Column(f"o{at}", each.type) for at, each in enumerate((*columns, *columns)))
    names = ("leftState", "rightState")
    join = TemporalJoinOperator(
        "5", spec, (columns, columns), output, states=names, times=(2, 2), newest_rows_only=False
    )
    versions = [("a", 1, 1_000, "a"), ("b", 2, 1_000, "c")]
    rows = [("a", 3, 2_000, "a"), ("a", 4, 2_000, "b"), ("b", 5, 2_000, "b")]
    frames = (
        rows_of(join, at, given).with_columns(pl.lit(7, pl.Int64).alias(HASH))
        for at, given in enumerate((rows, versions))
    )
    given = run(join, FakeContext(join), *frames, watermark=DRAINED)
    assert given.select("o1", "o5").sort("o1").rows() == [(3, 1), (4, None), (5, None)]
