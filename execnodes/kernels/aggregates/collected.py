"""COLLECT and JSON_OBJECTAGG: maps, always made from a values state."""

from __future__ import annotations

import polars as pl

from execnodes.kernels.aggregates.accumulator import Accumulator, ColumnOf, Source
from execnodes.kernels.aggregates.json_text import json_text, quoted
from execnodes.kernels.unsigned_zeros import drop_zero_signs


class _Collected(Accumulator):
    def merge(self, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        """Always made anew."""
        name = self.columns[0].name
        return {name: delta(name)}


class Collect(_Collected):
    """COLLECT: a multiset of the non-null values; empty, not NULL, for nothing."""

    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """Entries in value order; `source.sign` is how often a value occurs."""
        assert self.arg is not None
        value = drop_zero_signs(self.arg, source.value)
        count = pl.lit(1, pl.Int64) if source.sign is None or self.call.distinct else source.sign
        entry = pl.lit('{"k":') + json_text(value, self.arg) + pl.lit(',"v":') + count.cast(pl.String) + pl.lit("}")
        return {self.columns[0].name: pl.lit("[") + entry.sort_by(value).str.join(",") + pl.lit("]")}

    def result(self, column: ColumnOf) -> pl.Expr:
        """The multiset."""
        return column(self.columns[0].name).fill_null("[]")


class JsonObjectAgg(_Collected):
    """JSON_OBJECTAGG: a JSON object of texts to JSON texts, keys sorted, the last value of a key wins."""

    @property
    def keeps_nulls(self) -> bool:
        """True with NULL ON NULL."""
        return self.function.endswith("NULL_ON_NULL")

    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """Members in key order."""
        key, value = source.values
        ordered = key.sort_by(key, maintain_order=True)
        member = quoted(key) + pl.lit(":") + value.fill_null("null")
        last = (ordered != ordered.shift(-1)).fill_null(True)
        members = member.sort_by(key, maintain_order=True).filter(last)
        return {self.columns[0].name: pl.lit("{") + members.str.join(",") + pl.lit("}")}

    def result(self, column: ColumnOf) -> pl.Expr:
        """The object."""
        return column(self.columns[0].name).fill_null("{}")
