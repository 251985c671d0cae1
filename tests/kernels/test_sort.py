"""ORDER BY at the end of the input, against a sort of what is left, whatever the cuts of the input."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.sort_spec import SortField, SortSpec
from execnodes.core.types import BIGINT, STRING
from execnodes.lowering.stream import KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import DRAINED
from execnodes.stream.sort import v1_kernel
from execnodes.stream.sort.v1_kernel import PROGRESS, ROWS, SortAtEnd
from tests.kernels.fake_state import FakeContext, rows_of, run

COLUMNS = (Column("k", STRING), Column("v", BIGINT))
Row = tuple[str | None, int | None]
Change = tuple[int, Row]
ROW = st.tuples(st.sampled_from([None, "a", "b"]), st.sampled_from([None, -1, 0, 7]))


@st.composite
def changelogs(draw: st.DrawFn) -> list[list[Change]]:
    """Micro-batches of changes; only what is there is taken back."""
    batches: list[list[Change]] = [[]]
    there: list[Row] = []
    for _ in range(draw(st.integers(0, 30))):
        if draw(st.booleans()):
            batches.append([])
        if draw(st.booleans()) and there:
            row = there.pop(draw(st.integers(0, len(there) - 1)))
            batches[-1].append((draw(st.sampled_from([1, 3])), row))
        else:
            row = draw(ROW)
            there.append(row)
            batches[-1].append((draw(st.sampled_from([0, 2])), row))
    return batches


def left(batches: list[list[Change]]) -> list[Row]:
    """The rows that are there in the end."""
    rows: list[Row] = []
    for kind, row in (change for batch in batches for change in batch):
        if kind in (0, 2):
            rows.append(row)
        else:
            rows.remove(row)
    return rows


@settings(max_examples=80, deadline=None)
@given(batches=changelogs(), ascending=st.booleans(), nulls_last=st.booleans(), spare=st.sampled_from([0, 50_000]))
def test_all_rows_that_are_left_come_in_order(
    batches: list[list[Change]], ascending: bool, nulls_last: bool, spare: int
) -> None:
    field = SortField(index=1, is_ascending=ascending, null_is_last=nulls_last)
    operator = SortAtEnd("3_sort", COLUMNS, SortSpec(fields=(field,)))
    context = FakeContext(operator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(v1_kernel, "SPARE", spare)
        for batch in batches:
            rows = rows_of(operator, 0, [row for _, row in batch], [kind for kind, _ in batch])
            assert run(operator, context, rows, watermark=5).is_empty()
    out = run(operator, context, rows_of(operator, 0, []), watermark=DRAINED)
    rows_left = left(batches)
    given_out = out.select("k", "v").rows()
    assert sorted(map(str, given_out)) == sorted(map(str, rows_left))

    def weight(value: int | None) -> tuple[int, int]:
        return ((1 if nulls_last else -1), 0) if value is None else (0, value if ascending else -value)

    assert [weight(v) for _, v in given_out] == sorted(weight(v) for _, v in rows_left)
    assert set(out[KIND].to_list()) <= {0}
    assert out[SEQUENCE].to_list() == list(range(len(rows_left)))


def test_state_does_not_grow_with_what_cancels_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(v1_kernel, "SPARE", 20)
    operator = SortAtEnd("3_sort", COLUMNS, SortSpec(fields=(SortField(index=1),)))
    context = FakeContext(operator)
    run(operator, context, rows_of(operator, 0, [("a", 0)]))
    for at in range(200):
        run(operator, context, rows_of(operator, 0, [("a", at), ("a", at + 1)], [1, 2]))
    assert len(context.states[ROWS].frame) <= 24
    assert context.states[PROGRESS].frame.select("rk_live").item() == 1
    out = run(operator, context, rows_of(operator, 0, []), watermark=DRAINED)
    assert out.select("k", "v").rows() == [("a", 200)]


def test_equal_rows_stay_in_the_order_in_which_they_came() -> None:
    operator = SortAtEnd("3_sort", COLUMNS, SortSpec(fields=(SortField(index=1),)))
    context = FakeContext(operator)
    run(operator, context, rows_of(operator, 0, [("b", 1), ("a", 1), ("b", 1)]))
    out = run(operator, context, rows_of(operator, 0, [("c", 1), ("d", 0)]), watermark=DRAINED)
    assert out["k"].to_list() == ["d", "b", "b", "a", "c"]
    assert out.schema["v"] == pl.Int64()
