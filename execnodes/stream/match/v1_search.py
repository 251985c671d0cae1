"""Matches among rows of some keys: the automaton over columns of a frame, with the conditions of its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from execnodes.core.errors import JobError
from execnodes.core.match_spec import ALL_ROWS, MatchSpec, RowReference
from execnodes.core.types import INTEGERS, LogicalType, Root
from execnodes.kernels.row_predicates import compile as compile_predicate
from execnodes.kernels.row_predicates import fitting, wrapped
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
        conditions = {each.variable: _condition(compile_predicate(each.condition), values) for each in spec.definitions}
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
    """Begin and end of the rows of a variable."""
    if variable == ALL_ROWS:
        return lambda run: (run.start, run.ends[-1])
    at = [each.name for each in spec.pattern].index(variable)
    return lambda run: run.rows(at)


def _condition(condition: Callable[[Sequence[Any]], Any], values: Sequence[Callable[[Run], Any]]) -> Condition:
    return lambda run: condition(_Lazy(values, run)) is True


class _Lazy(Sequence[Any]):
    """Values of references, each when it is asked for."""

    __slots__ = ("_run", "_values")

    def __init__(self, values: Sequence[Callable[[Run], Any]], run: Run) -> None:
        self._values, self._run = values, run

    def __getitem__(self, at: Any) -> Any:
        return self._values[at](self._run)

    def __len__(self) -> int:
        return len(self._values)


def _value(spec: MatchSpec, reference: RowReference, columns: dict[int, list[Any]]) -> Callable[[Run], Any]:
    if reference.function == "$COUNT$1" and not reference.arg_list:
        rows = rows_of(spec, reference.variable)
        return lambda run: rows(run)[1] - rows(run)[0]
    column = columns[reference.arg_list[0]]
    if not reference.is_aggregate:
        place = place_of(spec, reference)

        def found(run: Run) -> Any:
            at = place(run)
            return None if at is None else column[at]

        return found
    rows, aggregate = rows_of(spec, reference.variable), AGGREGATES[reference.function]

    def value(run: Run) -> Any:
        begin, end = rows(run)
        known = [each for each in column[begin:end] if each is not None]
        return aggregate(known, reference.type)

    return value


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
