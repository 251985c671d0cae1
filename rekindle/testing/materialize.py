"""A changelog to the rows it leaves behind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from execnodes.core.changelog import RowKind
from rekindle.results.json_values import Json

Row = list[Json]


@dataclass(frozen=True)
class Message:
    """One change."""

    kind: RowKind
    row: Row


@dataclass(frozen=True)
class Materialized:
    """What a changelog leaves."""

    rows: tuple[Row, ...]
    missing: tuple[Message, ...] = ()
    """-U and -D of rows that were not there: the changelog contradicts itself."""


def materialize(messages: Iterable[Message], key: Sequence[int] | None = None) -> Materialized:
    """The final rows: under a key the last row, without one a multiset where -U and -D take one equal row out.

    A key of no columns means that there is one row at most. Under a key a removal needs no row to be there: a filter
    over updates lets a -U pass without its row.
    """
    return _multiset(messages) if key is None else _by_key(messages, key)


def canonical(value: Json) -> str:
    """A text that is equal for equal values, and only for them (1 and 1.0 differ)."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _by_key(messages: Iterable[Message], key: Sequence[int]) -> Materialized:
    rows: dict[str, Row] = {}
    for message in messages:
        name = canonical([message.row[index] for index in key])
        if message.kind in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            rows[name] = message.row
        else:
            rows.pop(name, None)
    return Materialized(tuple(rows.values()))


def _multiset(messages: Iterable[Message]) -> Materialized:
    counts: Counter[str] = Counter()
    missing = []
    for message in messages:
        text = canonical(message.row)
        if message.kind in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            counts[text] += 1
        elif counts[text] > 0:
            counts[text] -= 1
        else:
            missing.append(message)
    return Materialized(tuple(json.loads(text) for text in counts.elements()), tuple(missing))
