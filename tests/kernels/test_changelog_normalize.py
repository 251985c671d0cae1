"""The normalize kernel against a dictionary, over any cuts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.changelog import RowKind
from execnodes.core.lowering import KIND
from execnodes.core.types import BIGINT, STRING
from execnodes.state.kernel_types import Column
from execnodes.stream.changelog_normalize.v1_kernel import NormalizeOperator
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (Column("k", BIGINT), Column("s", STRING), Column("v", BIGINT))
Row = tuple[int, str | None, int | None]
events = st.tuples(
    st.sampled_from([RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.UPDATE_BEFORE, RowKind.DELETE]),
    st.tuples(st.integers(0, 2), st.sampled_from(["x", None]), st.sampled_from([1, 2, None])),
)


def feed(
    operator: NormalizeOperator, context: FakeContext, batch: list[tuple[RowKind, Row]]
) -> list[tuple[object, ...]]:
    frame = rows_of(operator, 0, [row for _, row in batch], [kind for kind, _ in batch], keys=[0])
    return run(operator, context, frame).select("k", "s", "v", KIND).rows()


@settings(max_examples=80, deadline=None)
@given(batches=st.lists(st.lists(events, max_size=6), max_size=6), update_before=st.booleans())
def test_changes_follow_the_last_row_of_each_key(batches: list[list[tuple[RowKind, Row]]], update_before: bool) -> None:
    operator = NormalizeOperator("2_changelog-normalize", COLUMNS, (0,), update_before)
    context = FakeContext(operator)
    table: dict[object, object] = {}
    model: dict[object, object] = {}
    for batch in batches:
        expected = dict(model)
        for kind, row in batch:
            if kind == RowKind.DELETE:
                expected.pop(row[0], None)
            elif kind != RowKind.UPDATE_BEFORE:
                expected[row[0]] = row
        changes = feed(operator, context, batch)
        if expected == model:
            assert not changes, "a repeated message came through"
        for *values, code in changes:
            after, key = tuple(values), values[0]
            if code in (RowKind.DELETE, RowKind.UPDATE_BEFORE):
                assert code == RowKind.DELETE or update_before
                assert table.pop(key) == after
            else:
                assert (key in table) == (code == RowKind.UPDATE_AFTER and not update_before)
                table[key] = after
        model = expected
        assert table == model


def test_a_delete_gives_back_the_row_that_was_there() -> None:
    operator = NormalizeOperator("2_changelog-normalize", COLUMNS, (0,), True)
    context = FakeContext(operator)
    feed(operator, context, [(RowKind.UPDATE_AFTER, (1, "x", 5))])
    assert feed(operator, context, [(RowKind.DELETE, (1, None, None))]) == [(1, "x", 5, RowKind.DELETE)]
    assert feed(operator, context, [(RowKind.DELETE, (1, None, None))]) == []
