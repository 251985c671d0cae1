"""From an operator's states to what they mean: the layout is the operator's, the meaning that of its node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from execnodes.core.aggregates import RECORD_COUNT
from execnodes.core.expressions import AggregateCall
from execnodes.core.meaning import RowsMeaning, StateColumn, StateMeaning, call_text, set_text
from execnodes.core.metadata import ExecNodeMetadata
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.state.operator import Operator, StateSpec

HIDDEN = "rk_"
"""Columns whose names begin so are the operator's own, and mean what they are called."""


class AccumulatorTexts(dict[str, str]):
    """Meanings of the columns of an aggregation's state."""

    def __init__(self, texts: Mapping[str, str], addable: Iterable[str], retract: bool) -> None:
        """`addable`: columns that are NULL before the first value; over retracting input none can begin later."""
        super().__init__(texts)
        self.addable = None if retract else frozenset(addable)
        self.serializers: dict[str, str] = {}
        """See `StateMeaning.serializers`."""


def state_meanings(
    operator: Operator,
    metadata: ExecNodeMetadata,
    inputs: Sequence[RowsMeaning],
    parts: Mapping[str, str],
    columns: Mapping[str, Mapping[str, str]],
) -> tuple[StateMeaning, ...]:
    """One for each state that a savepoint holds.

    `columns`: state name (also of earlier layouts) to column name to meaning; `parts` go for all states, beside the
    operator and the keys.
    """
    sources = frozenset(uid for each in inputs for uid in each.sources)

    def meant(spec: StateSpec) -> StateMeaning:
        layout = f"{metadata.key.name}, state of {spec.since}"
        found = _meaning(operator.uid, spec, {"operator": layout, **parts}, columns[spec.name], sources)
        return replace(found, earlier=tuple(map(meant, spec.earlier)))

    return tuple(meant(spec) for spec in operator.states if not spec.derived)


def _meaning(
    uid: str, spec: StateSpec, parts: Mapping[str, str], texts: Mapping[str, str], sources: frozenset[str]
) -> StateMeaning:
    columns = tuple(
        StateColumn(
            column.name,
            str(column.type.with_nullable(True).regular()),
            column.name if column.name.startswith(HIDDEN) else texts[column.name],
        )
        for column in spec.columns
    )
    key = set_text([texts[name] for name in spec.key])
    known = texts if isinstance(texts, AccumulatorTexts) else None
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


def row_texts(rows: RowsMeaning) -> dict[str, str]:
    """Columns of a state that holds whole rows."""
    return dict(zip((each.name for each in rows.type.fields), rows.columns, strict=True))


def aggregation_texts(
    aggregation: Aggregation, keys: Sequence[str], rows: RowsMeaning, results: Mapping[str, str] | None = None
) -> dict[str, AccumulatorTexts]:
    """Columns of an aggregation's states; `keys` as its own, `rows` are those that its calls read.

    `results`: meanings of accumulator columns, where partial results come and not rows.
    """
    key_texts = dict(zip((each.name for each in aggregation.keys), keys, strict=True))
    main: dict[str, str] = {}
    for each in aggregation.accumulators:
        for column in each.columns:
            part = column.name.rpartition("$")[2]
            main[column.name] = results[column.name] if results else f"{call_text(each.call, rows)}.{part}"
    texts = {**key_texts, RECORD_COUNT: "number of rows", **main}
    found = {aggregation.state_name: AccumulatorTexts(texts, main, aggregation.retract)}
    for name, calls in aggregation.value_states().items():
        # Which values there are depends on all the calls.
        every = set_text([call_text(call, rows) for call in calls])
        texts = {**key_texts, **_value_texts(calls, rows, every)}
        found[name] = AccumulatorTexts(texts, (), aggregation.retract)
    return found


def _value_texts(calls: Sequence[AggregateCall], rows: RowsMeaning, every: str) -> dict[str, str]:
    first, last = rows.columns[calls[0].arg_list[0]], rows.columns[calls[0].arg_list[-1]]
    counters = {
        f"{call.name}$occurrences": f"occurrences {rows.columns[call.filter_arg] if call.filter_arg >= 0 else ''}"
        for call in calls
    }
    return {
        "key": f"{first} for {every}",
        "value": f"{last} for {every}",
        "position": f"position for {every}",
        **counters,
    }
