"""Version 2 (1.3): frames that end before or behind the current row, windows without order, options of calls.

Version 1 knows frames up to the current row alone, and neither LEAD nor NTILE.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field as Property

from execnodes.batch.over_aggregate.v1 import BatchOverAggregate as Version1
from execnodes.batch.over_aggregate.v1 import OverCall as Version1Call
from execnodes.common.batch import ARRIVAL, BatchRows
from execnodes.core.expressions import Value
from execnodes.core.indexes import Number
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import TIMESTAMPS, LogicalType, Root


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

    BY_ROW: ClassVar = (*Version1.BY_ROW, "$LEAD$1", "$NTILE$1")

    preceding: Number | None = None
    """Where the frame begins: so many rows, milliseconds or units before the current row, behind it if negative; None:
    at the first row."""
    following: Number | None = 0
    """Where the frame ends, counted behind the current row; None: at the last row."""
    calls: tuple[OverCall, ...]

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
