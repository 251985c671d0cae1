"""From an operator's states to what they mean: the layout is the operator's, the meaning that of its node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from execnodes.aggregates import RECORD_COUNT
from execnodes.core.expressions import AggregateCall
from execnodes.core.meaning import (
    HIDDEN,
    NUMBER_OF_ROWS,
    RowsMeaning,
    StateColumn,
    StateMeaning,
    accumulator,
    call_term,
    every,
)
from execnodes.core.metadata import ExecNodeMetadata
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.kernels.aggregates.mixed import MixedAggregation
from execnodes.kernels.aggregates.user import state_columns as user_columns
from execnodes.state.operator import Operator, StateSpec
from execnodes.terms.term import Term, leaf, said


class AccumulatorColumns(dict[str, Term]):
    """Meanings of the columns of an aggregation's state."""

    def __init__(self, terms: Mapping[str, Term], addable: Iterable[str], retract: bool) -> None:
        """`addable`: columns that are NULL before the first value; over retracting input none can begin later."""
        super().__init__(terms)
        self.addable = None if retract else frozenset(addable)
        self.serializers: dict[str, str] = {}
        """See `StateMeaning.serializers`."""


def state_meanings(
    operator: Operator,
    metadata: ExecNodeMetadata,
    inputs: Sequence[RowsMeaning],
    parts: Mapping[str, Term],
    columns: Mapping[str, Mapping[str, Term]],
) -> tuple[StateMeaning, ...]:
    """One for each state that a savepoint holds.

    `columns`: state name (also of earlier layouts) to column name to meaning; `parts` go for all states, beside the
    operator and the keys.
    """
    sources = frozenset(uid for each in inputs for uid in each.sources)

    def meant(spec: StateSpec) -> StateMeaning:
        layout = leaf("operator", f"{metadata.key.name}, state of {spec.since}")
        found = _meaning(operator.uid, spec, {"operator": layout, **parts}, columns[spec.name], sources)
        return replace(found, earlier=tuple(map(meant, spec.earlier)))

    return tuple(meant(spec) for spec in operator.states if not spec.derived)


def _meaning(
    uid: str, spec: StateSpec, parts: Mapping[str, Term], terms: Mapping[str, Term], sources: frozenset[str]
) -> StateMeaning:
    columns = tuple(
        StateColumn(
            column.name,
            str(column.type.with_nullable(True).regular()),
            leaf("own column", column.name) if column.name.startswith(HIDDEN) else terms[column.name],
        )
        for column in spec.columns
    )
    key = every(terms[name] for name in spec.key)
    known = terms if isinstance(terms, AccumulatorColumns) else None
    return StateMeaning(
        uid,
        spec.name,
        {**parts, "key": key},
        columns,
        spec.bucketed,
        spec.ttl_ms,
        sources,
        addable=known.addable if known is not None else None,
        serializers=known.serializers if known is not None else {},
    )


def row_columns(rows: RowsMeaning) -> dict[str, Term]:
    """Columns of a state that holds whole rows."""
    return dict(zip((each.name for each in rows.type.fields), rows.columns, strict=True))


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
    for name, calls in aggregation.value_states().items():
        terms = {**key_columns, **_value_columns(calls, rows)}
        found[name] = AccumulatorColumns(terms, (), aggregation.retract)
    return found


def add_users(columns: AccumulatorColumns, calls: Iterable[tuple[AggregateCall, Term]]) -> None:
    """Accumulators of functions of the user, with what the calls mean."""
    for call, term in calls:
        for column in user_columns(call):
            columns[column.name] = accumulator(term, column.name.removeprefix(f"{call.name}$"))
        if call.accumulator is not None:
            columns.serializers[term.text] = call.accumulator.model_dump_json(by_alias=True)


def _value_columns(calls: Sequence[AggregateCall], rows: RowsMeaning) -> dict[str, Term]:
    # Which values there are depends on all the calls.
    of_all = frozenset(call_term(call, rows) for call in calls)
    first, last = rows.columns[calls[0].arg_list[0]], rows.columns[calls[0].arg_list[-1]]
    counters = {
        f"{call.name}$occurrences": said("occurrences", "occurrences {filter}", filter=rows.some(_filter(call)))
        for call in calls
    }
    return {
        "key": said("value", "{value} for ({call})", value=first, call=of_all),
        "value": said("value", "{value} for ({call})", value=last, call=of_all),
        "position": said("position", "position for ({call})", call=of_all),
        **counters,
    }


def _filter(call: AggregateCall) -> tuple[int, ...]:
    return (call.filter_arg,) if call.filter_arg >= 0 else ()
