"""MIN and MAX over input that never retracts; over other input they read a values state (`values`).

A NaN is the greatest number. Of values that are equal, such as 0.0 and -0.0, the first one stays, as in Flink.
"""

from __future__ import annotations

import polars as pl

from execnodes.core.predicates import FLOATS
from execnodes.kernels.aggregates.accumulator import Accumulator, ColumnOf, Source


class Extreme(Accumulator):
    """MIN and MAX: the value. Texts compare by their UTF-8 bytes."""

    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """Least or greatest value."""
        return {self._value: self._of(source.value)}

    def combine(self) -> dict[str, pl.Expr]:
        """Least or greatest of several."""
        return {self._value: self._of(pl.col(self._value))}

    def merge(self, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        """The better of two; one alone where the other is NULL."""
        first, second = old(self._value), delta(self._value)
        better = second < first if self.function == "MIN" else second > first
        return {self._value: pl.when(first.is_null() | better).then(second).otherwise(first)}

    def result(self, column: ColumnOf) -> pl.Expr:
        """The value."""
        return column(self._value)

    @property
    def _value(self) -> str:
        return self.name(self.function.lower())

    def _of(self, value: pl.Expr) -> pl.Expr:
        if self.arg is None or self.arg.root not in FLOATS:
            return value.min() if self.function == "MIN" else value.max()
        # Of a zero of either sign, Polars takes the last one; and its MAX knows no NaN.
        extreme = value.min() if self.function == "MIN" else value.nan_max()
        return value.filter(value == extreme).first()
