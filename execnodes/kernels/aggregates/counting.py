"""COUNT: how many values, or rows, there are; exact also when rows are taken back."""

from __future__ import annotations

import polars as pl

from execnodes.kernels.aggregates.accumulator import Accumulator, ColumnOf, Source, added


class Count(Accumulator):
    """COUNT(*) and COUNT(value): a counter."""

    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """Count rows or non-null values."""
        return {self.name("count"): source.count()}

    def combine(self) -> dict[str, pl.Expr]:
        """Add counters."""
        return {self.name("count"): pl.col(self.name("count")).sum()}

    def merge(self, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        """Add counters."""
        name = self.name("count")
        return {name: added(old(name), delta(name))}

    def result(self, column: ColumnOf) -> pl.Expr:
        """0 for nothing."""
        return column(self.name("count")).fill_null(0)
