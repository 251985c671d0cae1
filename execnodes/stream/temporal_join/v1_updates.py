"""Kernel of stream-exec-temporal-join_1 where left rows are also taken back.

What was joined to a row is kept, so that just that is taken back: when the removal comes, its version may be gone.
Flink looks for a version again, and so leaves rows standing whose removal finds none.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from execnodes.core.types import TINYINT
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, Context, StateSpec
from execnodes.stream.temporal_join.v1_kernel import TIME, TemporalJoinOperator

CHANGE = "rk_change"
"""Row kind of a left row that waits."""
SPAN = 3_600_000
"""Milliseconds of event time that share a bucket of rows that were given."""
_AGAINST, _NUMBER = "rk_against", "rk_number"


class TemporalJoinOfUpdates(TemporalJoinOperator):
    """State, besides: the rows that were given and not taken back, bucketed by the hour of their time."""

    def __init__(self, *arguments: Any, given: str, given_ttl_ms: int = 0, **options: Any) -> None:
        """As of `TemporalJoinOperator`; `given`: name of the state of rows that were given."""
        super().__init__(*arguments, change=Column(CHANGE, TINYINT.not_null()), **options)
        self.given = given
        spec = StateSpec(given, self.output, given_ttl_ms, bucketed=True, key=self.states[0].key, since="2.5")
        self.states = (*self.states, spec)

    def arrive(self, left: pl.DataFrame) -> pl.DataFrame:
        """With their kinds."""
        return super().arrive(left).with_columns(pl.col(KIND).cast(pl.Int64).alias(CHANGE))

    def give(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame | None:
        """Rows that came and are gone again are not given: what a watermark gives has no order but removals first."""
        net = self._net(rows)
        if net.is_empty():
            return None
        hour = pl.col(TIME).floordiv(SPAN) * SPAN
        net = net.with_columns(hour.alias(BUCKET), pl.col(CHANGE).cast(pl.Int8).alias(KIND))
        removes = pl.col(KIND) % 2 == 1
        back = self._take_back(net.filter(removes), context)
        come = self.result(self.join(net.filter(~removes), context), BUCKET, HASH)
        context.state(self.given).append(come.select(BUCKET, HASH, *(each.name for each in self.output)))
        return pl.concat([back, come.drop(BUCKET, HASH)])

    def _net(self, rows: pl.DataFrame) -> pl.DataFrame:
        removes = pl.col(CHANGE) % 2 == 1
        counted = rows.with_columns(
            pl.when(removes).then((~removes).sum()).otherwise(removes.sum()).over(self.left.names).alias(_AGAINST),
            pl.int_range(pl.len()).over(*self.left.names, removes).alias(_NUMBER),
        )
        return counted.filter(pl.col(_NUMBER) >= pl.col(_AGAINST)).drop(_AGAINST, _NUMBER)

    def _take_back(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Of each removal the row that was given, if one was."""
        state = context.state(self.given)
        held = state.read(rows.select(BUCKET, HASH).unique())
        columns = [each.name for each in self.output]
        left = columns[: len(self.left.names)]
        number = pl.int_range(pl.len()).over(HASH, *left).alias(_NUMBER)
        given, on = held.with_columns(number), [HASH, *left, _NUMBER]
        removed = rows.rename(dict(zip(self.left.names, left, strict=True))).with_columns(number)
        hidden = [KIND, *([SEQUENCE] if SEQUENCE in rows.columns else [])]
        back = removed.select(*on, *hidden).join(given, on=on, how="inner", nulls_equal=True, maintain_order="left")
        state.write(given.join(back, on=on, how="anti", nulls_equal=True).select(held.columns))
        return back.select(*columns, *hidden)
