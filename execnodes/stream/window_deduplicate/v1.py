"""Version 1 (1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import RowsMeaning, StateMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.types import TIMESTAMPS, LogicalType
from execnodes.core.windowing import Windowing, WindowSpec
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.window_deduplicate.v1_kernel import OneOfWindow

STATE = "windowDeduplicateState"


@exec_node_metadata(
    name="stream-exec-window-deduplicate",
    version=1,
    consumed_options=["table.local-time-zone", "table.exec.uid.format"],
    produced_operators=["window-deduplicate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class WindowDeduplicate(ExecNode):
    """The first or last row by event time of each key in each window, once the watermark has passed the window."""

    partition_keys: tuple[ColumnIndex, ...]
    """Columns of PARTITION BY beside the window's."""
    order_key: ColumnIndex
    """Column of the event time."""
    keep_last_row: bool
    """True keeps the last row, and of equal times the later one; False the first."""
    windowing: Windowing
    """WindowAttached: the input has columns with the bounds of its window."""

    def uids(self) -> tuple[str, ...]:
        """One operator."""
        return (self.uid("window-deduplicate"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    @property
    def clocked(self) -> WindowSpec | None:
        """Its windows, by processing time."""
        return self.windowing.clocked

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The end of the window, and the time that decides which row is first or last."""
        return ((*self.windowing.required_times, self.order_key),)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator, spread by the keys."""
        operator = self._operator(inputs[0].type, lowering.zone)
        return lowering.operator(self, operator, (OperatorInput(inputs[0], self.partition_keys),))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Columns exist, the time is a timestamp, the output has the columns of the input."""
        fields, attached = inputs[0].fields, (self.windowing.window_start, self.windowing.window_end)
        if self.windowing.strategy != "WindowAttached" or None in attached:
            raise self.fail("it needs the columns of the window's start and end (WindowAttached)")
        read = (*self.partition_keys, self.order_key, *attached)
        if any(each is None or not 0 <= each < len(fields) for each in read):
            raise self.fail(f"it reads a column that its input of {len(fields)} columns does not have")
        time = fields[self.order_key]
        if time.type.root not in TIMESTAMPS:
            raise self.fail(f"its event time {time.name} is {time.type}, not a timestamp")
        if len(self.output_type.fields) != len(fields):
            raise self.fail("its output must have the columns of its input")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """One row of each key and window; which were late depends on the watermark."""
        (rows,) = inputs
        says = "{row} of ({input}) in the time of {watermark}"
        origin = said("deduplicate", says, row=self._row(rows), input=rows.rows, watermark=rows.time)
        return rows.made(self.output_type, rows.columns, origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The row of each key and window so far."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        (rows,) = inputs
        parts = {"input": rows.rows, "order": self._row(rows), "watermark": rows.time}
        operator = self._operator(rows.type, "UTC")
        return state_meanings(operator, self.metadata, inputs, parts, {STATE: row_columns(rows)})

    def _row(self, rows: RowsMeaning) -> Term:
        return said(
            "row",
            "{keep} row by ({key}) in {window} in order of {order}",
            keep=leaf("keep", "last" if self.keep_last_row else "first"),
            key=rows.keys(self.partition_keys),
            window=self.windowing.term(rows.columns, self.configuration.get("table.local-time-zone", "UTC")),
            order=rows.columns[self.order_key],
        )

    def _operator(self, type: LogicalType, zone: str) -> OneOfWindow:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.window_deduplicate.v1_kernel import OneOfWindow

        return OneOfWindow(
            self.uid("window-deduplicate"),
            STATE,
            tuple(Column(each.name, each.type) for each in type.fields),
            keys=self.partition_keys,
            time=self.order_key,
            keep_last=self.keep_last_row,
            windowing=self.windowing,
            zone=self.configuration.get("table.local-time-zone", zone),
        )
