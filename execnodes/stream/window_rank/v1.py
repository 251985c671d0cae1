"""Version 1 (1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Literal as Tag

from execnodes.core.meaning import AT_MOST, RowsMeaning, StateMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Outputs, numbered
from execnodes.core.rank_spec import PartitionSpec, RankRange
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import BIGINT, LogicalType
from execnodes.core.windowing import Windowing, WindowSpec
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.window_rank.v1_kernel import WindowTopN

STATE = "windowRankState"


@exec_node_metadata(
    name="stream-exec-window-rank",
    version=1,
    consumed_options=["table.local-time-zone", "table.exec.uid.format"],
    produced_operators=["window-rank"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class WindowRank(ExecNode):
    """Top-N within windows: final rows, once the watermark has passed a window. Its input only adds rows."""

    rank_type: Tag["ROW_NUMBER"] = "ROW_NUMBER"
    partition_spec: PartitionSpec
    """Columns of PARTITION BY beside the window's."""
    sort_spec: SortSpec
    rank_range: RankRange
    """Constant."""
    output_row_number: bool = False
    """True if the rank is the last output column."""
    windowing: Windowing
    """WindowAttached: the input has columns with the bounds of its window."""

    def uids(self) -> tuple[str, ...]:
        """One operator."""
        return (self.uid("window-rank"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    @property
    def clocked(self) -> WindowSpec | None:
        """Its windows, by processing time."""
        return self.windowing.clocked

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time, or the end of the window, that a row is in."""
        return (self.windowing.required_times,)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator, spread by the partition."""
        operator = self._operator(inputs[0].type, lowering.zone)
        return lowering.operator(self, operator, (OperatorInput(inputs[0], self.partition_spec.fields),))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and the rank if it is asked for."""
        return numbered(inputs[0], self.output_row_number)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Columns exist, the range is one, the output is the input and perhaps the rank."""
        width, attached = len(inputs[0].fields), (self.windowing.window_start, self.windowing.window_end)
        read = (*self.partition_spec.fields, *(each.index for each in self.sort_spec.fields))
        if self.windowing.strategy != "WindowAttached" or None in attached:
            raise self.fail("it needs the columns of the window's start and end (WindowAttached)")
        if any(each is None or not 0 <= each < width for each in (*read, *attached)):
            raise self.fail(f"it reads a column that its input of {width} columns does not have")
        problem = self.rank_range.problem(width)
        if problem is not None or self.rank_range.end is None:
            raise self.fail(problem or "its range must be Constant")
        if len(self.output_type.fields) != width + self.output_row_number:
            raise self.fail("its output must be the columns of its input, and the rank if it gives one")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The best rows of each window and partition, with their ranks; which were late depends on the watermark."""
        (rows,) = inputs
        order, first = self._order(rows), leaf("number", str(self.rank_range.start))
        number = [said("rank", "rank by {order}", order=order)] if self.output_row_number else []
        says = "ranks {first} to {last} by {order} of ({input}) in the time of {watermark}"
        parts = {"first": first, "last": self._last, "order": order, "input": rows.rows, "watermark": rows.time}
        return rows.made(self.output_type, (*rows.columns, *number), said("ranks", says, **parts))

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The best rows so far."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        (rows,) = inputs
        operator = self._operator(rows.type, "UTC")
        parts = {"input": rows.rows, "order": self._order(rows), "last rank": self._last, "watermark": rows.time}
        return state_meanings(operator, self.metadata, inputs, parts, {STATE: row_columns(rows)})

    @property
    def _last(self) -> Term:
        return leaf(AT_MOST, str(self.rank_range.end))

    def _order(self, rows: RowsMeaning) -> Term:
        return said(
            "numbers",
            "{function} in {window} by ({partition}) in order of [{order}]",
            function=leaf("function", self.rank_type),
            window=self.windowing.term(rows.columns, self.configuration.get("table.local-time-zone", "UTC")),
            partition=rows.keys(self.partition_spec.fields),
            order=self.sort_spec.terms(rows.columns),
        )

    def _operator(self, type: LogicalType, zone: str) -> WindowTopN:
        from execnodes.state.kernel_types import Column, free_name
        from execnodes.stream.window_rank.v1_kernel import WindowTopN

        columns = tuple(Column(each.name, each.type) for each in type.fields)
        number = free_name(self.output_type.fields[-1].name, {each.name for each in columns})
        return WindowTopN(
            self.uid("window-rank"),
            columns,
            state=STATE,
            partition=self.partition_spec.fields,
            order=self.sort_spec,
            start=self.rank_range.start,
            end=self.rank_range.end or 0,
            number=Column(number, BIGINT.not_null()) if self.output_row_number else None,
            windowing=self.windowing,
            zone=self.configuration.get("table.local-time-zone", zone),
        )
