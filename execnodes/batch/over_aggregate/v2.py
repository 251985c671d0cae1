"""Version 2 (1.3): frames that end before or behind the current row, windows without order, options of calls.

Version 1 knows frames up to the current row alone, and neither LEAD nor NTILE.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field as Property

from execnodes.aggregates import WINDOW_FUNCTIONS, argument
from execnodes.aggregates.spark_text import spark_text
from execnodes.batch.over_aggregate.v1 import BatchOverAggregate as Version1
from execnodes.batch.over_aggregate.v1 import OverCall as Version1Call
from execnodes.core.expressions import AggregateCall, InputRef, Value
from execnodes.core.indexes import Number
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import TIMESTAMPS, LogicalType, Root
from execnodes.lowering.batch import ARRIVAL, BatchLowering, BatchRows
from execnodes.lowering.spark_sql import spark_type

_BY_ROW = ("$ROW_NUMBER$1", "$LAG$1", "$LEAD$1", "$NTILE$1")
"""Functions that tell rows apart that sort alike: by the order in which they came."""


class OverCall(Version1Call):
    """A function over a window of rows."""

    options: dict[str, Value] = Property(default_factory=dict)
    """As in `AggregateCall`."""

    @property
    def given(self) -> Mapping[str, Value]:
        """Its options."""
        return self.options


@exec_node_metadata(
    name="batch-exec-over-aggregate",
    version=2,
    consumed_options=["table.local-time-zone"],
    produced_operators=["over-aggregate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class BatchOverAggregate(Version1):
    """Functions OVER (PARTITION BY … ORDER BY …). Output: the input, then a column a call."""

    preceding: Number | None = None
    """Where the frame begins: so many rows, milliseconds or units before the current row, behind it if negative; None:
    at the first row."""
    following: Number | None = 0
    """Where the frame ends, counted behind the current row; None: at the last row."""
    calls: tuple[OverCall, ...]

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """Spark's window functions."""
        rows = inputs[0]
        given = [*rows.columns, *(self._text(call, rows) for call in self.calls)]
        return BatchRows(rows.type, self._placed(rows)).project(self.output_type, given)

    def _text(self, call: Version1Call, rows: BatchRows) -> str:
        window = self._window(rows, by_row=call.internal_name in _BY_ROW)
        name = call.internal_name[1:-2]
        if name in WINDOW_FUNCTIONS:
            texts = self.texts(call.operands, rows.columns)
            return f"CAST({name}({', '.join(texts)}) OVER ({window}) AS {spark_type(call.type)})"
        made = AggregateCall(
            name="",
            internal_name=call.internal_name,
            arg_list=tuple(each.input_index for each in call.operands if isinstance(each, InputRef)),
            filter_arg=-1,
            distinct=False,
            type=call.type,
            options=dict(call.given),
        )
        return spark_text(made, argument(made, rows.type), f"{window} {self._frame}")

    def _window(self, rows: BatchRows, *, by_row: bool) -> str:
        keys = ", ".join(f"c{each}" for each in self.partition_fields)
        order = [each.text for each in self.sort_spec.fields]
        if not self.is_rows and any(each not in (None, 0) for each in (self.preceding, self.following)):
            first = self.sort_spec.fields[0]
            column = f"c{first.index}"
            order = [first.text.replace(column, _number(column, rows.type.fields[first.index].type))]
        if by_row or self.is_rows:
            order.append(f"{ARRIVAL} ASC")
        parts = [f"PARTITION BY {keys}" if keys else "", f"ORDER BY {', '.join(order)}" if order else ""]
        return " ".join(part for part in parts if part)

    @property
    def _frame(self) -> str:
        start = "UNBOUNDED PRECEDING" if self.preceding is None else _bound(-self.preceding)
        end = "UNBOUNDED FOLLOWING" if self.following is None else _bound(self.following)
        return f"{'ROWS' if self.is_rows else 'RANGE'} BETWEEN {start} AND {end}"

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """Frames of version 1 end with the current row."""
        return {**old, "following": 0}


def _bound(offset: int) -> str:
    if offset == 0:
        return "CURRENT ROW"
    return f"{abs(offset)} {'FOLLOWING' if offset > 0 else 'PRECEDING'}"


def _number(column: str, t: LogicalType) -> str:
    """What a RANGE is measured in: milliseconds of times, else the column itself."""
    if t.root is Root.DATE:
        return f"(unix_date({column}) * 86400000L)"
    if t.root not in TIMESTAMPS:
        return column
    return f"unix_millis({column if t.root is Root.TIMESTAMP_LTZ else f'CAST({column} AS TIMESTAMP)'})"
