"""Watermarks row by row: what a row's lateness is judged by does not depend on how the input is cut into batches."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator, StateSpec

STATE = "watermarkState"


class RowWatermarkOperator(Operator):
    """Gives each row, in the order of the input, the watermark that stood before it.

    Source: Flink's WatermarkAssignerOperator with an emit interval of 0: after every row, the largest value so far.
    """

    VALUE_TYPE = BIGINT
    """Type of the added last input column: the watermark the row itself moves the stream to, epoch ms."""
    ordered = True

    def __init__(self, uid: str, columns: tuple[Column, ...]) -> None:
        """`columns`: those of the rows, without the added one."""
        self.uid = uid
        self.inputs = ((*columns, Column("rk_value", BIGINT)),)
        self.output = columns
        self.states = (StateSpec(STATE, (Column("watermark", BIGINT),)),)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """All rows of the stream are in one key group."""
        (rows,) = batches
        state = context.state(STATE)
        before = state.read(pl.DataFrame({HASH: [0]}, schema={HASH: pl.Int64()}))
        known = before["watermark"][0] if len(before) else None
        reached = rows.select(SEQUENCE, "rk_value").sort(SEQUENCE).with_columns(pl.col("rk_value").cum_max())
        # A null does not move the watermark; cum_max leaves it null, so carry the value before it on.
        after = pl.max_horizontal(pl.col("rk_value").forward_fill(), pl.lit(known, pl.Int64))
        reached = reached.select(SEQUENCE, after.alias("after")).with_columns(
            pl.col("after").shift(1, fill_value=known).alias(WATERMARK)
        )
        last = reached["after"].max() if len(reached) else known
        state.write(pl.DataFrame({HASH: [0], "watermark": [last]}, schema={HASH: pl.Int64(), "watermark": pl.Int64()}))
        return rows.sort(SEQUENCE).drop("rk_value", HASH, WATERMARK, strict=False).hstack([reached[WATERMARK]])
