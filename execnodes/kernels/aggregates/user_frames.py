"""Aggregate functions of the user over frames of rows: an accumulator goes on as long as frames only grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.user import UserCall, state_columns


@dataclass
class UserFrames:
    """One call over the rows of many keys, one key after the other."""

    user: UserCall
    rows: pl.DataFrame
    once: pl.Expr | None = None
    """TRUE for rows that DISTINCT lets pass; None: each frame finds its own."""
    results: list[Any] = field(default_factory=list)
    """Of the rows that want one, in their order."""
    left: list[Sequence[Any] | None] = field(default_factory=list)
    """Beside them the accumulator as columns, where it has seen the last frame that begins at its first row."""

    def slide(self, frames: Sequence[tuple[int, int]], before: Mapping[int, Sequence[Any]] | None) -> None:
        """Results over the rows from the first to the last place of each frame; places never go back.

        `before`: by first places the accumulators, as columns, of what came before; None: none goes on, or is left.
        """
        accumulators, take = self.user.accumulators(), self.user.taker()
        arguments = [self.rows[frame.arg(index)].to_list() for index in self.user.call.arg_list]
        passing, distinct = self._passing(), self.user.call.distinct and self.once is None
        begin, reached, seen = -1, -1, set[tuple[Any, ...]]()
        accumulator = value = None
        for at, (first, last) in enumerate(frames):
            if first != begin:
                begin, reached, seen = first, first, set()
                known = None if before is None else before.get(first)
                accumulator = accumulators.fresh() if known is None else accumulators.read(known)
            if last >= reached:
                places = [each for each in range(reached, last + 1) if passing[each]]
                if distinct:
                    places = [each for each in places if _is_new(tuple(values[each] for values in arguments), seen)]
                if places:
                    given = [[values[each] for each in places] for values in arguments]
                    accumulator = take(accumulator, [1] * len(places), given)
                value, reached = accumulators.result(accumulator), last + 1
            self.results.append(value)
            ends = before is not None and (at + 1 == len(frames) or frames[at + 1][0] != first)
            self.left.append(accumulators.write(accumulator) if ends else None)

    def accumulators(self) -> list[pl.Series]:
        """What is left, by the names of `frame.delta`."""
        return [
            pl.Series(frame.delta(column.name), [each and each[at] for each in self.left], dtype=column.dtype)
            for at, column in enumerate(state_columns(self.user.call))
        ]

    def _passing(self) -> list[bool]:
        passes = self.user.passes() + ([] if self.once is None else [self.once])
        if not passes:
            return [True] * self.rows.height
        return self.rows.select(pl.all_horizontal(passes)).to_series().to_list()


def _is_new(values: tuple[Any, ...], seen: set[tuple[Any, ...]]) -> bool:
    if values in seen:
        return False
    seen.add(values)
    return True
