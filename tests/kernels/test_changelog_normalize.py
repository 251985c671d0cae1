"""The normalize kernel against a dictionary, over any cuts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.changelog import RowKind
from execnodes.core.expressions import Call, InputRef, Literal
from execnodes.core.types import BIGINT, BOOLEAN, STRING
from execnodes.lowering.stream import KIND
from execnodes.state.kernel_types import Column
from execnodes.stream.changelog_normalize.v2_kernel import STATE, NormalizeOperator
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (Column("k", BIGINT), Column("s", STRING), Column("v", BIGINT))
Row = tuple[int, str | None, int | None]
events = st.tuples(
    st.sampled_from([RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.UPDATE_BEFORE, RowKind.DELETE]),
    st.tuples(st.integers(0, 2), st.sampled_from(["x", None]), st.sampled_from([1, 2, None])),
)


ABOVE_ONE = Call(
    internal_name="$>$1",
    operands=(InputRef(input_index=2, type=BIGINT), Literal(value=1, type=BIGINT.not_null())),
    type=BOOLEAN,
)


def feed(
    operator: NormalizeOperator, context: FakeContext, batch: list[tuple[RowKind, Row]]
) -> list[tuple[object, ...]]:
    frame = rows_of(operator, 0, [row for _, row in batch], [kind for kind, _ in batch], keys=[0])
    return run(operator, context, frame).select("k", "s", "v", KIND).rows()


@settings(max_examples=80, deadline=None)
@given(batches=st.lists(st.lists(events, max_size=6), max_size=6), update_before=st.booleans(), filters=st.booleans())
def test_changes_follow_the_last_row_of_each_key(
    batches: list[list[tuple[RowKind, Row]]], update_before: bool, filters: bool
) -> None:
    operator = NormalizeOperator("2_changelog-normalize", COLUMNS, (0,), update_before, ABOVE_ONE if filters else None)
    context = FakeContext(operator)
    table: dict[object, object] = {}
    model: dict[object, object] = {}
    for batch in batches:
        expected = dict(model)
        for kind, row in batch:
            if kind == RowKind.DELETE or (filters and kind != RowKind.UPDATE_BEFORE and not (row[2] or 0) > 1):
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
        held = context.states[STATE].frame.select("k", "s", "v").rows()
        assert sorted(held, key=str) == sorted(model.values(), key=str), "state keeps what nobody sees"


def test_a_delete_gives_back_the_row_that_was_there() -> None:
    operator = NormalizeOperator("2_changelog-normalize", COLUMNS, (0,), True)
    context = FakeContext(operator)
    feed(operator, context, [(RowKind.UPDATE_AFTER, (1, "x", 5))])
    assert feed(operator, context, [(RowKind.DELETE, (1, None, None))]) == [(1, "x", 5, RowKind.DELETE)]
    assert feed(operator, context, [(RowKind.DELETE, (1, None, None))]) == []


def test_a_condition_takes_of_a_state_without_one_what_fits() -> None:
    operator = NormalizeOperator("2_changelog-normalize", COLUMNS, (0,), True, ABOVE_ONE)
    context = FakeContext(operator)
    rows = rows_of(operator, 0, [(1, "x", 1), (2, "y", 2), (3, "z", None)], keys=[0])
    operator.restore(STATE, rows, context)
    assert context.states[STATE].frame["k"].to_list() == [2]
    assert feed(operator, context, [(RowKind.UPDATE_AFTER, (1, "x", 5))]) == [(1, "x", 5, RowKind.INSERT)]
