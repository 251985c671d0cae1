"""Values of a group in order of arrival: behind FIRST_VALUE and its kin over retracting input, and JSON_OBJECTAGG.

SINGLE_VALUE is made from them, too, and there finds a second row.

A retraction takes away the earliest equal value.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from execnodes.aggregates.single import SECOND
from execnodes.core.errors import JobError
from execnodes.core.types import BIGINT
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.accumulator import Accumulator, Source
from execnodes.kernels.aggregates.collected import JsonObjectAgg
from execnodes.kernels.aggregates.frame import FILL, SIGN
from execnodes.kernels.aggregates.single import SingleValue
from execnodes.kernels.failing import located
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import State

_POSITION = "position"
_RANK = "rk_rank"
_GONE = "rk_gone"


@dataclass(frozen=True)
class SequencedValues:
    """The values that one call keeps."""

    accumulator: Accumulator
    types: tuple[Column, ...]
    """Its arguments, named as in state."""
    group: tuple[str, ...]
    """Columns that tell groups apart."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """State columns behind the keys: the values and their position in the group."""
        return (*self.types, Column(_POSITION, BIGINT.not_null()))

    def step(self, rows: pl.DataFrame, source: Source, state: State, schema: dict[str, pl.DataType]) -> pl.DataFrame:
        """Bring the rows of a batch (in order, read through `source`) into the state; the accumulator's delta, one row
        for each group with news.
        """
        arrived = self._read(rows, source)
        before = state.read(arrived)
        mine = frame.semi_join(before, arrived, self.group).sort(_POSITION)
        strangers = frame.anti_join(before, arrived, self.group)
        inserted = arrived.filter(pl.col(SIGN) > 0).drop(SIGN)
        values = [column.name for column in self.types]
        queue = pl.concat([mine.select(inserted.columns), inserted])
        gone = arrived.filter(pl.col(SIGN) < 0).group_by(*self.group, *values).agg(pl.len().alias(_GONE))
        rank = pl.int_range(pl.len()).over(*self.group, *values)
        left = frame.left_join(queue.with_columns(rank.alias(_RANK)), gone, [*self.group, *values])
        left = left.filter(pl.col(_RANK) >= pl.col(_GONE).fill_null(0))
        left = left.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over(*self.group).alias(_POSITION))
        if isinstance(self.accumulator, SingleValue) and left.select(self.group).is_duplicated().any():
            hint = "Aggregate the rows, e.g. with MAX, or narrow them with WHERE or LIMIT 1."
            raise located(JobError(f"{self.accumulator.call.name}: {SECOND}", hint=hint), self.accumulator.call.place)
        state.write(pl.concat([strangers.select(*schema), left.select(*schema)]))
        folded = self.accumulator.fold(Source(tuple(pl.col(name) for name in values)))
        results = left.group_by(*self.group, maintain_order=True).agg(
            expression.alias(frame.delta(name)) for name, expression in folded.items()
        )
        news = arrived.select(*self.group).unique().with_columns(pl.lit(True).alias(FILL))
        return frame.left_join(news, results, self.group)

    def _read(self, rows: pl.DataFrame, source: Source) -> pl.DataFrame:
        """Group, HASH, values and SIGN of the rows whose values are kept."""
        passing = rows if source.passes is None else rows.filter(source.passes)
        sign = pl.lit(1, pl.Int64) if source.sign is None else source.sign
        columns = zip(source.values, self.types, strict=True)
        carried = [] if HASH in self.group else [HASH]
        arrived = passing.select(
            *self.group, *carried, *(value.alias(column.name) for value, column in columns), sign.alias(SIGN)
        )
        if isinstance(self.accumulator, JsonObjectAgg) and arrived[self.types[0].name].null_count():
            error = JobError(
                f"{self.accumulator.call.name}: a key of JSON_OBJECTAGG is NULL",
                hint="Filter such rows, or give the key a value with COALESCE.",
            )
            raise located(error, self.accumulator.call.place)
        last = pl.col(self.types[-1].name)
        return arrived if self.accumulator.keeps_nulls else arrived.filter(last.is_not_null())
