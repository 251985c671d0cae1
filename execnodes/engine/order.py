"""The order of changes: rows of a micro-batch by number, and what comes of them back in the order of the source.

All that comes of one row of a source has one place in that order, removals first.
"""

from __future__ import annotations

import polars as pl

from execnodes.lowering.stream import FIRED, KIND, MAJOR, SEQUENCE, WATERMARK


def number_rows(batch: pl.DataFrame, *, ordered: bool) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Rows in the order of the input, with SEQUENCE as their number in it, and the order they had (MAJOR, SEQUENCE).

    Of one input row's changes the removals come first. Where the pipeline carries no order the rows are numbered as
    they stand, and there is no order to give back.
    """
    place = pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE)
    if not ordered:
        return batch.with_columns(place), None
    adds = pl.col(KIND) % 2 == 0
    sorted_rows = batch.sort(MAJOR, SEQUENCE, adds, nulls_last=False, maintain_order=True)
    return sorted_rows.with_columns(place), sorted_rows.select(MAJOR, SEQUENCE)


def restore_order(changes: pl.DataFrame, order: pl.DataFrame | None) -> pl.DataFrame:
    """Give changes the order of the input rows that caused them (kernels name those by number).

    Changes that no row caused (a window fires) have none and so come first: they belong to the time before the batch.
    """
    bare = changes.drop(MAJOR, strict=False)
    if order is None or SEQUENCE not in bare.columns:
        return bare
    places = _causes(bare, len(order))
    return bare.drop(SEQUENCE).hstack([order[name].gather(places) for name in (MAJOR, SEQUENCE)])


def _causes(changes: pl.DataFrame, rows: int) -> pl.Series:
    """Which of so many input rows caused each change; null where it was none of them."""
    cause = changes[SEQUENCE].cast(pl.Int64)
    known = cause.is_between(0, rows - 1).fill_null(False)
    return cause.zip_with(known, pl.Series([None], dtype=pl.Int64).new_from_index(0, len(cause)))


def by_cause(rows: pl.DataFrame, order: pl.DataFrame | None) -> list[pl.DataFrame]:
    """A frame for the rows that one row of a source has caused; those that none has caused stand alone.

    What became of one row has one place in the order. Taken apart it would update a group twice, at that one place,
    and removals, which come first there, would take back what was not given yet.
    """
    if order is None or rows.is_empty():
        return [rows.slice(place, 1) for place in range(len(rows))]
    told = [name for name in (MAJOR, SEQUENCE, WATERMARK) if name in order.columns or name in rows.columns]
    causes = rows.drop(MAJOR, SEQUENCE, strict=False).hstack(order[rows[SEQUENCE]].select(MAJOR, SEQUENCE))
    same = pl.all_horizontal(pl.col(each).eq_missing(pl.col(each).shift()) for each in told)
    begins = causes.select((~same | pl.col(SEQUENCE).is_null()).fill_null(True)).to_series()
    starts = [0, *(place for place in begins.arg_true() if place)]
    return [rows[start:end] for start, end in zip(starts, [*starts[1:], len(rows)], strict=True)]


def joined(results: list[pl.DataFrame | None], steps: list[pl.DataFrame]) -> pl.DataFrame | None:
    """Changes of several steps, each with the number of the first row of its step."""
    if len(results) == 1:
        return results[0]
    caused = [
        changes.with_columns(pl.lit(rows[SEQUENCE][0], pl.Int64).alias(SEQUENCE))
        for changes, rows in zip(results, steps, strict=True)
        if changes is not None
    ]
    return pl.concat(caused, how="diagonal") if caused else None


def before_watermark(rows: pl.DataFrame, watermark: int | None) -> pl.DataFrame:
    """Give each row the watermark it must be judged by. Those that a watermark gave (`FIRED`) have just what their
    operator says, or none: the watermark was before them.
    """
    told = pl.col(WATERMARK) if WATERMARK in rows.columns else pl.lit(None, pl.Int64)
    known = pl.max_horizontal(pl.lit(watermark, pl.Int64), told)
    return rows.with_columns(pl.when(pl.col(KIND) < FIRED).then(known).otherwise(told).alias(WATERMARK))


def under_watermark(changes: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Give changes the watermark under which the row came that caused them, if rows have one each.

    Only where rows are taken one by one, for a change of several rows is of none of them; and for operators with one
    input: behind several the watermark is the least of theirs, which no row knows.
    """
    if WATERMARK not in rows.columns or WATERMARK in changes.columns or SEQUENCE not in changes.columns:
        return changes
    places = _causes(changes, len(rows))
    return changes.with_columns(rows[WATERMARK].gather(places).alias(WATERMARK))
