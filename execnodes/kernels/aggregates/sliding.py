"""Accumulators over a frame of rows for each row, by doubling.

Blocks of 1, 2, 4, … rows are merged from blocks of half that size, and each frame from the blocks that its length is
the sum of: the cost is rows times the logarithm of the longest frame, whatever the function, and nothing is ever taken
back, so that no digits are lost.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.accumulator import Accumulator, Source

_ROW = "rk_at"


def slide(
    rows: pl.DataFrame, accumulators: Sequence[tuple[Accumulator, Source]], first: pl.Series, last: pl.Series
) -> pl.DataFrame:
    """Accumulators (named by `frame.delta`) over the rows from `first` to `last`, for each row; both are places."""
    folds = {name: e for each, source in accumulators for name, e in each.fold(source).items()}
    singles = rows.with_row_index(_ROW).group_by(_ROW, maintain_order=True)
    blocks = singles.agg(e.alias(frame.delta(name)) for name, e in folds.items()).drop(_ROW)
    found = blocks.clear(rows.height)
    lengths = last - first + 1
    width, longest = 1, int(str(lengths.max() or 0))
    while width <= longest:
        taken = (lengths // width) % 2 == 1
        merged = merge(blocks[last.clip(0)], found, accumulators)
        found = pl.select(
            pl.when(taken).then(merged[name]).otherwise(found[name]).alias(name) for name in found.columns
        )
        last = last.zip_with(~taken, last - width)
        if 2 * width <= longest:
            blocks = merge(blocks.select(pl.all().shift(width)), blocks, accumulators)
        width *= 2
    return found


def merge(
    earlier: pl.DataFrame, later: pl.DataFrame, accumulators: Sequence[tuple[Accumulator, Source]]
) -> pl.DataFrame:
    """Accumulators of rows that follow each other; NULL where a side has none."""
    both = pl.concat(
        [earlier.rename({name: name.removeprefix(frame.delta("")) for name in earlier.columns}), later],
        how="horizontal",
    )
    merged = {name: e for each, _ in accumulators for name, e in each.merge(frame.old, frame.added).items()}
    return both.select(e.cast(later.schema[frame.delta(name)]).alias(frame.delta(name)) for name, e in merged.items())
