"""The join kernel against a naive model: any batches, any cuts, all kinds of join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.changelog import RowKind
from execnodes.core.expressions import Call, InputRef
from execnodes.core.join_spec import JoinSpec
from execnodes.core.types import BIGINT, BOOLEAN, STRING
from execnodes.lowering.stream import KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.stream.join.v1_kernel import JoinOperator
from tests.kernels.fake_state import FakeContext, rows_of, run

Row = tuple[object, ...]
Event = tuple[int, int, Row]
"""Side, row kind, row."""
LEFT = (Column("id", BIGINT), Column("k", BIGINT), Column("s", STRING))
RIGHT = (Column("k", BIGINT), Column("v", BIGINT))
PAIR = (Column("id", BIGINT), Column("k", BIGINT), Column("s", STRING), Column("k0", BIGINT), Column("v", BIGINT))
TYPES = ("INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI")
LESS = Call(
    internal_name="$<$1",
    operands=(InputRef(input_index=0, type=BIGINT), InputRef(input_index=4, type=BIGINT)),
    type=BOOLEAN,
)

keys = st.none() | st.integers(0, 2)
left_rows = st.tuples(st.integers(0, 3), keys, st.sampled_from(["x", "y", None]))
right_rows = st.tuples(keys, st.none() | st.integers(0, 3))


def join(join_type: str, strict: bool = True, condition: bool = False) -> JoinOperator:
    spec = JoinSpec.model_validate(
        {
            "join_type": join_type,
            "left_keys": (1,),
            "right_keys": (0,),
            "filter_nulls": (strict,),
            "non_equi_condition": LESS if condition else None,
        }
    )
    output = LEFT if join_type in ("SEMI", "ANTI") else PAIR
    return JoinOperator("5_join", spec, (LEFT, RIGHT), output)


@st.composite
def changelogs(draw: st.DrawFn, inserts_only: bool = False) -> list[list[Event]]:
    """Valid changelogs of both sides, cut into batches."""
    alive: tuple[list[Row], list[Row]] = ([], [])
    batches: list[list[Event]] = [[]]
    for _ in range(draw(st.integers(0, 25))):
        side = draw(st.integers(0, 1))
        if draw(st.booleans()):
            batches.append([])
        if alive[side] and not inserts_only and draw(st.integers(0, 2)) == 0:
            row = alive[side].pop(draw(st.integers(0, len(alive[side]) - 1)))
            batches[-1].append((side, draw(st.sampled_from([RowKind.DELETE, RowKind.UPDATE_BEFORE])), row))
        else:
            row = draw(left_rows if side == 0 else right_rows)
            kind = RowKind.INSERT if inserts_only else draw(st.sampled_from([RowKind.INSERT, RowKind.UPDATE_AFTER]))
            alive[side].append(row)
            batches[-1].append((side, kind, row))
    return batches


def naive(operator: JoinOperator, left: Counter[Row], right: Counter[Row]) -> Counter[Row]:
    spec = operator.spec

    def matches(a: Row, b: Row) -> bool:
        if a[1] != b[0] or (a[1] is None and spec.filter_nulls[0]):
            return False
        if spec.non_equi_condition is None:
            return True
        return b[1] is not None and int(str(a[0])) < int(str(b[1]))

    return nested_loops(spec.join_type, list(left.elements()), list(right.elements()), matches)


def nested_loops(
    join_type: str, lefts: Sequence[Row], rights: Sequence[Row], matches: Callable[[Row, Row], bool]
) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for a in lefts:
        count = sum(matches(a, b) for b in rights)
        if join_type in ("SEMI", "ANTI"):
            found[a] += (count > 0) == (join_type == "SEMI")
        elif count == 0 and join_type in ("LEFT", "FULL"):
            found[(*a, None, None)] += 1
        if join_type not in ("SEMI", "ANTI"):
            found.update((*a, *b) for b in rights if matches(a, b))
    if join_type in ("RIGHT", "FULL"):
        found.update((None, None, None, *b) for b in rights if not any(matches(a, b) for a in lefts))
    return +found


def feed(operator: JoinOperator, context: FakeContext, batch: Sequence[Event], first: int = 0) -> pl.DataFrame:
    frames = []
    for side, hashed in ((0, 1), (1, 0)):
        numbered = [(i, kind, row) for i, (s, kind, row) in enumerate(batch) if s == side]
        frame = rows_of(
            operator, side, [row for _, _, row in numbered], [kind for _, kind, _ in numbered], keys=[hashed]
        )
        order = pl.Series(SEQUENCE, [first + i for i, _, _ in numbered], dtype=pl.Int64)
        frames.append(frame.with_columns(order))
    return run(operator, context, *frames)


def apply(table: Counter[Row], changes: pl.DataFrame, in_order_of_sequence: bool = False) -> None:
    """Bring changes into a table, row by row; a removal must find its row."""
    if in_order_of_sequence:
        changes = changes.sort(SEQUENCE, maintain_order=True)
    for *row, kind in changes.drop(SEQUENCE).iter_rows():
        if kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE):
            assert table[tuple(row)] > 0, f"{RowKind(kind).short} of {row}, which is not there"
            table[tuple(row)] -= 1
        else:
            table[tuple(row)] += 1


@settings(max_examples=80, deadline=None)
@given(join_type=st.sampled_from(TYPES), strict=st.booleans(), condition=st.booleans(), data=st.data())
def test_changes_materialise_to_the_join(join_type: str, strict: bool, condition: bool, data: st.DataObject) -> None:
    operator = join(join_type, strict, condition)
    inserts_only = data.draw(st.booleans())
    context, table = FakeContext(operator), Counter[Row]()
    sides: tuple[Counter[Row], Counter[Row]] = (Counter(), Counter())
    for batch in data.draw(changelogs(inserts_only)):
        changes = feed(operator, context, batch)
        removed = {r[:-2] for r in changes.iter_rows() if r[-2] in (RowKind.UPDATE_BEFORE, RowKind.DELETE)}
        added = {r[:-2] for r in changes.iter_rows() if r[-2] not in (RowKind.UPDATE_BEFORE, RowKind.DELETE)}
        if condition or strict:
            assert not removed & added, "one row is both removed and added in a batch"
        apply(table, changes)
        for side, kind, row in batch:
            sides[side][row] += -1 if kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE) else 1
        assert +table == naive(operator, *sides)


_PAIRS = st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1]), st.booleans()), min_size=1, max_size=3)


@settings(max_examples=25, deadline=None)
@given(
    join_type=st.sampled_from(TYPES),
    pairs=_PAIRS,
    left=st.lists(left_rows, max_size=5),
    right=st.lists(right_rows, max_size=5),
)
def test_a_column_may_be_compared_several_times(
    join_type: str, pairs: list[tuple[int, int, bool]], left: list[Row], right: list[Row]
) -> None:
    spec = JoinSpec.model_validate(
        {
            "join_type": join_type,
            "left_keys": tuple(mine for mine, _, _ in pairs),
            "right_keys": tuple(its for _, its, _ in pairs),
            "filter_nulls": tuple(strict for _, _, strict in pairs),
        }
    )
    operator = JoinOperator("5_join", spec, (LEFT, RIGHT), LEFT if join_type in ("SEMI", "ANTI") else PAIR)
    context, found = FakeContext(operator), Counter[Row]()
    for rows, side in ((left, 0), (right, 1)):
        sides = [rows if at == side else [] for at in (0, 1)]
        keys = (spec.left_keys, spec.right_keys)
        frames = [
            rows_of(operator, at, each, [RowKind.INSERT] * len(each), keys=list(keys[at])).with_columns(
                pl.Series(SEQUENCE, range(len(each)), dtype=pl.Int64)
            )
            for at, each in enumerate(sides)
        ]
        apply(found, run(operator, context, *frames))

    def matches(a: Row, b: Row) -> bool:
        return all(a[mine] == b[its] and not (strict and a[mine] is None) for mine, its, strict in pairs)

    assert +found == nested_loops(join_type, left, right, matches)


def test_inner_join_of_inserts_appends_only(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = join("INNER")
    context = FakeContext(operator)
    for state in context.states.values():
        monkeypatch.setattr(state, "write", lambda rows: pytest.fail("a page was rewritten"))
    feed(operator, context, [(0, 0, (1, 1, "a")), (1, 0, (1, 7))])
    changes = feed(operator, context, [(0, 0, (1, 1, "a")), (1, 0, (1, 8))])
    assert sorted(changes.select("v", KIND).iter_rows()) == [(7, 0), (8, 0), (8, 0)]


def test_kinds_of_an_update_pass_through() -> None:
    operator = join("INNER")
    context = FakeContext(operator)
    feed(operator, context, [(0, 0, (1, 1, "a")), (1, 0, (1, 7))])
    update = [(0, RowKind.UPDATE_BEFORE, (1, 1, "a")), (0, RowKind.UPDATE_AFTER, (1, 1, "b"))]
    changes = feed(operator, context, update, first=5)
    assert changes.select("s", KIND, SEQUENCE).rows() == [("a", 1, 5), ("b", 2, 6)]


def test_padded_row_goes_with_a_delete_and_comes_back() -> None:
    operator = join("LEFT")
    context = FakeContext(operator)
    assert feed(operator, context, [(0, 0, (1, 1, "a"))]).select("v", KIND).rows() == [(None, 0)]
    assert feed(operator, context, [(1, 0, (1, 7))]).select("v", KIND).rows() == [(None, 3), (7, 0)]
    assert feed(operator, context, [(1, 3, (1, 7))]).select("v", KIND).rows() == [(7, 3), (None, 0)]


def test_each_of_equal_rows_loses_its_padding() -> None:
    """Equal rows that come with a removal stand in one row of the state."""
    operator = join("LEFT")
    context = FakeContext(operator)
    feed(operator, context, [(0, 0, (1, 1, "a")), (0, 0, (1, 1, "a")), (0, 0, (1, 2, "b")), (0, 3, (1, 2, "b"))])
    changes = feed(operator, context, [(1, 0, (1, 7))])
    assert changes.select("v", KIND).rows() == [(None, 3), (None, 3), (7, 0), (7, 0)]
    assert feed(operator, context, [(1, 3, (1, 7))]).select("v", KIND).rows() == [(7, 3), (7, 3), (None, 0), (None, 0)]


@st.composite
def upserts(draw: st.DrawFn) -> list[list[Event]]:
    """Both sides keyed by their join key, updates without -U."""
    live: tuple[dict[int, Row], dict[int, Row]] = ({}, {})
    batches: list[list[Event]] = [[]]
    for _ in range(draw(st.integers(0, 20))):
        side, key = draw(st.integers(0, 1)), draw(st.integers(0, 2))
        if draw(st.booleans()):
            batches.append([])
        value = draw(st.integers(0, 3))
        row: Row = (value, key, "x") if side == 0 else (key, value)
        if key in live[side] and draw(st.booleans()):
            batches[-1].append((side, RowKind.DELETE, live[side].pop(key)))
            continue
        batches[-1].append((side, RowKind.UPDATE_AFTER if key in live[side] else RowKind.INSERT, row))
        live[side][key] = row
    return batches


@settings(max_examples=40, deadline=None)
@given(join_type=st.sampled_from(["INNER", "LEFT", "FULL"]), batches=upserts())
def test_sides_without_update_before(join_type: str, batches: list[list[Event]]) -> None:
    """The consumer keeps one row for each key of both sides, and needs no -U."""
    spec = join(join_type).spec
    operator = JoinOperator("5_join", spec, (LEFT, RIGHT), PAIR, upsert_keys=((1,), (0,)), emits_update_before=False)
    context = FakeContext(operator)
    table: dict[object, Row] = {}
    live: tuple[dict[object, Row], dict[object, Row]] = ({}, {})
    for batch in batches:
        changes = feed(operator, context, batch)
        assert RowKind.UPDATE_BEFORE not in changes[KIND].to_list()
        for *row, kind, _ in changes.sort(SEQUENCE, maintain_order=True).iter_rows():
            joined = tuple(row)
            key = joined[1] if joined[1] is not None else joined[3]
            if kind == RowKind.DELETE:
                table.pop(key, None)
            else:
                table[key] = joined
        for side, kind, event in batch:
            key = event[1] if side == 0 else event[0]
            if kind == RowKind.DELETE:
                live[side].pop(key)
            else:
                live[side][key] = event
        expected = naive(operator, Counter(live[0].values()), Counter(live[1].values()))
        assert Counter(table.values()) == expected


def test_join_without_keys() -> None:
    spec = JoinSpec(join_type="INNER")
    operator = JoinOperator("5_join", spec, (LEFT, RIGHT), PAIR)
    context = FakeContext(operator)
    none = rows_of(operator, 1, [])
    run(operator, context, rows_of(operator, 0, [(1, None, "a"), (2, 5, "b")]), none)
    changes = run(operator, context, rows_of(operator, 0, []), rows_of(operator, 1, [(None, 1), (6, 2)]))
    assert changes.height == 4
