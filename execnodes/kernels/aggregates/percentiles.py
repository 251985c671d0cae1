"""PERCENTILE: exact, between the two nearest values; made from all values of a group and how often each occurs."""

from __future__ import annotations

import json

import polars as pl

from execnodes.aggregates import PERCENTAGE
from execnodes.core.types import Root
from execnodes.kernels.aggregates.accumulator import Accumulator, ColumnOf, Source
from execnodes.kernels.aggregates.json_text import json_text


class Percentile(Accumulator):
    """PERCENTILE of one percentage, or of several as an array."""

    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """The result over all values; `source.sign` is how often each occurs, beside its frequency if there is one."""
        value, frequency = source.value, source.values[1:]
        number = value.cast(pl.Float64)
        if self.arg is not None and self.arg.root is Root.DECIMAL:
            number = number / 10.0**self.arg.scale
        ordered = number.sort_by(value)
        counts = value.is_not_null().cast(pl.Int64)
        if source.sign is not None and not self.call.distinct:
            counts = counts * source.sign
        for each in frequency:
            counts = counts * each.cast(pl.Int64).fill_null(0).clip(0)
        reached = counts.sort_by(value).cum_sum()
        found = [_at(ordered, reached, percentage) for percentage in self._percentages]
        if self.call.type.root is not Root.ARRAY:
            return {self._column: found[0]}
        texts = [json_text(each, self.call.type.children[0]) for each in found]
        return {self._column: pl.lit("[") + pl.concat_str(texts, separator=",") + pl.lit("]")}

    def merge(self, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        """Always made anew."""
        return {self._column: delta(self._column)}

    def result(self, column: ColumnOf) -> pl.Expr:
        """NULL without values."""
        return column(self._column)

    @property
    def _column(self) -> str:
        return self.columns[0].name

    @property
    def _percentages(self) -> list[float]:
        told = json.loads(str(self.call.options[PERCENTAGE]))
        return [float(each) for each in told] if isinstance(told, list) else [float(told)]


def _at(values: pl.Expr, reached: pl.Expr, percentage: float) -> pl.Expr:
    """The value at a share of the way from the first to the last; NULL if there are none."""
    place = (reached.last() - 1).cast(pl.Float64) * percentage
    low, high = place.floor(), place.ceil()
    lower, higher = values.filter(reached > low).first(), values.filter(reached > high).first()
    between = (high - place) * lower + (place - low) * higher
    return pl.when(reached.last() > 0).then(pl.when(lower == higher).then(lower).otherwise(between))
