"""What a micro-batch makes of the rows of partitions: rows are added, replaced by key, or taken back."""

from __future__ import annotations

import polars as pl

from execnodes.lowering.stream import HASH, KIND, SEQUENCE

OLD = "rk_old"
"""Rank of a row before the batch; null for a new row."""
NEW = "rk_new"
"""Rank of a row after the batch."""
END = "rk_end"
"""Highest rank that is kept of a partition."""
PLACE = "rk_place"
"""Order among rows that sort alike, before those that have none (which go by arrival)."""
_TIME, _SIGN = "rk_time", "rk_sign"


def with_updates(held: pl.DataFrame, added: pl.DataFrame, key: list[str], order: list[str]) -> pl.DataFrame:
    """`held` with the last version of each row (by `key`) of `added`.

    A row that still sorts as it did keeps its place; another one comes behind those that sort like it.
    """
    since = pl.col(SEQUENCE).min().over([HASH, *key, *order])
    last = added.with_columns(since).unique(subset=[HASH, *key], keep="last", maintain_order=True)
    versions = held.select(HASH, *dict.fromkeys((*key, *order)), PLACE)
    on = [HASH, *dict.fromkeys((*key, *order))]
    placed = last.join(versions, on=on, how="left", nulls_equal=True)
    rest = held.join(last, on=[HASH, *key], how="anti", nulls_equal=True)
    return pl.concat([rest, placed], how="diagonal")


def without_retracted(held: pl.DataFrame, batch: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """`held` (in order) and the rows that the batch adds, less those it takes back: of equal rows the first.

    A removal takes only what is there when it comes; one that finds nothing is passed by.
    """
    adds = pl.col(KIND) % 2 == 0
    added = batch.filter(adds).select(*names, HASH, SEQUENCE)
    rows = pl.concat([held, added], how="diagonal")
    removals = batch.filter(~adds)
    if removals.is_empty():
        return rows
    row = [HASH, *names]
    gone = removals.select(row).unique()
    concerned = rows.join(gone, on=row, how="semi", nulls_equal=True)
    additions = concerned.select(*row, pl.col(SEQUENCE).fill_null(-1).alias(_TIME), pl.lit(1).alias(_SIGN))
    taken = removals.select(*row, pl.col(SEQUENCE).alias(_TIME), pl.lit(-1).alias(_SIGN))
    events = pl.concat([additions, taken]).sort(_TIME, _SIGN)
    # What is there never falls below nothing: the deepest point would be removals that found no row.
    missed = pl.max_horizontal(-pl.col(_SIGN).cum_sum().min(), 0)
    numbers = events.group_by(row).agg(((pl.col(_SIGN) < 0).sum() - missed).alias(_TIME))
    copy = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(row)
    numbered = concerned.sort(OLD, SEQUENCE, nulls_last=True).with_columns(copy.alias(_SIGN))
    left = numbered.join(numbers, on=row, how="left", nulls_equal=True).filter(pl.col(_SIGN) > pl.col(_TIME))
    others = rows.join(gone, on=row, how="anti", nulls_equal=True)
    return pl.concat([others, left.select(others.columns)]).sort(PLACE, SEQUENCE, nulls_last=True)
