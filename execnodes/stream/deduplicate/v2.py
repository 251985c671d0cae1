"""Version 2 (1.1): rows that have been given out are no longer kept whole, only their keys.

The first row by event time is needed until the watermark has passed it; then all there is to know is that its key is
done. Version 1 kept the whole row for ever, which was most of its state: with 200,000 keys and 100 characters a row 15
MB of pages, now 3.5 MB, and a quarter is written on the way. Plans of version 1 run by this class, too, and their
savepoints are moved over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.core.indexes import ColumnIndex
from execnodes.core.meaning import RowsMeaning, StateMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.types import TIMESTAMPS, LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.state.operator import Operator


@exec_node_metadata(
    name="stream-exec-deduplicate",
    version=1,
    consumed_options=["table.exec.mini-batch.enabled", "table.exec.mini-batch.size", "table.exec.uid.format"],
    produced_operators=["deduplicate"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
@exec_node_metadata(
    name="stream-exec-deduplicate",
    version=2,
    consumed_options=["table.exec.mini-batch.enabled", "table.exec.mini-batch.size", "table.exec.uid.format"],
    produced_operators=["deduplicate"],
    min_plan_version="1.0",
    min_state_version="1.1",
)
class Deduplicate(ExecNode):
    """Keeps one row of each key: the first or the last by event time or by arrival. Its input only adds rows."""

    unique_keys: tuple[ColumnIndex, ...]
    """Columns of PARTITION BY."""
    is_rowtime: bool
    """True: ordered by event time, False: by arrival."""
    time_attribute_index: ColumnIndex
    """Column of ORDER BY."""
    keep_last_row: bool
    """True keeps the last row and updates it; False keeps the first and never changes it."""
    generate_update_before: bool = False
    """True if -U comes with an update."""

    def uids(self) -> tuple[str, ...]:
        """One operator."""
        return (self.uid("deduplicate"),)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time that decides which row is first or last."""
        return ((self.time_attribute_index,),) if self.is_rowtime else ()

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One operator, spread by the keys."""
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], self.unique_keys),))

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys and time are columns of the input; event time is a timestamp."""
        fields = inputs[0].fields
        if any(each >= len(fields) for each in (*self.unique_keys, self.time_attribute_index)):
            raise self.fail(f"its keys and its time are not all columns of the input, which has {len(fields)}")
        time = fields[self.time_attribute_index]
        if self.is_rowtime and time.type.root not in TIMESTAMPS:
            raise self.fail(f"its event time {time.name} is {time.type}, not a timestamp")
        if len(self.output_type.fields) != len(fields):
            raise self.fail("its output must have the columns of its input")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """One row of each key."""
        (rows,) = inputs
        origin = said("deduplicate", "{row} of ({input})", row=self._row(rows), input=rows.rows)
        return rows.made(self.output_type, rows.columns, origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """The row that is kept of each key, or only the key."""
        from execnodes.state.state_meanings import row_columns, state_meanings

        (rows,) = inputs
        operator, kept = self._operator(rows.type), row_columns(rows)
        parts = {"input": rows.rows, "order": self._row(rows)}
        columns = {spec.name: kept for spec in (*operator.states, *operator.earlier)}
        return state_meanings(operator, self.metadata, inputs, parts, columns)

    def _row(self, rows: RowsMeaning) -> Term:
        parts = {
            "keep": leaf("keep", "last" if self.keep_last_row else "first"),
            "order": rows.columns[self.time_attribute_index] if self.is_rowtime else leaf("order", "arrival"),
        }
        says = "{keep} row by ({key}) in order of {order}"
        # The last row is given out at once; the first waits for the watermark.
        if self.is_rowtime and not self.keep_last_row:
            says, parts["watermark"] = says + " in the time of {watermark}", rows.time
        return said("row", says, key=rows.keys(self.unique_keys), **parts)

    def _operator(self, type: LogicalType) -> Operator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.deduplicate.v1_kernel import KeepFirstToArrive, KeepLast
        from execnodes.stream.deduplicate.v2_kernel import KeepFirstByTime

        columns = tuple(Column(each.name, each.type) for each in type.fields)
        ttl = parse_duration(self.state_ttl(), "ttl")
        if self.keep_last_row:
            time = self.time_attribute_index if self.is_rowtime else None
            return KeepLast(self.uid("deduplicate"), columns, self.unique_keys, time, self.generate_update_before, ttl)
        if self.is_rowtime:
            return KeepFirstByTime(self.uid("deduplicate"), columns, self.unique_keys, self.time_attribute_index, ttl)
        return KeepFirstToArrive(self.uid("deduplicate"), columns, self.unique_keys, ttl)
