"""DISTINCT for functions of the user: which rows bring arguments for the first time, or take the last of them away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.kernels.aggregates.frame import SIGN
from execnodes.kernels.unsigned_zeros import drop_zero_signs
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import State, StateSpec

OCCURRENCES = "occurrences"
_AT, _WAS = "rk_at", "rk_was"


@dataclass(frozen=True)
class DistinctRows:
    """How often each group has each combination of arguments that passes the FILTER of a call."""

    aggregation: Aggregation
    call: AggregateCall
    name: str
    """Of the state."""

    def of(self, call: AggregateCall) -> bool:
        """Whether a call sees the same."""
        return call.distinct and (call.arg_list, call.filter_arg) == (self.call.arg_list, self.call.filter_arg)

    @cached_property
    def values(self) -> tuple[Column, ...]:
        """The arguments as in state."""
        types = (self.aggregation.input[index].type for index in self.call.arg_list)
        return tuple(Column(f"value{at}", t.with_nullable(True).regular()) for at, t in enumerate(types))

    @cached_property
    def state(self) -> StateSpec:
        """The keys, the arguments and how often they occur; 1 for ever where nothing is taken away."""
        keys = self.aggregation.keys
        columns = (*keys, *self.values, Column(OCCURRENCES, BIGINT.not_null()))
        return StateSpec(self.name, columns, self.aggregation.ttl_ms, key=tuple(each.name for each in keys))

    def step(self, rows: pl.DataFrame, state: State) -> pl.Series:
        """For each row whether a function sees it, as it adds or takes back; the state is brought up to date."""
        names = [each.name for each in self.values]
        entry = [*self.aggregation.group, *names]
        arguments = zip(self.call.arg_list, self.values, strict=True)
        named = [drop_zero_signs(each.type, pl.col(frame.arg(at))).alias(each.name) for at, each in arguments]
        sign = pl.col(SIGN) if SIGN in rows.columns else pl.lit(1, pl.Int64).alias(SIGN)
        read = rows.with_row_index(_AT)
        if self.call.filter_arg >= 0:
            read = read.filter(pl.col(frame.arg(self.call.filter_arg)).fill_null(False))
        read = read.select(_AT, HASH, *(key.name for key in self.aggregation.keys), *named, sign)
        before = state.read(read.select(pl.col(HASH).unique()))
        known = before if HASH in entry else before.drop(HASH)
        met = frame.left_join(read, known, entry).with_columns(pl.col(OCCURRENCES).fill_null(0).alias(_WAS))
        moved = met.with_columns((pl.col(_WAS) + pl.col(SIGN).cum_sum().over(entry)).alias(OCCURRENCES))
        seen = moved.filter((pl.col(OCCURRENCES) > 0) != (pl.col(OCCURRENCES) - pl.col(SIGN) > 0))[_AT]
        last = moved.unique(entry, keep="last", maintain_order=True)
        schema = list(self.state.schema)
        if self.aggregation.retract or self.aggregation.ttl_ms:
            after = last.filter(pl.col(OCCURRENCES) != 0).select(schema)
            state.write(pl.concat([frame.anti_join(before, last, entry).select(schema), after]))
        else:
            fresh = last.filter(pl.col(_WAS) == 0).with_columns(pl.lit(1, pl.Int64).alias(OCCURRENCES))
            state.append(fresh.select(schema))
        return pl.int_range(rows.height, dtype=pl.UInt32, eager=True).is_in(seen.implode())
