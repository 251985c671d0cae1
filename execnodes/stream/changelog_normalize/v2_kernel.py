"""Kernel of stream-exec-changelog-normalize."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.expressions import Expression
from execnodes.kernels.polars_predicates import compile
from execnodes.lowering.stream import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator, StateSpec

STATE = "changelogNormalizeState"
_OLD = "_rk_old"
_KNOWN = "rk_known"


class NormalizeOperator(Operator):
    """State is the present row of each key; a batch moves a key from that row to the last one it brings.

    A row that does not fit the condition is none: its key is gone as by a delete.
    """

    ordered = True

    def __init__(
        self,
        uid: str,
        columns: tuple[Column, ...],
        keys: tuple[int, ...],
        generate_update_before: bool,
        condition: Expression | None = None,
        ttl_ms: int = 0,
    ) -> None:
        """`keys`: indexes of the key columns."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.keys = [self.names[key] for key in keys]
        self.generate_update_before = generate_update_before
        self.condition = condition
        self.states = (StateSpec(STATE, columns, ttl_ms, key=tuple(self.keys)),)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """At most one change a key: +I, -U/+U or -D; what changes nothing is swallowed."""
        told = batches[0].filter(pl.col(KIND) != int(RowKind.UPDATE_BEFORE))
        if told.is_empty():
            return None
        ordered = told.sort(SEQUENCE, maintain_order=True)
        last = self._fitting(ordered.unique(subset=self.keys, keep="last", maintain_order=True))
        state = context.state(STATE)
        held = state.read(last.select(pl.col(HASH).unique()))
        old = held.rename({name: name + _OLD for name in self.names}).with_columns(pl.lit(True).alias(_KNOWN))
        met = last.join(
            old,
            left_on=[HASH, *self.keys],
            right_on=[HASH, *(key + _OLD for key in self.keys)],
            how="left",
            nulls_equal=True,
            coalesce=False,
            suffix="_rk_side",
        )
        same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name + _OLD)) for name in self.names)
        gone, known = pl.col(KIND) == int(RowKind.DELETE), pl.col(_KNOWN).is_not_null()
        changed = met.filter(pl.when(gone).then(known).otherwise(~(known & same)))
        if changed.is_empty():
            return None
        rest = held.join(changed, on=[HASH, *self.keys], how="anti", nulls_equal=True)
        state.write(pl.concat([rest, changed.filter(~gone).select(held.columns)]))
        return self._changes(changed, gone, known, WATERMARK in told.columns)

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Of a state that was kept without the condition the rows that fit it."""
        kept = rows if self.condition is None else rows.filter(compile(self.condition, self.names))
        super().restore(name, kept, context)

    def _fitting(self, rows: pl.DataFrame) -> pl.DataFrame:
        if self.condition is None:
            return rows
        fits = compile(self.condition, self.names).fill_null(False)
        return rows.with_columns(pl.when(fits).then(KIND).otherwise(int(RowKind.DELETE)).cast(pl.Int8).alias(KIND))

    def _changes(self, changed: pl.DataFrame, gone: pl.Expr, known: pl.Expr, row_watermarks: bool) -> pl.DataFrame:
        order = [SEQUENCE, WATERMARK] if row_watermarks else [SEQUENCE]
        before = [pl.col(name + _OLD).alias(name) for name in self.names]
        updated = changed.filter(~gone & known)
        parts = [
            # A delete may bring no more than the key; what goes is the row that was there.
            changed.filter(gone).select(*before, _kind(RowKind.DELETE), *order),
            changed.filter(~gone & ~known).select(*self.names, _kind(RowKind.INSERT), *order),
            updated.select(*self.names, _kind(RowKind.UPDATE_AFTER), *order),
        ]
        if self.generate_update_before:
            parts.insert(0, updated.select(*before, _kind(RowKind.UPDATE_BEFORE), *order))
        return pl.concat(parts).sort(SEQUENCE, maintain_order=True)


def _kind(kind: RowKind) -> pl.Expr:
    return pl.lit(int(kind), pl.Int8).alias(KIND)
