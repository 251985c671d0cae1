"""Kernels of stream-exec-deduplicate: the last row of a key, its first to arrive."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.lowering.stream import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator, StateSpec

STATE = "deduplicateState"
_NEW = "_rk_new"


class KeepLast(Operator):
    """The last row of each key, by event time or by arrival; changes at once."""

    ordered = True

    def __init__(
        self,
        uid: str,
        columns: tuple[Column, ...],
        keys: tuple[int, ...],
        time: int | None,
        generate_update_before: bool,
        ttl_ms: int = 0,
    ) -> None:
        """`time`: index of the event time; None goes by arrival."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.keys = [self.names[key] for key in keys]
        self.time = None if time is None else self.names[time]
        self.generate_update_before = generate_update_before
        self.states = (StateSpec(STATE, columns, ttl_ms, key=tuple(self.keys)),)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """One update at most for each key: from the row in state to the winner of the batch."""
        batch = batches[0]
        if batch.is_empty():
            return None
        order = [SEQUENCE] if self.time is None else [millis(self.time), SEQUENCE]
        best = one_each(batch.sort(order, maintain_order=True), self.keys, "last")
        state = context.state(STATE)
        held = state.read(best.select(pl.col(HASH).unique()))
        old = held.select(*self.names, HASH).rename({name: name + _NEW for name in self.names})
        met = best.join(
            old.with_columns(pl.lit(True).alias("rk_known")),
            left_on=[HASH, *self.keys],
            right_on=[HASH, *(key + _NEW for key in self.keys)],
            how="left",
            nulls_equal=True,
            coalesce=False,
            suffix="_rk_side",
        )
        if self.time is not None:
            # An equal time replaces, an older row is ignored.
            wins = pl.col("rk_known").is_null() | (millis(self.time) >= millis(self.time + _NEW))
            met = met.filter(wins)
        known = pl.col("rk_known").is_not_null()
        rest = held.join(met, on=[HASH, *self.keys], how="anti", nulls_equal=True)
        state.write(pl.concat([rest, met.select(held.columns)]))
        return self._changes(met, known, WATERMARK in batch.columns)

    def _changes(self, met: pl.DataFrame, known: pl.Expr, row_watermarks: bool) -> pl.DataFrame:
        order = [SEQUENCE, WATERMARK] if row_watermarks else [SEQUENCE]
        updated = met.filter(known)
        parts = [
            met.filter(~known).select(*self.names, kind(RowKind.INSERT), *order),
            updated.select(*self.names, kind(RowKind.UPDATE_AFTER), *order),
        ]
        if self.generate_update_before:
            before = [pl.col(name + _NEW).alias(name) for name in self.names]
            parts.insert(0, updated.select(*before, kind(RowKind.UPDATE_BEFORE), *order))
        return pl.concat(parts).sort(SEQUENCE, maintain_order=True)


class KeepFirstToArrive(Operator):
    """The first row of each key to arrive, given out at once; state holds the keys seen."""

    ordered = True

    def __init__(self, uid: str, columns: tuple[Column, ...], keys: tuple[int, ...], ttl_ms: int = 0) -> None:
        """`keys`: indexes of the key columns."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.keys = [self.names[key] for key in keys]
        self.states = (StateSpec(STATE, tuple(columns[key] for key in keys), ttl_ms, key=tuple(self.keys)),)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Rows of keys not seen before; the state only grows."""
        batch = batches[0]
        if batch.is_empty():
            return None
        first = one_each(batch.sort(SEQUENCE, maintain_order=True), self.keys, "first")
        state = context.state(STATE)
        seen = state.read(first.select(pl.col(HASH).unique()))
        fresh = first.join(seen, on=[HASH, *self.keys], how="anti", nulls_equal=True, maintain_order="left")
        state.append(fresh.select(seen.columns))
        order = [SEQUENCE, WATERMARK] if WATERMARK in batch.columns else [SEQUENCE]
        return fresh.select(*self.names, kind(RowKind.INSERT), *order)


def one_each(ordered: pl.DataFrame, keys: list[str], keep: str) -> pl.DataFrame:
    """The first or last row of each key; without keys all rows are of one."""
    if keep == "first":
        return ordered.unique(subset=keys, keep="first", maintain_order=True) if keys else ordered.head(1)
    return ordered.unique(subset=keys, keep="last", maintain_order=True) if keys else ordered.tail(1)


def millis(column: str) -> pl.Expr:
    """Event time as watermarks count it."""
    return pl.col(column).floordiv(1000)


def kind(kind: RowKind) -> pl.Expr:
    """A row kind as a column."""
    return pl.lit(int(kind), pl.Int8).alias(KIND)
