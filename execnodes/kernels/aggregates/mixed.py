"""Aggregate functions of the system and of the user together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.kernels.aggregates.accumulator import ColumnOf
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.kernels.aggregates.user import result_name, state_columns
from execnodes.state.kernel_types import Column


@dataclass(frozen=True)
class MixedAggregation(Aggregation):
    """The calls of functions of the system (`calls`), with columns and results of the user's beside them."""

    every_call: tuple[AggregateCall, ...] = ()
    """Those of the user, too, in the order of the results."""

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """State columns behind the keys: those of the system's functions first."""
        own = Aggregation.columns.func(self)  # type: ignore[attr-defined]  # the property's function
        users = (column for call in self.every_call if call.user_name for column in state_columns(call))
        return (*own, *users)

    def results(self, column: ColumnOf) -> list[pl.Expr]:
        """The calls' results over old or new columns."""
        own = iter(super().results(column))
        return [column(result_name(call)) if call.user_name else next(own) for call in self.every_call]


def systems(calls: Sequence[AggregateCall]) -> tuple[AggregateCall, ...]:
    """Those of functions of the system."""
    return tuple(call for call in calls if not call.user_name)
