"""Finds matches of a pattern among rows of one key, in their order.

A match is a run of rows, and each variable has a part of it: so a partial match is where it begins and where the rows
of each variable end. Source: Flink's `NFA` and `NFACompiler`, for patterns whose rows follow each other (`next`,
`consecutive`), with `AfterMatchSkipStrategy`:

- A row may take a partial match on in more than one way, and each is followed: it is one more row of the open variable,
  or the first one of a later variable, where those between need none.
- A greedy variable lets go of no row: one that could be its own is not the first of the next variable.
- A match is complete with the first row behind which all variables may end; it is given once no partial match is left
  that began before, and then those that may not begin any more are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from execnodes.core.match_spec import AfterMatch, PatternVariable


class Run(NamedTuple):
    """Rows of a match, or of one that may become one."""

    start: int
    """Its first row."""
    ends: tuple[int, ...]
    """Behind the last row of each variable that has begun."""

    def rows(self, variable: int) -> tuple[int, int]:
        """Begin and end of the rows of a variable; empty if it has none, or has not begun."""
        if variable >= len(self.ends):
            return self.ends[-1], self.ends[-1]
        return (self.ends[variable - 1] if variable else self.start), self.ends[variable]


Condition = Callable[[Run], bool]
"""Whether the last row may be one of the open variable, which it is counted among."""


class SkipError(Exception):
    """A match has no row at which the next one may begin."""


@dataclass
class Found:
    """What rows of one key hold."""

    matches: list[Run]
    """In the order they are given."""
    kept_from: int
    """Rows before this one are in nothing that may still become a match, or is not given yet."""
    times_out: int | None
    """Row from whose time on the next timeout counts: that of the first partial match; None without one."""


@dataclass(frozen=True)
class Automaton:
    """A pattern with the conditions of its variables."""

    pattern: tuple[PatternVariable, ...]
    conditions: tuple[Condition | None, ...]
    """By variable; None: any row."""
    after: AfterMatch
    within: int | None = None

    def find(self, rows: range, times: Sequence[int], until: int) -> Found:
        """Matches among rows (indexes into `times`, epoch ms, ascending), when the watermark is `until`."""
        partial: list[Run] = []
        complete: list[Run] = []
        found: list[Run] = []
        for row in rows:
            if self.within is not None:
                partial = self._in_time(partial, times, times[row])
                partial = self._give(partial, complete, found)
            going: list[Run] = []
            for each in partial:
                self._advance(each, row, going, complete)
            self._advance(Run(row, (row,)), row, going, complete)
            complete.sort(key=lambda run: run.start)
            partial = self._give(going, complete, found)
        if self.within is not None:
            partial = self._in_time(partial, times, until)
            partial = self._give(partial, complete, found)
        starts = [each.start for each in (*partial, *complete)]
        return Found(found, min(starts, default=rows.stop), partial[0].start if partial else None)

    def _in_time(self, partial: list[Run], times: Sequence[int], now: int) -> list[Run]:
        assert self.within is not None
        return [each for each in partial if now - times[each.start] < self.within]

    def _advance(self, run: Run, row: int, going: list[Run], complete: list[Run]) -> None:
        """What becomes of a partial match with this row."""
        start, ends = run
        while True:
            open_ = len(ends) - 1
            variable = self.pattern[open_]
            count = ends[-1] - Run(start, ends).rows(open_)[0]
            if not count and open_ and self.pattern[open_ - 1].greedy and self._takes(start, ends[:-1], row):
                return
            if self._takes(start, ends, row):
                self._taken(Run(start, (*ends[:-1], row + 1)), count + 1, going, complete)
            if count < variable.min_rows or open_ + 1 == len(self.pattern):
                return
            ends = (*ends, ends[-1])

    def _takes(self, start: int, ends: tuple[int, ...], row: int) -> bool:
        condition = self.conditions[len(ends) - 1]
        return condition is None or condition(Run(start, (*ends[:-1], row + 1)))

    def _taken(self, run: Run, count: int, going: list[Run], complete: list[Run]) -> None:
        open_ = len(run.ends) - 1
        full = count == self.pattern[open_].takes
        if full:
            open_, count = open_ + 1, 0
        ends = (*run.ends, run.ends[-1]) if full else run.ends
        if open_ < len(self.pattern):
            going.append(Run(run.start, ends))
        if self._may_end(open_, count):
            complete.append(Run(run.start, run.ends + run.ends[-1:] * (len(self.pattern) - len(run.ends))))

    def _may_end(self, open_: int, count: int) -> bool:
        """Whether all variables from the open one on need no more rows, and none of them waits for more."""
        for variable in self.pattern[open_:]:
            if variable.greedy or count < variable.min_rows:
                return False
            count = 0
        return True

    def _give(self, partial: list[Run], complete: list[Run], found: list[Run]) -> list[Run]:
        """Give matches before which none can begin any more; the partial matches that are left."""
        while complete and (not partial or complete[0].start <= partial[0].start):
            match = complete.pop(0)
            found.append(match)
            first = self._next_start(match)
            partial = [each for each in partial if each.start >= first]
            complete[:] = [each for each in complete if each.start >= first]
        return partial

    def _next_start(self, match: Run) -> int:
        match self.after.skip:
            case "PAST LAST ROW":
                return match.ends[-1]
            case "TO NEXT ROW":
                return match.start + 1
            case "TO FIRST" | "TO LAST":
                names = [each.name for each in self.pattern]
                begin, end = match.rows(names.index(self.after.variable))
                target = begin if self.after.skip == "TO FIRST" else end - 1
                if begin == end:
                    raise SkipError(f"a match has no row of {self.after.variable}")
                if target == match.start:
                    raise SkipError(f"a match begins with that row of {self.after.variable}, and would be found again")
                return target
