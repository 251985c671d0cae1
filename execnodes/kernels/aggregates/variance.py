"""VAR_POP, VAR_SAMP, STDDEV_POP and STDDEV_SAMP, computed in DOUBLE whatever the argument is.

Kept are the count, the mean and the sum of squared distances from it (M2), merged by Chan's formulas, which lose no
digits where values are large and close together.
"""

from __future__ import annotations

import polars as pl

from execnodes.core.types import INTEGERS, Root
from execnodes.kernels.aggregates.accumulator import Accumulator, ColumnOf, Source

_PARTS = ("count", "mean", "m2")
_INT64_EDGE = 9.2e18


class Variance(Accumulator):
    """Count, mean and M2."""

    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """Moments of the values; with retraction those of the inserted and of the retracted rows apart."""
        value = source.value.cast(pl.Float64)
        if self.arg is not None and self.arg.root is Root.DECIMAL:
            value = value / 10.0**self.arg.scale
        if source.sign is None:
            return self._moments(value, "")
        return {
            **self._moments(pl.when(source.sign > 0).then(value), ""),
            **self._moments(pl.when(source.sign < 0).then(value), "-"),
        }

    def combine(self) -> dict[str, pl.Expr]:
        """Moments of the union of parts."""
        count, mean, m2 = (pl.col(self.name(part)) for part in _PARTS)
        all_mean = (mean * count).sum() / count.sum()
        spread = (count * (mean - all_mean) ** 2).sum()
        return {
            self.name("count"): count.sum(),
            self.name("mean"): pl.when(count.sum() > 0).then(all_mean),
            self.name("m2"): pl.when(count.sum() > 0).then(m2.sum() + spread),
        }

    def merge(self, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        """Add the inserted part, then take the retracted one away."""
        count, mean, m2 = (old(self.name(part)).fill_null(0) for part in _PARTS)
        count, mean, m2 = _united(count, mean, m2, *(delta(self.name(part)).fill_null(0) for part in _PARTS))
        if self.retract:
            gone = tuple(delta(self.name(f"-{part}")).fill_null(0) for part in _PARTS)
            count, mean, m2 = _parted(count, mean, m2, *gone)
        return {self.name("count"): count, self.name("mean"): mean, self.name("m2"): m2}

    def result(self, column: ColumnOf) -> pl.Expr:
        """NULL without values, *_SAMP also for one; integers are cut, DECIMALs rounded."""
        count, m2 = column(self.name("count")), column(self.name("m2"))
        divisor = count - 1 if self.function.endswith("SAMP") else count
        value = m2 / divisor
        value = value.sqrt() if self.function.startswith("STDDEV") else value
        return pl.when(divisor > 0).then(self._typed(value))

    def _moments(self, value: pl.Expr, mark: str) -> dict[str, pl.Expr]:
        count = value.count().cast(pl.Int64)
        return {
            self.name(f"{mark}count"): count,
            self.name(f"{mark}mean"): value.mean(),
            self.name(f"{mark}m2"): value.var(ddof=0) * count,
        }

    def _typed(self, value: pl.Expr) -> pl.Expr:
        root = self.call.type.root
        if root is Root.DECIMAL:
            scaled = (value * 10.0**self.call.type.scale).round(0, mode="half_away_from_zero")
            return pl.when(scaled.abs() < 1e38).then(scaled).cast(pl.Int128, strict=False)
        if root in INTEGERS:
            return value.clip(-_INT64_EDGE, _INT64_EDGE).fill_nan(0).cast(pl.Int64)
        return value.cast(pl.Float32) if root is Root.FLOAT else value


def _united(
    n: pl.Expr, mean: pl.Expr, m2: pl.Expr, n2: pl.Expr, mean2: pl.Expr, m22: pl.Expr
) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    total = n + n2
    step = mean2 - mean
    new_mean = pl.when(n > 0).then(mean + step * n2 / total).otherwise(mean2)
    # In this form one row more is exactly a step of Welford's method, to the last digit.
    new_m2 = pl.when(n > 0).then(m2 + m22 + step * n2 * (mean2 - new_mean)).otherwise(m22)
    return total, new_mean, new_m2


def _parted(
    n: pl.Expr, mean: pl.Expr, m2: pl.Expr, n2: pl.Expr, mean2: pl.Expr, m22: pl.Expr
) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """The opposite of `_united`; rounding must not leave M2 below zero."""
    rest = n - n2
    left = rest > 0
    new_mean = pl.when(left).then(mean - (mean2 - mean) * n2 / rest).otherwise(0.0)
    shrunk = m2 - m22 - (mean2 - mean) * n2 * (mean2 - new_mean)
    # What has met a NaN stays one.
    of_one = pl.when(shrunk.is_nan()).then(shrunk).otherwise(0.0)
    smaller = pl.when(rest > 1).then(shrunk.clip(lower_bound=0.0)).when(left).then(of_one).otherwise(0.0)
    return rest, new_mean, pl.when(n2 == 0).then(m2).otherwise(smaller)
