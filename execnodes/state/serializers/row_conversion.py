"""Rows of state in the layout of an earlier serializer, as the next one has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl

from execnodes.core import consent
from execnodes.core.errors import StateError
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET
from execnodes.state.pages.page_format import WRITTEN
from execnodes.state.python_values import from_kernel, to_kernel
from execnodes.state.serializers.column_migration import UnreadColumn, converted
from execnodes.state.serializers.migrate import AccumulatorChange, migrate
from execnodes.user_functions.arrow_values import Convert


@dataclass(frozen=True, slots=True)
class NextLayout:
    """From one layout to the next; what `Former.step` is."""

    changes: tuple[AccumulatorChange, ...]
    columns: Mapping[str, str]
    """Columns of the next layout to those of this one, or to those of `changes`."""
    allowed: frozenset[str] = field(default_factory=consent.granted)
    """Modules that may be imported; workers are told by this."""

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        """StateError names the accumulator that a serializer fails on."""
        consent.grant(self.allowed)
        made = rows.with_columns(series for change in self.changes for series in _converted(change, rows))
        head = [name for name in (HASH, BUCKET, WRITTEN) if name in rows.columns]
        return made.select(*head, *(pl.col(old).alias(new) for new, old in self.columns.items()))


def _converted(change: AccumulatorChange, rows: pl.DataFrame) -> list[pl.Series]:
    before = {each.name: each.type for each in change.before.type.fields}
    columns = {
        name: UnreadColumn(rows[column], partial(_read, from_kernel(before[name])))
        for name, column in change.olds.items()
    }
    after = {each.name: each.type for each in change.after.type.fields}
    try:
        found = migrate(change.before, change.after, columns, len(rows))
        return [_written(column, found[name], after[name]) for name, column in change.news.items()]
    except Exception as error:
        raise StateError(
            f"the accumulator of {change.title} cannot be converted: {type(error).__name__}: {error}",
            hint="Mend the serializer and start the job again; its state is as it was.",
        ) from error


def _read(convert: Convert | None, column: pl.Series) -> Sequence[Any]:
    return converted(convert, column.to_list())


def _written(name: str, values: Sequence[Any], t: LogicalType) -> pl.Series:
    dtype = Column(name, t).dtype
    if isinstance(values, UnreadColumn) and values.source.dtype == dtype:
        kept: pl.Series = values.source
        return kept.alias(name)
    return pl.Series(name, converted(to_kernel(t), values), dtype=dtype)
