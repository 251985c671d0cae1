"""Kernel of the group aggregate with functions of the user."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates.aggregation import KNOWN, Aggregation
from execnodes.kernels.aggregates.mixed import MixedAggregation
from execnodes.kernels.aggregates.result_changes import changes
from execnodes.kernels.aggregates.user import CallsFunctions, UserCall
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator

STATE = "pythonGroupAggregateState"


class UserAggregateOperator(CallsFunctions, Operator):
    """What comes in for a key group to changes of its groups, as the group aggregate gives them.

    State: the keys, over retracting input the number of rows, and the accumulators.
    """

    def __init__(
        self,
        uid: str,
        inputs: tuple[Column, ...],
        output_type: LogicalType,
        aggregation: MixedAggregation,
        update_before: bool,
    ) -> None:
        """`aggregation` is over the columns that the calls read, which need not be the input's own."""
        CallsFunctions.__init__(self, aggregation.every_call, aggregation.input)
        self.uid = uid
        self.inputs = (inputs,)
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.update_before = update_before
        self.aggregation = aggregation
        self.states = aggregation.states

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Fold the batch, merge it into the state, emit what changed."""
        if batches[0].is_empty():
            return None
        rows, delta = self._folded(batches[0], context)
        state = context.state(STATE)
        before = state.read(delta.select(HASH))
        merged = self.aggregation.merge(delta, before)
        for call in self.supplied():
            merged = self._moved(call, rows, merged)
        state.write(self.aggregation.after(before, merged))
        return changes(self.aggregation, merged, self.output, self.update_before)

    @abstractmethod
    def _folded(self, batch: pl.DataFrame, context: Context) -> tuple[pl.DataFrame, pl.DataFrame]:
        """What the calls of the user work on, and the system's accumulators of the batch alone, a row a group."""

    @abstractmethod
    def _moved(self, call: UserCall, rows: pl.DataFrame, merged: pl.DataFrame) -> pl.DataFrame:
        """`merged` with the accumulators and the results of a call after the batch."""


class PythonGroupAggregateOperator(UserAggregateOperator):
    """Over rows."""

    ordered = True

    def __init__(
        self,
        *,
        uid: str,
        input_type: LogicalType,
        output_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        retract: bool,
        update_before: bool,
        ttl_ms: int,
    ) -> None:
        """The node's fields; `retract` says that the input retracts rows, `ttl_ms` 0 keeps state for ever."""
        inputs = tuple(Column(field.name, field.type) for field in input_type.fields)
        own = tuple(call for call in calls if not call.user_name)
        aggregation = MixedAggregation(inputs, grouping, own, retract, STATE, ttl_ms, every_call=calls)
        super().__init__(uid, inputs, output_type, aggregation, update_before)
        self._reader = Aggregation(inputs, grouping, calls, retract, STATE)

    def _folded(self, batch: pl.DataFrame, context: Context) -> tuple[pl.DataFrame, pl.DataFrame]:
        rows = self._reader.prepare(batch)
        return rows, self.aggregation.delta(rows, context)

    def _moved(self, call: UserCall, rows: pl.DataFrame, merged: pl.DataFrame) -> pl.DataFrame:
        return call.step(rows, merged, self.aggregation.group, KNOWN)
