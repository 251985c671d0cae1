"""Names of columns in the frames that pass between the steps of an aggregation."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

SIGN = "rk_sign"
"""1 for an insertion, -1 for a retraction, as Int64; only over input that retracts."""
FILL = "rk_fill"
"""TRUE where a values state has something new for a group."""

VALUE, FREQUENCY, MAP_KEY = "value", "frequency", "key"
"""Arguments of calls, in states that keep values."""


def key(position: int) -> str:
    """A key column, by position among the keys; also its name in state."""
    return f"k{position}"


def arg(index: int) -> str:
    """An input column that a call reads, by its index in the input."""
    return f"a{index}"


def delta(name: str) -> str:
    """What a batch adds to an accumulator column."""
    return f"delta:{name}"


def old(name: str) -> pl.Expr:
    """An accumulator column as it was."""
    return pl.col(name)


def added(name: str) -> pl.Expr:
    """What a batch adds to an accumulator column."""
    return pl.col(delta(name))


def new(name: str) -> pl.Expr:
    """An accumulator column as it is now."""
    return pl.col(f"new:{name}")


def left_join(left: pl.DataFrame, right: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Rows of `left` with those of `right` where there are; NULL keys match each other."""
    if right.height > 2 * left.height:
        # The join builds its table over the right side, the semi join over the smaller one.
        right = semi_join(right, left, on)
    return left.join(right, on=list(on), how="left", nulls_equal=True, maintain_order="left")


def anti_join(left: pl.DataFrame, right: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Rows of `left` without a partner in `right`."""
    return left.join(right, on=list(on), how="anti", nulls_equal=True)


def semi_join(left: pl.DataFrame, right: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Rows of `left` with a partner in `right`."""
    return left.join(right, on=list(on), how="semi", nulls_equal=True)
