"""Kernel of the window table function over sessions."""

from __future__ import annotations

import polars as pl

from execnodes.core.types import BIGINT, INT, LogicalType
from execnodes.core.windowing import Windowing
from execnodes.kernels.aggregates import frame
from execnodes.lowering.stream import HASH, KIND
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, StateSpec
from execnodes.state.sessions import PART
from execnodes.stream.window_aggregate.v2_sessions import NUMBER, SessionOperator, numbered, state_columns, taken

PARTS, ROWS = "windowState", "windowRowsState"
CHANGE = "rk_change"
"""Row kind of a row that is kept."""


class SessionRowsOperator(SessionOperator):
    """Rows with the bounds of their session, once the watermark has passed it, as they came."""

    ordered = True

    def __init__(
        self, uid: str, input_type: LogicalType, output_type: LogicalType, windowing: Windowing, zone: str
    ) -> None:
        """The node's fields."""
        keys = windowing.window.partition_key_indices
        super().__init__(uid, input_type, keys, windowing, zone, PARTS.removesuffix("State"))
        self.output = tuple(Column(each.name, each.type) for each in output_type.fields)
        number = Column(NUMBER, BIGINT.not_null())
        self.kept = [frame.arg(at) for at in range(len(self.inputs[0]))]
        columns = (Column(name, each.type) for name, each in zip(self.kept, self.inputs[0], strict=True))
        rows = (*self.key_columns, Column(PART, BIGINT.not_null()), number, Column(CHANGE, INT.not_null()), *columns)
        self.states = (*self.session_states((number,)), StateSpec(ROWS, rows, key=self.keys, since="1.3"))

    def keep(self, rows: pl.DataFrame, before: pl.DataFrame, parts: pl.DataFrame, context: Context) -> pl.DataFrame:
        """The rows."""
        renamed = (pl.col(each.name).alias(name) for name, each in zip(self.kept, self.inputs[0], strict=True))
        told = rows.select(HASH, *self.keys, PART, pl.col(KIND).cast(pl.Int64).alias(CHANGE), *renamed)
        kept, parts = numbered(told, before, parts, [*self.keys, PART])
        if not kept.is_empty():
            context.state(ROWS).append(kept.select(state_columns(self.states[-1])))
        return parts

    def give(self, due: pl.DataFrame, context: Context) -> pl.DataFrame:
        """The rows of the sessions."""
        rows = taken(context.state(ROWS), self.states[-1], due, [*self.keys, PART])
        values = [*map(pl.col, self.kept), *self.shown().values()]
        columns = (value.alias(column.name) for value, column in zip(values, self.output, strict=True))
        return rows.select(*columns, pl.col(CHANGE).cast(pl.Int8).alias(KIND))
