"""SINGLE_VALUE: the only row of a group."""

from __future__ import annotations

import polars as pl

from execnodes.kernels.aggregates.accumulator import Accumulator, ColumnOf, Source


class SingleValue(Accumulator):
    """SINGLE_VALUE; made from a values state, which sees that there is no second row."""

    @property
    def keeps_nulls(self) -> bool:
        """A row with NULL is a row."""
        return True

    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """The last row's value: there is no other."""
        return {self.columns[0].name: source.values[0].last()}

    def merge(self, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        """Always made anew."""
        return {self.columns[0].name: delta(self.columns[0].name)}

    def result(self, column: ColumnOf) -> pl.Expr:
        """NULL without a row."""
        return column(self.columns[0].name)
