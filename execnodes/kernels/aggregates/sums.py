"""SUM, $SUM0 and AVG.

Integer sums wrap at 64 bits and their results at the type's width. A DECIMAL sum of more than 38 digits turns NULL, and
the next value starts it anew.
"""

from __future__ import annotations

import polars as pl

from execnodes.aggregates.sums import MAX_DECIMAL
from execnodes.core.types import INTEGERS, Root
from execnodes.kernels.aggregates.accumulator import Accumulator, ColumnOf, Source, added, wrapped

_NARROW = 10
"""DECIMALs of so many digits are summed as Int64 within a batch: it would take 900 million rows to overflow."""
_HALF = 10**19
_INT128_SAFE = 1.5e38


class Sum(Accumulator):
    """SUM and $SUM0: a sum, NULL before the first value, and over retracting input how many values it holds."""

    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """Sum of the values, NULL if there is none."""
        parts = {self.name("sum"): self._total(source)}
        if self._counts:
            parts[self.name("count")] = source.count()
        return parts

    def combine(self) -> dict[str, pl.Expr]:
        """Sum of sums."""
        total = pl.col(self.name("sum"))
        parts: dict[str, pl.Expr] = {self.name("sum"): pl.when(total.count() > 0).then(self._sum_of(total))}
        if self._counts:
            parts[self.name("count")] = pl.col(self.name("count")).sum()
        return parts

    def merge(self, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        """Sum of two sums; one alone where the other is NULL."""
        name = self.name("sum")
        both = old(name) + delta(name)
        if self._decimal:
            near = old(name).cast(pl.Float64) + delta(name).cast(pl.Float64)
            both = pl.when(near.abs() < _INT128_SAFE).then(_fitting(both))
            merged = pl.when(old(name).is_not_null() & delta(name).is_not_null()).then(both)
            parts = {name: merged.otherwise(pl.coalesce(old(name), delta(name)))}
        else:
            parts = {name: pl.coalesce(both, old(name), delta(name))}
        if self._counts:
            parts[self.name("count")] = added(old(self.name("count")), delta(self.name("count")))
        return parts

    def result(self, column: ColumnOf) -> pl.Expr:
        """The sum at the type's width."""
        total = wrapped(column(self.name("sum")), self.call.type)
        if self._counts:
            total = pl.when(column(self.name("count")) != 0).then(total)
        return total.fill_null(0) if self.function == "$SUM0" else total

    @property
    def _counts(self) -> bool:
        return self.retract

    @property
    def _decimal(self) -> bool:
        return self.arg is not None and self.arg.root is Root.DECIMAL

    def _total(self, source: Source) -> pl.Expr:
        value = source.value.cast(self.columns[0].dtype) if not self._decimal else source.value
        if source.sign is not None:
            value = value * source.sign.cast(pl.Float32) if value_is_float32(self) else value * source.sign
        return pl.when(value.count() > 0).then(self._sum_of(value))

    def _sum_of(self, value: pl.Expr) -> pl.Expr:
        if self.arg is None or not self._decimal:
            return value.sum()
        if self.arg.precision <= _NARROW:
            return value.sum().cast(pl.Int128)
        wide = value.cast(pl.Int128)
        if self.arg.precision <= 18:
            return wide.sum()
        # The halves cannot overflow, so their sums show whether the whole does.
        half = pl.lit(_HALF, pl.Int128)
        high = (wide // half).sum() + (wide % half).sum() // half
        return pl.when((high < half) & (high >= -half)).then(_fitting(wide.sum()))


def value_is_float32(accumulator: Sum) -> bool:
    """Whether sums are kept as Float32, which a product with Int64 would widen."""
    return accumulator.columns[0].dtype == pl.Float32()


def _fitting(value: pl.Expr) -> pl.Expr:
    limit = pl.lit(10**MAX_DECIMAL, pl.Int128)
    return pl.when((value < limit) & (value > -limit)).then(value)


class Average(Sum):
    """AVG: a sum and a count."""

    def result(self, column: ColumnOf) -> pl.Expr:
        """Integers cut toward zero, DECIMALs rounded half up; NULL without values."""
        total, count = column(self.name("sum")), column(self.name("count"))
        present = pl.when(count != 0)
        if self._decimal:
            return present.then(self._decimal_quotient(total, count))
        if self.call.type.root in INTEGERS:
            floor, rest = total // count, total % count
            toward_zero = floor + ((floor < 0) & (rest != 0)).cast(pl.Int64)
            return present.then(wrapped(toward_zero, self.call.type))
        quotient = total.cast(pl.Float64) / count
        return present.then(quotient.cast(pl.Float32) if self.call.type.root is Root.FLOAT else quotient)

    @property
    def _counts(self) -> bool:
        return True

    def _decimal_quotient(self, total: pl.Expr, count: pl.Expr) -> pl.Expr:
        """Unscaled at the result's scale: whole part and rest apart, so that only a true overflow is one."""
        assert self.arg is not None
        shift = self.call.type.scale - self.arg.scale
        divisor = count.cast(pl.Int128)
        magnitude = total.abs()
        whole, rest = magnitude // divisor, (magnitude % divisor) * 10**shift
        rounded = (rest * 2 + divisor) // (divisor * 2)
        limit = pl.lit(10 ** (MAX_DECIMAL - shift), pl.Int128)
        quotient = pl.when(whole < limit).then(whole * 10**shift + rounded)
        return _fitting(quotient) * pl.when(total < 0).then(-1).otherwise(1)
