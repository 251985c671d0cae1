"""Version 3 (1.3): DISTINCT, with a state of what functions of the user have seen. Before, plans had none.

Since version 2 (1.2) functions that can merge accumulators fold rows before they are shuffled, as those of the system
do. Version 1 shuffled every row, and numbered them first, so that functions saw them in order. The state is the same:
it goes on whichever way rows come.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from execnodes.core.expressions import AggregateCall
from execnodes.core.indexes import ColumnIndex, Scope
from execnodes.core.meaning import RowsMeaning, StateMeaning, accumulator, call_of, call_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.outputs import Applied, Outputs, applied, grouped
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, OperatorInput, Rows
from execnodes.terms.term import Term, leaf, said
from execnodes.user_functions.mixed import mixed_problem
from execnodes.user_functions.partial import partial_calls, partial_columns, same_columns

if TYPE_CHECKING:
    from execnodes.stream.python_group_aggregate.v1_kernel import PythonGroupAggregateOperator
    from execnodes.stream.python_group_aggregate.v2_kernel import MergingOperator


@exec_node_metadata(
    name="stream-exec-python-group-aggregate",
    version=2,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["python-group-aggregate"],
    min_plan_version="1.2",
    min_state_version="1.0",
)
@exec_node_metadata(
    name="stream-exec-python-group-aggregate",
    version=3,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["python-group-aggregate"],
    min_plan_version="1.3",
    min_state_version="1.0",
)
class PythonGroupAggregate(ExecNode):
    """GROUP BY with aggregate functions of the user, others beside them; all else as in a group aggregate.

    Its input are rows, or what a local aggregate has folded of them: then it merges.

    Output: the keys, then the results.
    """

    grouping: tuple[ColumnIndex, ...]
    """Key columns of the input."""
    agg_calls: tuple[AggregateCall, ...]
    """They read columns of `local_agg_input_row_type`, if there is one, else of the input."""
    local_agg_input_row_type: LogicalType | None = None
    """What the local aggregate below has read; None if there is no such aggregate."""
    generate_update_before: bool
    """Emit -U before +U."""
    need_retraction: bool
    """The input retracts rows."""

    def uids(self) -> tuple[str, ...]:
        """The aggregate's own."""
        return (self.uid("python-group-aggregate"),)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Keys and results."""
        return grouped(inputs[0], self.grouping, self.agg_calls)

    def applied(self, inputs: tuple[LogicalType, ...]) -> Iterator[Applied]:
        """Its calls, over what they read."""
        return applied(self.agg_calls, self.local_agg_input_row_type or inputs[0], grouped=bool(self.grouping))

    def scope(self, name: str, around: Scope) -> Scope:
        """Calls read what the local node has read, if there is one."""
        read = self.local_agg_input_row_type
        return around if read is None or name != "agg_calls" else around.over(read.fields, "localAggInputRowType")

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Keys and calls must fit what they read, and the output; accumulators stand behind the keys."""
        keys, read = self.grouping, inputs[0]
        if self.local_agg_input_row_type is not None:
            keys, read = (), self.local_agg_input_row_type
            behind = partial_columns(self.agg_calls, read)
            if not same_columns(inputs[0].fields[len(inputs[0].fields) - len(behind) :], behind):
                raise self.fail(f"its input must end in the accumulators {', '.join(each.name for each in behind)}")
            if self.need_retraction:
                raise self.fail("what was folded before cannot be taken back")
            if self._distinct:
                raise self.fail("what was folded before cannot be DISTINCT")
        found = mixed_problem(keys, self.agg_calls, read, self.need_retraction)
        width = len(self.grouping) + len(self.agg_calls)
        if found is None and len(self.output_type.fields) != width:
            found = f"{len(self.output_type.fields)} output columns for {width} keys and results"
        if found is not None:
            raise self.fail(found)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One stateful operator over the key groups of the keys."""
        return lowering.operator(self, self._operator(inputs[0].type), (OperatorInput(inputs[0], self.grouping),))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """A row a group."""
        (rows,) = inputs
        keys = rows.some(self.grouping)
        columns = (*keys, *self._call_terms(rows).values())
        origin = said("groups", "groups by ({key}) of ({input})", key=frozenset(keys), input=rows.rows)
        return rows.made(self.output_type, columns, origin)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """Accumulators of each group, and the values behind some of them."""
        from execnodes.kernels.aggregates.column_meanings import add_users, aggregation_columns
        from execnodes.state.state_meanings import state_meanings
        from execnodes.stream.python_group_aggregate.v3_kernel import DistinctOperator
        from execnodes.stream.python_group_aggregate.v3_meaning import distinct_columns

        (rows,) = inputs
        operator = self._operator(rows.type)
        terms = self._call_terms(rows)
        own = {
            column.name: accumulator(terms[each.call.name], column.name.rpartition("$")[2])
            for each in operator.aggregation.accumulators
            for column in each.columns
        }
        merged = own if self.local_agg_input_row_type is not None else None
        columns = aggregation_columns(operator.aggregation, rows.some(self.grouping), rows, merged)
        users = ((call, terms[call.name]) for call in operator.user_calls)
        add_users(columns[operator.aggregation.state_name], users)
        if isinstance(operator, DistinctOperator):
            columns |= distinct_columns(operator.distinct, columns[operator.aggregation.state_name], rows)
        changes = leaf("changes", "also taken back" if self.need_retraction else "only added")
        parts = {"input": rows.rows, "changes": changes}
        return state_meanings(operator, self.metadata, inputs, parts, columns)

    @property
    def _distinct(self) -> bool:
        return any(call.user_name and call.distinct for call in self.agg_calls)

    def _call_terms(self, rows: RowsMeaning) -> dict[str, Term]:
        """Names of the calls to what they mean; of accumulators that come folded the local aggregate has said it."""
        if self.local_agg_input_row_type is None:
            return {call.name: call_term(call, rows) for call in self.agg_calls}
        behind = partial_columns(self.agg_calls, self.local_agg_input_row_type)
        columns = rows.columns[len(rows.columns) - len(behind) :]
        calls = partial_calls(self.agg_calls, self.local_agg_input_row_type)
        found = {call.name: call_of(column) for column, call in zip(columns, calls, strict=True)}
        return {call.name: found[call.name] for call in self.agg_calls}

    def _operator(self, input_type: LogicalType) -> PythonGroupAggregateOperator | MergingOperator:
        from execnodes.stream.python_group_aggregate.v1_kernel import PythonGroupAggregateOperator
        from execnodes.stream.python_group_aggregate.v2_kernel import MergingOperator
        from execnodes.stream.python_group_aggregate.v3_kernel import DistinctOperator

        if self.local_agg_input_row_type is not None:
            return MergingOperator(
                uid=self.uids()[0],
                input_type=input_type,
                output_type=self.output_type,
                local_input_type=self.local_agg_input_row_type,
                grouping=self.grouping,
                calls=self.agg_calls,
                update_before=self.generate_update_before,
                ttl_ms=parse_duration(self.state_ttl()),
            )
        return (DistinctOperator if self._distinct else PythonGroupAggregateOperator)(
            uid=self.uids()[0],
            input_type=input_type,
            output_type=self.output_type,
            grouping=self.grouping,
            calls=self.agg_calls,
            retract=self.need_retraction,
            update_before=self.generate_update_before,
            ttl_ms=parse_duration(self.state_ttl()),
        )

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """Rows come as they did."""
        return old
