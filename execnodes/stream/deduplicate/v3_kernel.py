"""Kernel of stream-exec-deduplicate: the first row of a key by event time, given at once."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.lowering.stream import HASH, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, StateSpec, empty_output
from execnodes.stream.deduplicate.v1_kernel import kind, millis, one_each
from execnodes.stream.deduplicate.v2_kernel import DONE, SEEN, WAITING, KeepFirstByTime

GIVEN = "deduplicateGivenState"
_OLD = "_rk_old"


class FirstByTimeAtOnce(KeepFirstByTime):
    """The first row of each key by event time so far, replaced by any older one that comes later, however late.

    Savepoints of plans that let rows wait for the watermark go on: what waits is given when the watermark has passed
    it, or when a row of its key comes; of keys whose row has been given nothing but the key is known, so it stays.
    """

    def __init__(
        self,
        uid: str,
        columns: tuple[Column, ...],
        keys: tuple[int, ...],
        time: int,
        generate_update_before: bool,
        ttl_ms: int = 0,
    ) -> None:
        """`keys`, `time`: indexes of the key columns and of the event time."""
        super().__init__(uid, columns, keys, time, ttl_ms)
        self.generate_update_before = generate_update_before
        self.states = (*self.states, StateSpec(GIVEN, columns, ttl_ms, key=tuple(self.keys), since="1.3"))

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """One update at most for each key: from the row that was given to the oldest of the batch."""
        batch = batches[0]
        if batch.is_empty():
            return None
        # Ties go to the row that came first: stable order, and only a smaller time replaces.
        best = one_each(batch.sort([millis(self.time), SEQUENCE], maintain_order=True), self.keys, "first")
        on = [HASH, *self.keys]
        hashes = best.select(pl.col(HASH).unique())
        final = context.state(SEEN).read(hashes).drop(DONE)
        best = best.join(final, on=on, how="anti", nulls_equal=True)
        if best.is_empty():
            return None
        best = self._or_waiting(best, context)
        state = context.state(GIVEN)
        held = state.read(hashes)
        old = held.with_columns(pl.col(each).alias(each + _OLD) for each in self.names).select(
            *on, *(each + _OLD for each in self.names), pl.lit(True).alias("rk_known")
        )
        met = best.join(old, on=on, how="left", nulls_equal=True)
        known = pl.col("rk_known").is_not_null()
        met = met.filter(~known | (millis(self.time) < millis(self.time + _OLD)))
        rest = held.join(met, on=on, how="anti", nulls_equal=True)
        state.write(pl.concat([rest, met.select(held.columns)]))
        order = [SEQUENCE, WATERMARK] if WATERMARK in batch.columns else [SEQUENCE]
        replaced = met.filter(known)
        parts = [
            met.filter(~known).select(*self.names, kind(RowKind.INSERT), *order),
            replaced.select(*self.names, kind(RowKind.UPDATE_AFTER), *order),
        ]
        if self.generate_update_before:
            before = (pl.col(each + _OLD).alias(each) for each in self.names)
            parts.insert(0, replaced.select(*before, kind(RowKind.UPDATE_BEFORE), *order))
        return pl.concat(parts).sort(SEQUENCE, maintain_order=True)

    def _or_waiting(self, best: pl.DataFrame, context: Context) -> pl.DataFrame:
        """The rows, or those of their keys that have waited since a plan that let them, if these are not newer."""
        state = context.state(WAITING)
        held = state.read(best.select(pl.col(HASH).unique()))
        on = [HASH, *self.keys]
        waited = held.join(best, on=on, how="semi", nulls_equal=True)
        if waited.is_empty():
            return best
        state.write(held.join(best, on=on, how="anti", nulls_equal=True))
        hidden = best.select(*on, *(each for each in best.columns if each not in (*on, *self.names)))
        waited = waited.join(hidden, on=on, how="left", nulls_equal=True).select(best.columns)
        return one_each(pl.concat([waited, best]).sort(millis(self.time), maintain_order=True), self.keys, "first")

    def _give_out(self, addresses: pl.DataFrame, watermark: int, context: Context) -> pl.DataFrame:
        """As before, but the row may still be replaced."""
        state = context.state(WAITING)
        held = state.read(addresses)
        ready = millis(self.time) <= watermark
        out = held.filter(ready).sort(millis(self.time), maintain_order=True)
        if out.is_empty():
            return empty_output(self)
        state.write(held.filter(~ready))
        context.state(GIVEN).append(out)
        return out.select(*self.names, kind(RowKind.INSERT), millis(self.time).alias(SEQUENCE))
