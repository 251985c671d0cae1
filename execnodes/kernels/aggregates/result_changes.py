"""From old and new accumulators of groups to the changes of their results."""

from __future__ import annotations

import polars as pl

from execnodes.aggregates import RECORD_COUNT
from execnodes.core.changelog import RowKind
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import KNOWN, Aggregation
from execnodes.lowering.stream import KIND, SEQUENCE
from execnodes.state.kernel_types import Column

_WAS, _IS, _CHANGED = "rk_was", "rk_is", "rk_changed"


def changes(
    aggregation: Aggregation, merged: pl.DataFrame, output: tuple[Column, ...], update_before: bool
) -> pl.DataFrame:
    """Changes of merged groups: +I for a new one, -D for one that is gone, an update where a result differs.

    With a TTL an update comes even where nothing differs, so that state further down is kept alive, too. Rows that
    take away come first. `output`: keys, then results.
    """
    names = [column.name for column in output]
    width = len(aggregation.keys)
    results = names[width:]
    olds = [e.alias(f"was:{name}") for name, e in zip(results, aggregation.results(frame.old), strict=True)]
    news = [e.alias(f"is:{name}") for name, e in zip(results, aggregation.results(frame.new), strict=True)]
    keys = [pl.col(key.name).alias(name) for key, name in zip(aggregation.keys, names[:width], strict=True)]
    behind = [SEQUENCE] if SEQUENCE in merged.columns else []
    rows = merged.select(*keys, *behind, *_presence(aggregation), *olds, *news)
    differs = [pl.col(f"was:{name}").ne_missing(pl.col(f"is:{name}")) for name in results]
    changed = pl.lit(True) if aggregation.ttl_ms else pl.any_horizontal(pl.lit(False), *differs)
    rows = rows.with_columns(changed.alias(_CHANGED))
    was, now, differ = pl.col(_WAS), pl.col(_IS), pl.col(_CHANGED)
    removed = was & ~now
    gone = rows.filter(removed | (differ & was & now)) if update_before else rows.filter(removed)
    come = rows.filter(now & (differ | ~was))
    away = pl.when(now).then(_kind(RowKind.UPDATE_BEFORE)).otherwise(_kind(RowKind.DELETE))
    added = pl.when(was).then(_kind(RowKind.UPDATE_AFTER)).otherwise(_kind(RowKind.INSERT))
    parts = ((gone, "was", away), (come, "is", added))
    return pl.concat(
        part.select(
            *names[:width], *(pl.col(f"{side}:{name}").alias(name) for name in results), kind.alias(KIND), *behind
        )
        for part, side, kind in parts
    )


def _presence(aggregation: Aggregation) -> list[pl.Expr]:
    if not aggregation.retract:
        return [pl.col(KNOWN).fill_null(False).alias(_WAS), pl.lit(True).alias(_IS)]
    return [
        (pl.col(RECORD_COUNT).fill_null(0) > 0).alias(_WAS),
        (frame.new(RECORD_COUNT) > 0).alias(_IS),
    ]


def _kind(kind: RowKind) -> pl.Expr:
    return pl.lit(int(kind), pl.Int8)
