"""What one row of a source has caused stays together, and gets the place of that row back."""

from __future__ import annotations

import polars as pl

from execnodes.engine.order import by_cause, joined, number_rows, restore_order
from execnodes.lowering.stream import KIND, MAJOR, SEQUENCE, WATERMARK

_SCHEMA = {"v": pl.Int64(), KIND: pl.Int8(), MAJOR: pl.String(), SEQUENCE: pl.Int64(), WATERMARK: pl.Int64()}


def steps(*rows: tuple[int, int, str | None, int | None, int | None]) -> list[list[int]]:
    numbered, order = number_rows(pl.DataFrame(list(rows), _SCHEMA, orient="row"), ordered=True)
    return [each["v"].to_list() for each in by_cause(numbered, order)]


def test_changes_of_one_row_are_one_step() -> None:
    assert steps((1, 2, "a", 7, 5), (2, 1, "a", 7, 5), (3, 0, "a", 8, 5), (4, 0, "b", 8, 5)) == [[2, 1], [3], [4]]


def test_rows_under_other_watermarks_are_apart() -> None:
    assert steps((1, 0, "a", 7, 5), (2, 0, "a", 7, 6)) == [[1], [2]]


def test_what_no_row_has_caused_stands_alone() -> None:
    assert steps((1, 0, None, None, None), (2, 0, None, None, None)) == [[1], [2]]
    assert steps() == []


def test_changes_get_the_place_of_their_row() -> None:
    rows = pl.DataFrame([(1, 0, "a", 7, 5), (2, 1, "a", 9, 5), (3, 2, "a", 9, 5)], _SCHEMA, orient="row")
    numbered, order = number_rows(rows, ordered=True)
    parts = by_cause(numbered, order)
    changes = joined([each.select("v", KIND) for each in parts], parts)
    assert changes is not None
    assert restore_order(changes, order).select("v", SEQUENCE).rows() == [(1, 7), (2, 9), (3, 9)]
