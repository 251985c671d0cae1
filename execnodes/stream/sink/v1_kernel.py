"""Kernel of stream-exec-sink_1's upsert materializer: the last live row of each sink key is what the table shows."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator, StateSpec

STATE = "sinkMaterializeState"
POSITION = "rk_position"
"""Order of the live rows of a key; only comparable within the key."""
_REMOVALS = (int(RowKind.UPDATE_BEFORE), int(RowKind.DELETE))
_STEP = "rk_step"
_OLD = "_rk_old"


class UpsertMaterializer(Operator):
    """Keeps every live row of a sink key, in order of arrival.

    Rows are told apart by the query's upsert key, or else by all their columns. A removal takes out the oldest row
    that it fits; when the last row goes, the one before it shows again.
    """

    ordered = True

    def __init__(
        self,
        uid: str,
        columns: tuple[Column, ...],
        primary_key: tuple[int, ...],
        upsert_key: tuple[int, ...] | None,
        *,
        retracts: bool = True,
        ttl_ms: int = 0,
    ) -> None:
        """`retracts`: False if updates arrive without -U."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.key = [HASH, *(self.names[i] for i in primary_key)]
        self.by_upsert_key = upsert_key is not None
        told_apart = self.names if upsert_key is None else [self.names[i] for i in upsert_key]
        self.identity = list(dict.fromkeys([*self.key, *told_apart]))
        self.retracts = retracts
        self.states = (StateSpec(STATE, (*columns, Column(POSITION, BIGINT)), ttl_ms, key=tuple(self.key[1:])),)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """From the last live row of each key before the batch to the one after it."""
        batch = batches[0].sort(SEQUENCE, maintain_order=True)
        if batch.is_empty():
            return None
        touched = batch.group_by(self.key).agg(pl.col(SEQUENCE).max())
        state = context.state(STATE)
        stored = state.read(touched.select(pl.col(HASH).unique()))
        held = stored.join(touched, on=self.key, how="semi", nulls_equal=True)
        rest = stored.join(touched, on=self.key, how="anti", nulls_equal=True)
        live = self._live(held, batch)
        state.write(pl.concat([rest, live]))
        return self._changes(self._last(held), self._last(live), touched)

    def _live(self, held: pl.DataFrame, batch: pl.DataFrame) -> pl.DataFrame:
        """The live rows of the touched keys after the batch."""
        top = held[POSITION].max()
        first = int(str(top)) + 1 if top is not None else 0
        events = batch.with_columns(
            pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias(POSITION),
            pl.when(pl.col(KIND).is_in(_REMOVALS)).then(-1).otherwise(1).cast(pl.Int64).alias(_STEP),
        ).select(*held.columns, _STEP)
        steps = pl.concat([held.with_columns(pl.lit(1, pl.Int64).alias(_STEP)), events]).sort(POSITION)
        rows = steps.filter(pl.col(_STEP) > 0).join(
            steps.group_by(self.identity).agg(self._remaining().alias("rk_left")), on=self.identity, nulls_equal=True
        )
        from_end = pl.col(POSITION).rank("ordinal", descending=True).over(self.identity)
        return rows.filter(from_end <= pl.col("rk_left")).select(held.columns)

    def _remaining(self) -> pl.Expr:
        """How many rows of an identity are live in the end; a removal of a row that is not there does nothing."""
        if self.by_upsert_key and not self.retracts:
            return (pl.col(_STEP).last() > 0).cast(pl.Int64)
        walked = pl.col(_STEP).cum_sum()
        left = walked.last() - walked.min().clip(upper_bound=0)
        return left.clip(upper_bound=1) if self.by_upsert_key else left

    def _last(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.sort(POSITION).unique(subset=self.key, keep="last", maintain_order=True)

    def _changes(self, old: pl.DataFrame, new: pl.DataFrame, touched: pl.DataFrame) -> pl.DataFrame:
        gone = old.join(new, on=self.key, how="anti", nulls_equal=True)
        fresh = new.join(old, on=self.key, how="anti", nulls_equal=True)
        was = old.select(*self.key, pl.col(POSITION).alias(POSITION + _OLD))
        moved = new.join(was, on=self.key, how="inner", nulls_equal=True)
        parts = [
            _of_kind(gone, RowKind.DELETE),
            _of_kind(fresh, RowKind.INSERT),
            _of_kind(moved.filter(pl.col(POSITION) != pl.col(POSITION + _OLD)), RowKind.UPDATE_AFTER),
        ]
        changes = pl.concat([part.select(*self.names, HASH, KIND) for part in parts])
        return (
            changes.join(touched, on=self.key, how="left", nulls_equal=True)
            .select(*self.names, KIND, SEQUENCE)
            .sort(SEQUENCE, maintain_order=True)
        )


def _of_kind(rows: pl.DataFrame, kind: RowKind) -> pl.DataFrame:
    return rows.with_columns(pl.lit(int(kind), pl.Int8).alias(KIND))
