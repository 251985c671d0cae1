"""Version 1 (1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from typing import Literal as Tag

from execnodes.core.meaning import AT_MOST, RowsMeaning, StateMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.outputs import Outputs, numbered
from execnodes.core.rank_spec import PartitionSpec, RankRange, RankStrategy
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import BIGINT, LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.rank.v1_kernel import TopN


@exec_node_metadata(
    name="stream-exec-rank",
    version=1,
    consumed_options=["table.exec.rank.topn-cache-size", "table.exec.uid.format"],
    produced_operators=["rank"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class Rank(ExecNode):
    """Top-N: the rows of each partition whose rank is in a range; changes at once."""

    STATE: ClassVar = "rankState"

    rank_type: Tag["ROW_NUMBER"] = "ROW_NUMBER"
    partition: PartitionSpec = PartitionSpec()
    order_by: SortSpec
    """Without columns: in order of arrival."""
    rank_range: RankRange
    rank_strategy: RankStrategy
    output_row_number: bool = False
    """True if the rank is the last output column."""
    generate_update_before: bool = False
    """True if -U comes with an update."""

    def uids(self) -> tuple[str, ...]:
        """One operator."""
        return (self.uid("rank"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator, spread by the partition."""
        operator = self._operator(inputs[0].type)
        return lowering.operator(self, operator, (OperatorInput(inputs[0], self.partition.fields),))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and the rank if it is asked for."""
        return numbered(inputs[0], self.output_row_number)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Columns exist, the range is one, the output is the input and perhaps the rank."""
        width = len(inputs[0].fields)
        read = (*self.partition.fields, *(each.index for each in self.order_by.fields))
        if any(not 0 <= each < width for each in (*read, *self.rank_strategy.primary_keys)):
            raise self.fail(f"it reads a column that its input of {width} columns does not have")
        problem = self.rank_range.problem(width)
        if problem is not None:
            raise self.fail(problem)
        if (self.rank_strategy.type == "UpdateFast") != bool(self.rank_strategy.primary_keys):
            raise self.fail("primaryKeys are for UpdateFast, which needs them")
        if len(self.output_type.fields) != width + self.output_row_number:
            raise self.fail("its output must be the columns of its input, and the rank if it gives one")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The best rows of each partition, with their ranks."""
        (rows,) = inputs
        order, first = self._order(rows), leaf("number", str(self.rank_range.start))
        number = [said("rank", "rank by {order}", order=order)] if self.output_row_number else []
        says = "ranks {first} to {last} by {order} of ({input})"
        origin = said("ranks", says, first=first, last=self._last(rows), order=order, input=rows.rows)
        return rows.made(self.output_type, (*rows.columns, *number), origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The rows that are kept; how many there are decides, unless all are."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        (rows,) = inputs
        operator, strategy = self._operator(rows.type), self.rank_strategy
        parts = {"input": rows.rows, "order": self._order(rows), "strategy": leaf("strategy", strategy.type)}
        if strategy.type != "Retract":
            parts["last rank"] = self._last(rows)
        if strategy.primary_keys:
            parts["row"] = said("row", "({key})", key=rows.keys(strategy.primary_keys))
        columns = {each.name: row_columns(rows) for each in operator.states}
        return state_meanings(operator, self.metadata, inputs, parts, columns)

    def _order(self, rows: RowsMeaning) -> Term:
        return said(
            "numbers",
            "{function} by ({partition}) in order of [{order}]",
            function=leaf("function", self.rank_type),
            partition=rows.keys(self.partition.fields),
            order=self.order_by.terms(rows.columns),
        )

    def _last(self, rows: RowsMeaning) -> Term:
        end = self.rank_range.end_index
        return leaf(AT_MOST, str(self.rank_range.end)) if end is None else rows.columns[end]

    def _operator(self, type: LogicalType) -> TopN:
        from execnodes.state.kernel_types import Column, free_name
        from execnodes.stream.rank.v1_kernel import TopN

        columns = tuple(Column(each.name, each.type) for each in type.fields)
        number = free_name(self.output_type.fields[-1].name, {each.name for each in columns})
        return TopN(
            self.uid("rank"),
            self.STATE,
            columns,
            partition=self.partition.fields,
            order=self.order_by,
            ranks=self.rank_range,
            strategy=self.rank_strategy,
            number=Column(number, BIGINT.not_null()) if self.output_row_number else None,
            update_before=self.generate_update_before,
            # One row at most is given out of a partition, which consumers then take for its key.
            single=self.rank_range.end == self.rank_range.start,
            ttl_ms=parse_duration(self.state_ttl(), "ttl"),
        )
