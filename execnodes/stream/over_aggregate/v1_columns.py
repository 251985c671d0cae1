"""What the columns of the states of stream-exec-over-aggregate mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from execnodes.core.meaning import RowsMeaning, accumulator
from execnodes.kernels.aggregates import frame
from execnodes.state.meaning import row_columns
from execnodes.state.operator import Operator
from execnodes.stream.over_aggregate.v1_changes import OverChanges
from execnodes.stream.over_aggregate.v1_kernel import VALUE, VALUES, OverRows
from execnodes.terms.term import Term, said


def state_columns(
    operator: Operator, rows: RowsMeaning, keys: Sequence[int], calls: Mapping[str, Term]
) -> dict[str, dict[str, Term]]:
    """By state and column; `calls` by the names of their results."""
    assert isinstance(operator, OverRows | OverChanges)
    functions = operator.shape.functions
    known = row_columns(rows)
    known |= {frame.key(at): rows.columns[key] for at, key in enumerate(keys)}
    known |= {frame.arg(at): rows.columns[at] for at in functions.arguments}
    for each in functions.running:
        for column in each.columns:
            known[column.name] = accumulator(calls[each.call.name], column.name.rpartition("$")[2])
    every = frozenset(calls[each.call.name] for each in functions.running)
    values = {
        f"{VALUES}{at}": {VALUE: said("value", "{value} for ({call})", value=rows.columns[at], call=every)}
        for at in functions.distinct
    }
    return {spec.name: known | values.get(spec.name, {}) for spec in operator.states}
