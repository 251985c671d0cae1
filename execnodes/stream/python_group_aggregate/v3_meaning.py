"""What the columns of the states behind DISTINCT mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from execnodes.core.meaning import RowsMeaning
from execnodes.kernels.aggregates.user_distinct import OCCURRENCES, DistinctRows
from execnodes.state.state_meanings import AccumulatorColumns
from execnodes.terms.term import Term, said


def distinct_columns(
    states: Sequence[DistinctRows], known: Mapping[str, Term], rows: RowsMeaning
) -> dict[str, AccumulatorColumns]:
    """By state and column; `known` has the keys. Which values there are hangs on the arguments and FILTER alone."""
    found = {}
    for each in states:
        call = each.call
        values = zip(each.values, rows.some(call.arg_list), strict=True)
        terms = {column.name: said("value", "{value} for DISTINCT", value=value) for column, value in values}
        passes = rows.some((call.filter_arg,) if call.filter_arg >= 0 else ())
        terms[OCCURRENCES] = said("occurrences", "occurrences {filter}", filter=passes)
        found[each.name] = AccumulatorColumns({**known, **terms}, (), True)
    return found
