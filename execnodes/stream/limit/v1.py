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
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.stream.limit.v1_kernel import FirstRows


@exec_node_metadata(
    name="stream-exec-limit",
    version=1,
    consumed_options=["table.exec.rank.topn-cache-size", "table.exec.uid.format"],
    produced_operators=["rank"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class Limit(ExecNode):
    """The first rows to arrive of those that are there; changes at once."""

    STATE: ClassVar = "rankState"

    rank_type: Tag["ROW_NUMBER"] = "ROW_NUMBER"
    partition: PartitionSpec = PartitionSpec()
    """Without columns."""
    order_by: SortSpec = SortSpec(fields=())
    """Without columns."""
    rank_range: RankRange
    """Constant."""
    rank_strategy: RankStrategy
    output_row_number: bool = False
    """Always False."""
    generate_update_before: bool = False
    """True if -U comes with an update."""

    def uids(self) -> tuple[str, ...]:
        """One operator."""
        return (self.uid("rank"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator; all rows go to one place."""
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], ()),))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and the rank if it is asked for."""
        return numbered(inputs[0], self.output_row_number)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Columns exist, the range is one, the output has the columns of the input."""
        width = len(inputs[0].fields)
        read = (*(each.index for each in self.order_by.fields), *self.rank_strategy.primary_keys)
        if any(not 0 <= each < width for each in read):
            raise self.fail(f"it reads a column that its input of {width} columns does not have")
        problem = self.rank_range.problem(width)
        if problem is not None or self.rank_range.end is None:
            raise self.fail(problem or "its range must be Constant")
        if (self.rank_strategy.type == "UpdateFast") != bool(self.rank_strategy.primary_keys):
            raise self.fail("primaryKeys are for UpdateFast, which needs them")
        if self.partition.fields or self.output_row_number or self.order_by.fields:
            raise self.fail("it has no order, no partition, and gives no rank")
        if len(self.output_type.fields) != width:
            raise self.fail("its output must have the columns of its input")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The first rows."""
        (rows,) = inputs
        says = "ranks {first} to {last} by {order} of ({input})"
        first, order = leaf("number", str(self.rank_range.start)), self._order(rows)
        origin = said("ranks", says, first=first, last=self._last, order=order, input=rows.rows)
        return rows.made(self.output_type, rows.columns, origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The rows that are kept; how many there are decides, unless all are."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        (rows,) = inputs
        strategy = self.rank_strategy
        parts = {"input": rows.rows, "order": self._order(rows), "strategy": leaf("strategy", strategy.type)}
        if strategy.type != "Retract":
            parts["last rank"] = self._last
        if strategy.primary_keys:
            parts["row"] = said("row", "({key})", key=rows.keys(strategy.primary_keys))
        columns = {self.STATE: row_columns(rows)}
        return state_meanings(self._operator(rows.type), self.metadata, inputs, parts, columns)

    @property
    def _last(self) -> Term:
        return leaf(AT_MOST, str(self.rank_range.end))

    def _order(self, rows: RowsMeaning) -> Term:
        return said(
            "numbers",
            "{function} by ({partition}) in order of [{order}]",
            function=leaf("function", self.rank_type),
            partition=rows.keys(()),
            order=self.order_by.terms(rows.columns),
        )

    def _operator(self, type: LogicalType) -> FirstRows:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.limit.v1_kernel import FirstRows

        return FirstRows(
            self.uid("rank"),
            self.STATE,
            tuple(Column(each.name, each.type) for each in type.fields),
            partition=(),
            order=self.order_by,
            ranks=self.rank_range,
            strategy=self.rank_strategy,
            number=None,
            update_before=self.generate_update_before,
            # Consumers know rows by the keys of the input, however few there are.
            single=False,
            ttl_ms=parse_duration(self.state_ttl(), "ttl"),
        )
