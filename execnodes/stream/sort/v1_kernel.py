"""Kernel of stream-exec-sort."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec

ROWS = "sortState"
PROGRESS = "sortProgressState"
COUNT = "rk_count"
"""How often a row was added, less how often it was taken back."""
ARRIVAL = "rk_arrival"
"""Number of a row; in `PROGRESS` that of the next row."""
HELD = "rk_held"
"""Rows that `ROWS` has; with what takes rows back counted as rows, too."""
LIVE = "rk_live"
"""Rows that are there: the sum of all `COUNT`."""
SPAN = 4096
"""Rows that share a bucket, by arrival."""
SPARE = 50_000
"""State is written anew when it has more than twice as many rows as are there, and this many."""
_ALL = 2**62


class SortAtEnd(Operator):
    """All rows that are there when the input has ended, in order. Of equal ones the first to arrive is first.

    State: changes as they came, which costs no reading. Once most of them cancel out, they are folded, so that state
    and time stay proportional to the rows that are there and to the changes.
    """

    ordered = True
    uses_time = True
    waits_for_end = True

    def __init__(self, uid: str, columns: tuple[Column, ...], order: SortSpec) -> None:
        """`order`: columns by weight."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.order = order
        numbers = tuple(Column(each, BIGINT) for each in (ARRIVAL, HELD, LIVE))
        rows = (*columns, Column(COUNT, BIGINT), Column(ARRIVAL, BIGINT))
        self.states = (
            StateSpec(ROWS, rows, bucketed=True, since="1.3"),
            StateSpec(PROGRESS, numbers, since="1.3"),
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Keep the changes of the batch, less those that cancel out inside it."""
        batch = batches[0]
        if batch.is_empty():
            return None
        progress = context.state(PROGRESS)
        known = progress.read(batch.select(pl.col(HASH).unique()))
        arrived, held, live = known.select(ARRIVAL, HELD, LIVE).row(0) if len(known) else (0, 0, 0)
        sign = pl.when(pl.col(KIND) % 2 == 0).then(1).otherwise(-1).cast(pl.Int64)
        number = pl.int_range(pl.len(), dtype=pl.Int64) + arrived
        rows = self._folded(batch.sort(SEQUENCE).with_columns(sign.alias(COUNT), number.alias(ARRIVAL)))
        self._keep(rows, context)
        held, live = held + len(rows), live + int(rows[COUNT].sum())
        if held > 2 * live + SPARE:
            state = context.state(ROWS)
            rows = self._folded(state.expire(_ALL))
            self._keep(rows, context)
            held = len(rows)
        numbers = {ARRIVAL: arrived + batch.height, HELD: held, LIVE: live}
        moved = (pl.lit(each, pl.Int64).alias(name) for name, each in numbers.items())
        progress.write(batch.select(pl.col(HASH).first()).with_columns(moved))
        context.wake_at(DRAINED - 1)
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """At the end of the input give out all rows; SEQUENCE counts them."""
        if context.watermark is None or context.watermark < DRAINED:
            return None
        rows = self._folded(context.state(ROWS).expire(_ALL))
        if rows.is_empty():
            return None
        fields = self.order.fields
        ordered = rows.sort(
            [*(self.names[each.index] for each in fields), ARRIVAL],
            descending=[*(not each.is_ascending for each in fields), False],
            nulls_last=[*(each.null_is_last for each in fields), False],
        )
        copies = pl.int_range(pl.len(), dtype=pl.UInt32).repeat_by(pl.col(COUNT).clip(0)).explode().drop_nulls()
        return ordered[ordered.select(copies).to_series()].select(
            *self.names,
            pl.lit(int(RowKind.INSERT), pl.Int8).alias(KIND),
            pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE),
        )

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Rows wait again."""
        super().restore(name, rows, context)
        context.wake_at(DRAINED - 1)

    def _folded(self, changes: pl.DataFrame) -> pl.DataFrame:
        """Each row once, with how often it is there; what cancels out is gone."""
        whole = [HASH, *self.names]
        folded = changes.group_by(whole).agg(pl.col(COUNT).sum(), pl.col(ARRIVAL).min())
        return folded.filter(pl.col(COUNT) != 0).sort(ARRIVAL)

    def _keep(self, rows: pl.DataFrame, context: Context) -> None:
        bucket = pl.col(ARRIVAL).floordiv(SPAN).alias(BUCKET)
        context.state(ROWS).append(rows.select(bucket, HASH, *self.names, COUNT, ARRIVAL))
