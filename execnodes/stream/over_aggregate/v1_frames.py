"""Frames of rows: which rows each of them reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from execnodes.lowering.stream import HASH

TIME = "rk_time"
"""What frames are ordered by: milliseconds, or the rank of another order."""
ARRIVAL = "rk_arrival"
"""Order of rows of one time."""
NEW = "rk_new"
"""TRUE for rows that want a result; others are in their frames only."""
GROUP, FIRST, BEGIN, END = "rk_group", "rk_first", "rk_begin", "rk_end"
"""Key as a number; place of its first row; first and last place of a row's frame."""
PLACE = "rk_place"
_AT, _LENGTH = "rk_index", "rk_length"


@dataclass(frozen=True, slots=True)
class Frame:
    """ROWS or RANGE BETWEEN … PRECEDING AND CURRENT ROW."""

    rows: bool
    preceding: int | None
    """Rows or milliseconds; None: from the first row."""

    def lay(self, rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
        """The rows in order, one key after the other, with what their frames are."""
        numbered = rows.with_row_index(_AT)
        grouped = numbered.with_columns(pl.col(_AT).first().over(HASH, *keys).cast(pl.Int64).alias(GROUP))
        ordered = grouped.sort(GROUP, TIME, ARRIVAL, maintain_order=True).drop(_AT)
        placed = ordered.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(PLACE))
        laid = placed.with_columns(
            pl.col(PLACE).first().over(GROUP).alias(FIRST),
            (pl.col(PLACE) if self.rows else pl.col(PLACE).last().over(GROUP, TIME)).alias(END),
        )
        return laid.with_columns(self._begin(laid).alias(BEGIN))

    def _begin(self, laid: pl.DataFrame) -> pl.Series:
        first = laid[FIRST]
        if self.preceding is None:
            return first
        if self.rows:
            least = laid[PLACE] - self.preceding
            return least.zip_with(least > first, first)
        lengths = laid.rolling(TIME, period=f"{self.preceding + 1}i", group_by=GROUP).agg(
            pl.len().cast(pl.Int64).alias(_LENGTH)
        )
        return laid[END] - lengths[_LENGTH] + 1
