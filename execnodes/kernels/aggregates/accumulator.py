"""What an accumulator is: columns per group, and expressions that fold rows into them, merge and read them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from execnodes.aggregates import accumulators, function_of
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType, Root
from execnodes.state.kernel_types import Column

ColumnOf = Callable[[str], pl.Expr]
"""Gives the expression of an accumulator column by its name: the old one, the new one, …"""
_BITS = {Root.TINYINT: pl.Int8(), Root.SMALLINT: pl.Int16(), Root.INT: pl.Int32()}


@dataclass(frozen=True, slots=True)
class Source:
    """Rows a call reads, as expressions over a frame of rows."""

    values: tuple[pl.Expr, ...]
    """The arguments; none for COUNT(*)."""
    passes: pl.Expr | None = None
    """TRUE where FILTER lets a row pass; None: everywhere."""
    sign: pl.Expr | None = None
    """1 for an insertion, -1 for a retraction, as Int64; None: all are insertions."""

    @property
    def value(self) -> pl.Expr:
        """The first argument, NULL where FILTER stops the row."""
        return self.values[0] if self.passes is None else pl.when(self.passes).then(self.values[0])

    def count(self) -> pl.Expr:
        """How many non-null values there are (rows, without an argument), retractions subtracted."""
        if self.values:
            return self.value.count().cast(pl.Int64) if self.sign is None else _sum(self.value.is_not_null(), self.sign)
        if self.passes is not None:
            return _sum(self.passes, self.sign)
        return pl.len().cast(pl.Int64) if self.sign is None else self.sign.sum()


def _sum(condition: pl.Expr, sign: pl.Expr | None) -> pl.Expr:
    counted = condition.fill_null(False).cast(pl.Int64)
    return (counted if sign is None else counted * sign).sum()


@dataclass(frozen=True)
class Accumulator(ABC):
    """One call over its accumulator columns."""

    call: AggregateCall
    arg: LogicalType | None
    retract: bool
    """The input retracts rows."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns in state and in a local aggregate's output."""
        fields = accumulators(self.call, self.arg, self.retract)
        return tuple(Column(field.name, field.type) for field in fields)

    @property
    def keeps_nulls(self) -> bool:
        """Whether NULL arguments are values to it."""
        return False

    @property
    def function(self) -> str:
        """Name of the function, e.g. ``SUM``."""
        return function_of(self.call.internal_name).name

    def name(self, part: str) -> str:
        """Name of one of its columns."""
        return f"{self.call.name}${part}"

    @abstractmethod
    def fold(self, source: Source) -> dict[str, pl.Expr]:
        """Aggregations over the rows of a group: what `merge` wants as its `delta`."""

    def combine(self) -> dict[str, pl.Expr]:
        """Aggregations over partial accumulators of a group (rows of a local aggregate), as `fold` gives them."""
        raise NotImplementedError(f"{self.call.internal_name} has no partial results")

    @abstractmethod
    def merge(self, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        """New accumulator columns; either side is NULL where it has nothing of the group."""

    @abstractmethod
    def result(self, column: ColumnOf) -> pl.Expr:
        """The result, in the kernel type of the call's type."""


def added(old: pl.Expr, delta: pl.Expr) -> pl.Expr:
    """Sum of two counters of which either may be NULL."""
    return old.fill_null(0) + delta.fill_null(0)


def wrapped(value: pl.Expr, t: LogicalType) -> pl.Expr:
    """An Int64 cut to the width of an integer type as Java does; other types unchanged."""
    return value.cast(_BITS[t.root], wrap_numerical=True).cast(pl.Int64) if t.root in _BITS else value
