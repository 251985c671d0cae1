"""Matches among rows of some keys: the automaton over columns of a frame, with the conditions of its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from execnodes.core.errors import JobError
from execnodes.core.match_spec import ALL_ROWS, MatchSpec, RowReference
from execnodes.core.types import INTEGERS, LogicalType, Root
from execnodes.kernels.row_predicates import Evaluate, fitting, wrapped
from execnodes.kernels.row_predicates import compile as compile_predicate
from execnodes.stream.match.v1_automaton import Automaton, Condition, Found, Run, SkipError

GROUP = "rk_group"
"""Number of a key; rows of a key stand together."""
TIME = "rk_time"
"""Of a row, epoch ms."""


class Search:
    """Looks at rows that stand in order, key by key (`GROUP`), with their TIME."""

    def __init__(self, spec: MatchSpec, uid: str, rows: pl.DataFrame, names: Sequence[str]) -> None:
        """`names`: of the input's columns in `rows`."""
        self.spec = spec
        self.uid = uid
        self.times: list[int] = rows[TIME].to_list()
        self._groups = rows[GROUP]
        read = {at for each in spec.references for at in each.arg_list}
        columns = {at: rows[names[at]].to_list() for at in read}
        values = [_value(spec, each, columns) for each in spec.references]
        conditions = {each.variable: _condition(compile_predicate(each.condition, values)) for each in spec.definitions}
        self._automaton = Automaton(
            spec.pattern, tuple(conditions.get(each.name) for each in spec.pattern), spec.after, spec.within
        )

    def groups(self) -> Iterator[range]:
        """The rows of each key."""
        start = 0
        for length in self._groups.rle().struct.field("len"):
            yield range(start, start + length)
            start += length

    def find(self, rows: range, until: int) -> Found:
        """What the rows of a key hold, when the watermark is `until`."""
        try:
            return self._automaton.find(rows, self.times, until)
        except SkipError as error:
            raise JobError(
                f"after a match it cannot {self.spec.after}: {error}",
                where=self.uid,
                hint="Write AFTER MATCH SKIP PAST LAST ROW, or TO NEXT ROW.",
            ) from None


def place_of(spec: MatchSpec, reference: RowReference) -> Callable[[Run], int | None]:
    """Which row of a match a navigation means; None for none."""
    rows, offset, first = rows_of(spec, reference.variable), reference.offset, reference.function == "FIRST"

    def place(run: Run) -> int | None:
        begin, end = rows(run)
        at = begin + offset if first else end - 1 - offset
        return at if begin <= at < end else None

    return place


def rows_of(spec: MatchSpec, variable: str) -> Callable[[Run], tuple[int, int]]:
    """Begin and end of the rows of a variable; equal if it has none, or has not begun."""
    if variable == ALL_ROWS:
        return lambda run: (run[0], run[-1])
    at = _number(spec, variable)
    return lambda run: (run[at], run[at + 1]) if at + 1 < len(run) else (run[-1], run[-1])


def _number(spec: MatchSpec, variable: str) -> int:
    return [each.name for each in spec.pattern].index(variable)


def _condition(condition: Evaluate) -> Condition:
    return lambda run: condition(run) is True


def _value(spec: MatchSpec, reference: RowReference, columns: dict[int, list[Any]]) -> Evaluate:
    rows = rows_of(spec, reference.variable)
    if not reference.arg_list:
        return lambda run: rows(run)[1] - rows(run)[0]
    column = columns[reference.arg_list[0]]
    if not reference.is_aggregate:
        return _picked(spec, reference, column)
    aggregate = AGGREGATES[reference.function]

    def value(run: Run) -> Any:
        begin, end = rows(run)
        return aggregate([each for each in column[begin:end] if each is not None], reference.type)

    return value


def _picked(spec: MatchSpec, reference: RowReference, column: list[Any]) -> Evaluate:
    """The value of a navigation; of the last row, which is asked for most, without finding its place first."""
    if reference.function == "LAST" and not reference.offset:
        if reference.variable == ALL_ROWS:
            return lambda run: column[run[-1] - 1]
        at = _number(spec, reference.variable)
        return lambda run: column[run[at + 1] - 1] if at + 1 < len(run) and run[at + 1] > run[at] else None
    place = place_of(spec, reference)

    def found(run: Run) -> Any:
        row = place(run)
        return None if row is None else column[row]

    return found


def _sum(values: list[Any], type: LogicalType) -> Any:
    if not values:
        return None
    total = sum(values)
    return (
        wrapped(total, type) if type.root in INTEGERS else fitting(total, type) if type.root is Root.DECIMAL else total
    )


def _avg(values: list[Any], type: LogicalType) -> Any:
    if not values:
        return None
    if type.root in INTEGERS:
        total = sum(values)
        return abs(total) // len(values) * (1 if total >= 0 else -1)
    return sum(values) / len(values)


AGGREGATES: dict[str, Callable[[list[Any], LogicalType], Any]] = {
    "$COUNT$1": lambda values, _: len(values),
    "$SUM$1": _sum,
    "$AVG$1": _avg,
    "$MIN$1": lambda values, _: min(values, default=None),
    "$MAX$1": lambda values, _: max(values, default=None),
}
"""`CONDITION_AGGREGATES`, of the values that are not NULL."""
