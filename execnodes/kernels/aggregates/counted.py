"""Values of a group with how often each occurs: behind DISTINCT, retracting MIN and MAX, COLLECT and PERCENTILE.

Calls over the same arguments share a state; each FILTER among them has its own counter.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.predicates import FLOATS
from execnodes.core.types import BIGINT, NESTED
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.accumulator import Accumulator, Source
from execnodes.kernels.aggregates.frame import FILL, FREQUENCY, SIGN, VALUE
from execnodes.kernels.aggregates.make import Feed, by_transitions, feed
from execnodes.kernels.unsigned_zeros import drop_zero_signs
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import State

_ORDER = "rk_order"
_FIRST = "rk_first"


@dataclass(frozen=True)
class CountedValues:
    """The values of one input column (and how often each counts, from another) for the calls that need them."""

    accumulators: tuple[Accumulator, ...]
    """Calls over the same arguments."""
    types: tuple[Column, ...]
    """Their arguments, named as in state: the value, and its frequency if there is one."""
    group: tuple[str, ...]
    """Columns that tell groups apart."""
    seen_only: bool = False
    """Counters stop at 1, so that a value that is known already costs no write: enough for DISTINCT where nothing is
    ever taken away, by a retraction or a TTL."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """State columns behind the keys: the arguments and a counter a FILTER."""
        counters = (Column(name, BIGINT.not_null()) for name in self._counters.values())
        return (*self.types, *counters)

    def step(
        self, rows: pl.DataFrame, state: State, schema: dict[str, pl.DataType]
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Count the batch into the state (of that schema).

        Returns what it means for the accumulators, a row for each group with news, and the values that the batch
        brought with old and new counters, in order of arrival: `transitions` reads them.
        """
        counted = self._count(rows)
        before = state.read(counted)
        entry = [*self.group, *self._arguments]
        counters = list(self._counters.values())
        most = 1 if self.seen_only else None
        sums = [(pl.col(name).fill_null(0) + frame.added(name)).clip(upper_bound=most) for name in counters]
        merged = frame.left_join(counted, self._known(before if HASH in entry else before.drop(HASH)), entry)
        if _FIRST in merged.columns:
            merged = merged.with_columns(pl.coalesce(_FIRST, VALUE).alias(VALUE))
        merged = merged.with_columns(e.alias(f"new:{name}") for name, e in zip(counters, sums, strict=True))
        if self.seen_only:
            merged = merged.filter(pl.any_horizontal(pl.col(name).ne_missing(frame.new(name)) for name in counters))
        now = merged.select(frame.new(name).alias(name) if name in counters else name for name in schema)
        if self.seen_only and merged[counters[0]].null_count() == merged.height:
            state.append(now)
            return self._news(merged, now, counted), merged
        now = now.filter(pl.any_horizontal(pl.col(name) != 0 for name in counters))
        after = pl.concat([frame.anti_join(before, merged, entry).select(*schema), now])
        state.write(after)
        return self._news(merged, after, counted), merged

    def transitions(self, accumulator: Accumulator) -> Source:
        """What a DISTINCT call sees: values that were not there before (+1) and those that are gone (-1)."""
        counter = self._counters[accumulator.call.filter_arg]
        was, now = pl.col(counter).fill_null(0) > 0, frame.new(counter) > 0
        sign = now.cast(pl.Int64) - was.cast(pl.Int64)
        return Source(
            (drop_zero_signs(self.types[0].type, pl.col(VALUE)),), sign != 0, sign if accumulator.retract else None
        )

    def _known(self, before: pl.DataFrame) -> pl.DataFrame:
        """State rows; of approximate numbers the value beside itself, as a zero keeps the sign of the first one."""
        approximate = self.types[0].type.root in FLOATS
        return before.with_columns(pl.col(VALUE).alias(_FIRST)) if approximate else before

    @property
    def _arguments(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.types)

    @property
    def _counters(self) -> dict[int, str]:
        """FILTER columns to the names of their counters."""
        calls: dict[int, AggregateCall] = {}
        for each in self.accumulators:
            calls.setdefault(each.call.filter_arg, each.call)
        return {index: f"{call.name}$occurrences" for index, call in calls.items()}

    def _count(self, rows: pl.DataFrame) -> pl.DataFrame:
        arguments = zip(self.accumulators[0].call.arg_list, self._arguments, strict=True)
        sign = pl.col(SIGN)
        signed = rows if SIGN in rows.columns else rows.with_columns(pl.lit(1, pl.Int64).alias(SIGN))
        nulls = any(each.keeps_nulls for each in self.accumulators)
        named = signed.with_columns(self._compared(at, name) for at, name in arguments)
        valid = named.filter(pl.lit(nulls) | pl.col(VALUE).is_not_null())
        if FREQUENCY in self._arguments:
            valid = valid.filter(pl.col(FREQUENCY) > 0)
        counters = [
            (sign if index < 0 else sign * pl.col(frame.arg(index)).fill_null(False).cast(pl.Int64))
            .sum()
            .alias(frame.delta(name))
            for index, name in self._counters.items()
        ]
        order = pl.col(_ORDER).min()
        entry = valid.with_row_index(_ORDER).group_by(*self.group, *self._arguments)
        carried = [pl.col(HASH).first()] if HASH not in self.group else []
        counted = entry.agg(*carried, *counters, order).sort(_ORDER)
        return counted.filter(pl.any_horizontal(pl.col(frame.delta(name)) != 0 for name in self._counters.values()))

    def _compared(self, at: int, name: str) -> pl.Expr:
        """An argument by its name in state; nested ones in the form in which equal values are one."""
        t = next(column.type for column in self.types if column.name == name)
        value = pl.col(frame.arg(at))
        return (drop_zero_signs(t, value) if t.root in NESTED else value).alias(name)

    def _news(self, merged: pl.DataFrame, after: pl.DataFrame, counted: pl.DataFrame) -> pl.DataFrame:
        """One row for each group of `counted` with the deltas of all accumulators that are made from it."""
        distinct = [each for each in self.accumulators if by_transitions(each) and feed(each) is Feed.ROWS]
        whole = [each for each in self.accumulators if not by_transitions(each)]
        folds = {
            frame.delta(name): expression
            for each in distinct
            for name, expression in each.fold(self.transitions(each)).items()
        }
        news = merged.group_by(*self.group).agg(
            pl.lit(True).alias(FILL), *(expression.alias(name) for name, expression in folds.items())
        )
        if not whole:
            return news
        values = frame.semi_join(after, counted, self.group)
        gathered = {frame.delta(name): e for each in whole for name, e in each.fold(self._present(each)).items()}
        results = values.group_by(*self.group).agg(expression.alias(name) for name, expression in gathered.items())
        return frame.left_join(news, results, self.group)

    def _present(self, accumulator: Accumulator) -> Source:
        counter = pl.col(self._counters[accumulator.call.filter_arg])
        there = tuple(pl.col(name).filter(counter > 0) for name in self._arguments)
        return Source(there, None, counter.filter(counter > 0))
