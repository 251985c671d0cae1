"""Kernel of stream-exec-over-aggregate where rows are ordered by a column that is no time."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.types import BIGINT
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import sign_of
from execnodes.kernels.aggregates.user import CallsFunctions
from execnodes.lowering.stream import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator, StateSpec
from execnodes.stream.over_aggregate.v1_frames import ARRIVAL, NEW, TIME
from execnodes.stream.over_aggregate.v1_kernel import OverShape, arrival

STATE = "overAggregateState"
_SIGN, _NUMBER, _GONE, _IS = "rk_sign", "rk_number", "rk_gone", "rk_is"


class OverChanges(CallsFunctions, Operator):
    """Results of all rows of a key, at once; a row that comes or goes changes those behind it.

    State: all rows. Their results are made again from them, before and after the batch, and what differs is told.
    """

    ordered = True

    def __init__(self, shape: OverShape, order: int, *, nulls_last: bool) -> None:
        """`order`: index of the column that rows are ordered by."""
        CallsFunctions.__init__(self, shape.functions.calls, shape.functions.input)
        self.shape = shape
        self.uid = shape.uid
        self.inputs = (shape.functions.input,)
        self.output = shape.output
        self.order = shape.functions.input[order].name
        self.nulls_last = nulls_last
        keys = tuple(shape.functions.input[key].name for key in shape.keys)
        columns = (*shape.functions.input, Column(ARRIVAL, BIGINT.not_null()))
        self.states = (StateSpec(STATE, columns, shape.ttl_ms, key=keys),)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """What the batch changes in the results of its keys."""
        if batches[0].is_empty():
            return None
        batch = batches[0].with_columns(arrival(context), sign_of(pl.col(KIND)).alias(_SIGN))
        state = context.state(STATE)
        before = state.read(batch.select(pl.col(HASH).unique()))
        after = self._after(before, batch)
        state.write(after)
        keys = [self.shape.functions.input[key].name for key in self.shape.keys]
        touched = batch.select(HASH, *keys).unique()
        was, now = (self._results(frame.semi_join(rows, touched, [HASH, *keys])) for rows in (before, after))
        return self._changes(was, now, batch)

    def _after(self, before: pl.DataFrame, batch: pl.DataFrame) -> pl.DataFrame:
        """The rows of the batch behind those there were; a row that is taken back takes the earliest equal one away."""
        values = [HASH, *(each.name for each in self.inputs[0])]
        come = pl.concat([before, batch.filter(pl.col(_SIGN) > 0).select(before.columns)])
        gone = batch.filter(pl.col(_SIGN) < 0).group_by(values).agg(pl.len().alias(_GONE))
        if gone.is_empty():
            return come
        ordered = come.sort(ARRIVAL, maintain_order=True)
        counted = ordered.with_columns(pl.int_range(pl.len()).over(values).alias(_NUMBER))
        met = frame.left_join(counted, gone, values)
        return met.filter(pl.col(_NUMBER) >= pl.col(_GONE).fill_null(0)).select(before.columns)

    def _results(self, rows: pl.DataFrame) -> pl.DataFrame:
        shape = self.shape
        rank = pl.col(self.order).rank("dense").cast(pl.Int64)
        lowest = pl.lit(2**62 if self.nulls_last else -1, pl.Int64)
        ranked = rows.with_columns(rank.fill_null(lowest).alias(TIME)).with_row_index(_NUMBER)
        prepared = shape.prepared(ranked).hstack(ranked.select(_NUMBER)).with_columns(pl.lit(True).alias(NEW))
        laid = shape.functions.frame.lay(prepared, shape.key_names)
        found, _ = shape.functions.evaluate(laid, shape.key_names, None, {}, self.supplied())
        results = found.sort(_NUMBER).select(call.name for call in shape.functions.calls)
        return rows.hstack(results)

    def _changes(self, was: pl.DataFrame, now: pl.DataFrame, batch: pl.DataFrame) -> pl.DataFrame:
        """Rows whose results differ: -U and +U where the row itself stayed, else -D and +I."""
        row = [HASH, *(each.name for each in self.inputs[0]), ARRIVAL]
        results = [call.name for call in self.shape.functions.calls]
        both = was.join(now, on=row, how="full", nulls_equal=True, suffix=_IS, coalesce=False)
        there, stays = pl.col(HASH).is_not_null(), pl.col(HASH + _IS).is_not_null()
        differs = pl.any_horizontal(pl.lit(False), *(pl.col(n).ne_missing(pl.col(n + _IS)) for n in results))
        changed = both.filter(~(there & stays) | differs)
        names = [each.name for each in self.inputs[0]]
        away = changed.filter(there).select(
            *(pl.col(name) for name in (*names, *results)),
            pl.when(stays).then(_kind(RowKind.UPDATE_BEFORE)).otherwise(_kind(RowKind.DELETE)).alias(KIND),
        )
        come = changed.filter(stays).select(
            *(pl.col(name + _IS).alias(name) for name in (*names, *results)),
            pl.when(there).then(_kind(RowKind.UPDATE_AFTER)).otherwise(_kind(RowKind.INSERT)).alias(KIND),
        )
        last = [pl.lit(batch[SEQUENCE].max(), pl.Int64).alias(SEQUENCE)]
        if WATERMARK in batch.columns:
            last.append(pl.lit(batch[WATERMARK].max(), pl.Int64).alias(WATERMARK))
        return pl.concat([away, come]).with_columns(last)


def _kind(kind: RowKind) -> pl.Expr:
    return pl.lit(int(kind), pl.Int8)
