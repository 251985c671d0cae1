"""Rows of state in the layout of an earlier serializer, as the next one has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from execnodes.core.errors import StateError
from execnodes.core.lowering import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET
from execnodes.state.page_format import WRITTEN
from execnodes.state.python_values import from_kernel, to_kernel
from execnodes.state.serializers.migrate import AccumulatorChange, migrate


@dataclass(frozen=True, slots=True)
class NextLayout:
    """From one layout to the next; what `Earlier.step` is."""

    changes: tuple[AccumulatorChange, ...]
    columns: Mapping[str, str]
    """Columns of the next layout to those of this one, or to those of `changes`."""

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        """StateError names the accumulator that a serializer fails on."""
        made = rows.with_columns(series for change in self.changes for series in _converted(change, rows))
        head = [name for name in (HASH, BUCKET, WRITTEN) if name in rows.columns]
        return made.select(*head, *(pl.col(old).alias(new) for new, old in self.columns.items()))


def _converted(change: AccumulatorChange, rows: pl.DataFrame) -> list[pl.Series]:
    readers = {each.name: from_kernel(each.type) for each in change.before.type.fields}
    columns = {
        name: values if (read := readers[name]) is None else list(map(read, values))
        for name, values in ((name, rows[column].to_list()) for name, column in change.olds.items())
    }
    try:
        found = migrate(change.before, change.after, columns, len(rows))
        written = {each.name: list(map(to_kernel(each.type), found[each.name])) for each in change.after.type.fields}
    except Exception as error:
        raise StateError(
            f"the accumulator of {change.title} cannot be converted: {type(error).__name__}: {error}",
            hint="Mend the serializer and start the job again; its state is as it was.",
        ) from error
    types = {each.name: each.type for each in change.after.type.fields}
    return [
        pl.Series(column, written[name], dtype=Column(column, types[name]).dtype)
        for name, column in change.news.items()
    ]
