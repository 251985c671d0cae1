"""From an operator's states to what they mean: the layout is the operator's, the meaning that of its node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from execnodes.core.meaning import (
    HIDDEN,
    RowsMeaning,
    StateColumn,
    StateMeaning,
    every,
)
from execnodes.core.metadata import ExecNodeMetadata
from execnodes.state.operator import Operator, StateSpec
from execnodes.terms.term import Term, leaf


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
