"""What the columns of an aggregation's states mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from execnodes.aggregates import RECORD_COUNT
from execnodes.core.expressions import AggregateCall
from execnodes.core.meaning import NUMBER_OF_ROWS, RowsMeaning, accumulator, call_term
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.kernels.aggregates.mixed import MixedAggregation
from execnodes.kernels.aggregates.user import state_columns as user_columns
from execnodes.state.state_meanings import AccumulatorColumns
from execnodes.terms.term import Term, said


def aggregation_columns(
    aggregation: Aggregation, keys: Sequence[Term], rows: RowsMeaning, results: Mapping[str, Term] | None = None
) -> dict[str, AccumulatorColumns]:
    """Columns of an aggregation's states; `keys` as its own, `rows` are those that its calls read.

    `results`: meanings of accumulator columns, where partial results come and not rows.
    """
    key_columns = dict(zip((each.name for each in aggregation.keys), keys, strict=True))
    main: dict[str, Term] = {}
    for each in aggregation.accumulators:
        for column in each.columns:
            part = column.name.rpartition("$")[2]
            main[column.name] = results[column.name] if results else accumulator(call_term(each.call, rows), part)
    terms = {**key_columns, RECORD_COUNT: NUMBER_OF_ROWS, **main}
    found = {aggregation.state_name: AccumulatorColumns(terms, main, aggregation.retract)}
    if isinstance(aggregation, MixedAggregation) and results is None:
        users = (call for call in aggregation.every_call if call.user_name)
        add_users(found[aggregation.state_name], ((call, call_term(call, rows)) for call in users))
    for name, (arguments, calls) in aggregation.value_states().items():
        terms = {**key_columns, **_value_columns(arguments, calls, rows)}
        found[name] = AccumulatorColumns(terms, (), aggregation.retract)
    return found


def add_users(columns: AccumulatorColumns, calls: Iterable[tuple[AggregateCall, Term]]) -> None:
    """Accumulators of functions of the user, with what the calls mean."""
    for call, term in calls:
        for column in user_columns(call):
            columns[column.name] = accumulator(term, column.name.removeprefix(f"{call.name}$"))
        if call.accumulator is not None:
            columns.serializers[term.text] = call.accumulator.model_dump_json(by_alias=True)


def _value_columns(arguments: Sequence[str], calls: Sequence[AggregateCall], rows: RowsMeaning) -> dict[str, Term]:
    # Which values there are depends on all the calls.
    of_all = frozenset(call_term(call, rows) for call in calls)
    values = {
        name: said("value", "{value} for ({call})", value=rows.columns[at], call=of_all)
        for name, at in zip(arguments, calls[0].arg_list, strict=True)
    }
    counters = {
        f"{call.name}$occurrences": said("occurrences", "occurrences {filter}", filter=rows.some(_filter(call)))
        for call in calls
    }
    return {
        **values,
        "position": said("position", "position for ({call})", call=of_all),
        **counters,
    }


def _filter(call: AggregateCall) -> tuple[int, ...]:
    return (call.filter_arg,) if call.filter_arg >= 0 else ()
