"""OVER windows as plans have them, in the shape of Flink's: constants are read like columns behind the input's own."""

from __future__ import annotations

from typing import Literal as Tag

from execnodes.core.expressions import AggregateCall, Expression, InputRef, Literal
from execnodes.core.indexes import ColumnIndex, Number, Scope
from execnodes.core.node import PlanModel
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import Field, LogicalType


class Partition(PlanModel):
    """PARTITION BY."""

    fields: tuple[ColumnIndex, ...] = ()


class Bound(PlanModel):
    """Where a frame begins or ends."""

    kind: Tag["UNBOUNDED_PRECEDING", "BOUNDED_WINDOW", "CURRENT_ROW"]
    offset: InputRef | None = None
    """The constant that says how far before the current row; only of a BOUNDED_WINDOW."""


class OverGroup(PlanModel):
    """Calls that share order and frame."""

    order_by: SortSpec
    is_rows: bool
    """ROWS frame, else RANGE."""
    lower_bound: Bound
    upper_bound: Bound = Bound(kind="CURRENT_ROW")
    agg_calls: tuple[AggregateCall, ...]


class OverSpec(PlanModel):
    """Functions OVER (PARTITION BY … ORDER BY …)."""

    partition: Partition
    groups: tuple[OverGroup, ...]
    constants: tuple[Literal, ...] = ()
    original_input_fields: Number
    """Columns of the input; indexes from here on are constants."""

    def scope(self, name: str, around: Scope) -> Scope:
        """Calls and bounds read constants, too."""
        if name != "groups":
            return around
        constants = (Field(f"constant {at}", each.type) for at, each in enumerate(self.constants))
        return around.over((*around.columns, *constants), f"{around.name} and the constants")

    def constant(self, index: int) -> Literal:
        """A constant by the index that calls and bounds know it by."""
        return self.constants[index - self.original_input_fields]

    def operands(self, call: AggregateCall, input: LogicalType) -> tuple[Expression, ...]:
        """What a call reads."""
        width = self.original_input_fields
        return tuple(
            InputRef(input_index=at, type=input.fields[at].type) if at < width else self.constant(at)
            for at in call.arg_list
        )

    def preceding(self, group: OverGroup) -> int | None:
        """How far a frame reaches back, in rows or milliseconds; None: to the first row."""
        offset = group.lower_bound.offset
        if group.lower_bound.kind != "BOUNDED_WINDOW" or offset is None:
            return 0 if group.lower_bound.kind == "CURRENT_ROW" else None
        value = self.constant(offset.input_index).value
        return value if isinstance(value, int) else None
