"""Rows as pandas frames, and Python rows as SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas

from execnodes.core.changelog import RowKind
from rekindle.results.closeable_iterator import read_values
from rekindle.results.json_values import row_to_json

if TYPE_CHECKING:
    from rekindle.results.table_result import TableResult


def frame_of(result: TableResult) -> pandas.DataFrame:
    """The rows that a result's changes leave, once its job has ended."""
    standing: dict[str, list[tuple[Any, ...]]] = {}
    read = read_values(result.types)
    for kind, row in result.collect_changes():
        rows = standing.setdefault(json.dumps(row_to_json(row, result.types)), [])
        if kind in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            rows.append(tuple(read(row)))
        elif rows:
            rows.pop()
    left = [row for rows in standing.values() for row in rows]
    return pandas.DataFrame(left, columns=list(result.columns))


def rows_of(frame: pandas.DataFrame) -> tuple[list[str], Iterable[Sequence[Any]]]:
    """Column names and rows of a frame; what is missing is None."""
    present = frame.astype(object).where(frame.notna(), None)
    return [str(name) for name in frame.columns], present.itertuples(index=False, name=None)
