"""Functions that go by arrival: FIRST_VALUE, LAST_VALUE, LISTAGG, ARRAY_AGG and JSON_ARRAYAGG.

Rows come sorted by their sequence. Over input that never retracts the result itself is the accumulator and grows; over
other input it is folded from a values state (`sequenced`).
"""

from __future__ import annotations

from abc import abstractmethod

import polars as pl

from execnodes.aggregates import SEPARATOR
from execnodes.kernels.aggregates.accumulator import Accumulator, ColumnOf, Source
from execnodes.kernels.aggregates.json_text import json_text


class _Arrival(Accumulator):
    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """The result over these rows alone; NULL for none."""
        return {self._column: self._of(source)}

    def merge(self, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        """Old values, then new ones; one alone where the other is NULL."""
        first, second = old(self._column), delta(self._column)
        return {self._column: pl.coalesce(self._joined(first, second), first, second)}

    def result(self, column: ColumnOf) -> pl.Expr:
        """The accumulator."""
        return column(self._column)

    @property
    def _column(self) -> str:
        return self.columns[0].name

    @abstractmethod
    def _of(self, source: Source) -> pl.Expr: ...

    @abstractmethod
    def _joined(self, first: pl.Expr, second: pl.Expr) -> pl.Expr: ...


class FirstValue(_Arrival):
    """FIRST_VALUE: the first non-null value."""

    def _of(self, source: Source) -> pl.Expr:
        return source.value.drop_nulls().first()

    def _joined(self, first: pl.Expr, second: pl.Expr) -> pl.Expr:
        return first


class LastValue(_Arrival):
    """LAST_VALUE: the last non-null value."""

    def _of(self, source: Source) -> pl.Expr:
        return source.value.drop_nulls().last()

    def _joined(self, first: pl.Expr, second: pl.Expr) -> pl.Expr:
        return second


class ListAgg(_Arrival):
    """LISTAGG: non-null texts with a separator between them."""

    def _of(self, source: Source) -> pl.Expr:
        value = source.value
        return pl.when(value.count() > 0).then(value.str.join(self._separator, ignore_nulls=True))

    def _joined(self, first: pl.Expr, second: pl.Expr) -> pl.Expr:
        return first + pl.lit(self._separator) + second

    @property
    def _separator(self) -> str:
        return str(self.call.options.get(SEPARATOR, ","))


class ArrayAgg(_Arrival):
    """ARRAY_AGG: all values, NULLs too."""

    @property
    def keeps_nulls(self) -> bool:
        """A NULL is a member."""
        return True

    def _of(self, source: Source) -> pl.Expr:
        text = self._member(source.values[0])
        text = text if source.passes is None else text.filter(source.passes)
        return pl.when(text.count() > 0).then(pl.lit("[") + text.str.join(",") + pl.lit("]"))

    def _joined(self, first: pl.Expr, second: pl.Expr) -> pl.Expr:
        return first.str.head(-1) + pl.lit(",") + second.str.slice(1)

    def _member(self, value: pl.Expr) -> pl.Expr:
        assert self.arg is not None
        return json_text(value, self.arg).fill_null("null")


class JsonArrayAgg(ArrayAgg):
    """JSON_ARRAYAGG: a JSON array of JSON texts, with or without NULLs; ``[]`` for nothing."""

    @property
    def keeps_nulls(self) -> bool:
        """True with NULL ON NULL."""
        return self.function.endswith("NULL_ON_NULL")

    def result(self, column: ColumnOf) -> pl.Expr:
        """The array."""
        return column(self._column).fill_null("[]")

    def _member(self, value: pl.Expr) -> pl.Expr:
        return value.fill_null("null") if self.keeps_nulls else value
