"""What the columns of the states of stream-exec-over-aggregate mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from execnodes.core.meaning import RowsMeaning, accumulator
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.column_meanings import add_users
from execnodes.state.operator import Operator
from execnodes.state.state_meanings import AccumulatorColumns, row_columns
from execnodes.stream.over_aggregate.v1_changes import OverChanges
from execnodes.stream.over_aggregate.v1_kernel import TOTALS, VALUE, VALUES, OverRows
from execnodes.terms.term import Term, said


def state_columns(
    operator: Operator, rows: RowsMeaning, keys: Sequence[int], calls: Mapping[str, Term]
) -> dict[str, AccumulatorColumns]:
    """By state and column; `calls` by the names of their results."""
    assert isinstance(operator, OverRows | OverChanges)
    functions = operator.shape.functions
    known = row_columns(rows)
    known |= {frame.key(at): rows.columns[key] for at, key in enumerate(keys)}
    known |= {frame.arg(at): rows.columns[at] for at in functions.arguments}
    for each in functions.running:
        for column in each.columns:
            known[column.name] = accumulator(calls[each.call.name], column.name.rpartition("$")[2])
    going_on = (*(each.call for each in functions.running), *(call for call in functions.users if call.distinct))
    every = frozenset(calls[call.name] for call in going_on)
    values = {
        f"{VALUES}{at}": {VALUE: said("value", "{value} for ({call})", value=rows.columns[at], call=every)}
        for at in functions.distinct
    }
    found = {}
    for spec in operator.states:
        found[spec.name] = AccumulatorColumns(known | values.get(spec.name, {}), (), True)
        if spec.name == TOTALS and isinstance(operator, OverRows):
            add_users(found[spec.name], ((call, calls[call.name]) for call in functions.users))
    return found
