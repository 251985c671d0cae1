"""Kernel of the group aggregate with functions of the user, where DISTINCT lets some of them see each value once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.types import LogicalType
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.user import UserCall
from execnodes.kernels.aggregates.user_distinct import DistinctRows
from execnodes.state.operator import Context
from execnodes.stream.python_group_aggregate.v1_kernel import PythonGroupAggregateOperator


class DistinctOperator(PythonGroupAggregateOperator):
    """Over rows; calls of one FILTER over the same arguments share the state of what they have seen."""

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
        """As over rows."""
        super().__init__(
            uid=uid, input_type=input_type, output_type=output_type, grouping=grouping, calls=calls, retract=retract,
            update_before=update_before, ttl_ms=ttl_ms,
        )  # fmt: skip
        self.distinct = tuple(_distinct(self, calls))
        self.states = (*self.states, *(each.state for each in self.distinct))

    def _folded(self, batch: pl.DataFrame, context: Context) -> tuple[pl.DataFrame, pl.DataFrame]:
        rows, delta = super()._folded(batch, context)
        marks = [
            each.step(rows, context.state(each.state.name)).alias(self._mark(at))
            for at, each in enumerate(self.distinct)
        ]
        return rows.with_columns(marks), delta

    def _moved(self, call: UserCall, rows: pl.DataFrame, merged: pl.DataFrame) -> pl.DataFrame:
        for at, each in enumerate(self.distinct):
            if each.of(call.call):
                marked = rows.with_columns(pl.col(self._mark(at)).alias(frame.arg(self._width)))
                filtered = call.call.model_copy(update={"filter_arg": self._width})
                return super()._moved(replace(call, call=filtered), marked, merged)
        return super()._moved(call, rows, merged)

    @property
    def _width(self) -> int:
        return len(self.inputs[0])

    def _mark(self, at: int) -> str:
        return f"rk_once{at}"


def _distinct(operator: PythonGroupAggregateOperator, calls: Sequence[AggregateCall]) -> list[DistinctRows]:
    found: list[DistinctRows] = []
    for at, call in enumerate(calls):
        if call.user_name and call.distinct and not any(each.of(call) for each in found):
            found.append(DistinctRows(operator.aggregation, call, f"pythonGroupAggregateDistinct{at}State"))
    return found
