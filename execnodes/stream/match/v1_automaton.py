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
from functools import cached_property

from execnodes.core.match_spec import AfterMatch, PatternVariable

Run = tuple[int, ...]
"""Rows of a match, or of one that may become one: its first row, then for each variable that has begun the row behind
its last one. The rows of variable 2 are those from ``run[2]`` to ``run[3]``.
"""
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
            self._advance((row, row), row, going, complete)
            if len(complete) > 1:
                complete.sort(key=_first)
            partial = self._give(going, complete, found)
        if self.within is not None:
            partial = self._in_time(partial, times, until)
            partial = self._give(partial, complete, found)
        starts = map(_first, (*partial, *complete))
        return Found(found, min(starts, default=rows.stop), partial[0][0] if partial else None)

    def _in_time(self, partial: list[Run], times: Sequence[int], now: int) -> list[Run]:
        assert self.within is not None
        return [each for each in partial if now - times[each[0]] < self.within]

    def _advance(self, run: Run, row: int, going: list[Run], complete: list[Run]) -> None:
        """What becomes of a partial match with this row."""
        pattern, conditions = self.pattern, self.conditions
        while True:
            open_ = len(run) - 2
            count, longer = run[-1] - run[-2], (*run[:-1], row + 1)
            if not count and open_ and self._greedy[open_ - 1]:
                before = conditions[open_ - 1]
                if before is None or before((*run[:-2], row + 1)):
                    return
            condition = conditions[open_]
            if condition is None or condition(longer):
                self._taken(longer, count + 1, going, complete)
            if count < pattern[open_].min_rows or open_ + 1 == len(pattern):
                return
            run = (*run, run[-1])

    def _taken(self, run: Run, count: int, going: list[Run], complete: list[Run]) -> None:
        open_ = len(run) - 2
        full = count == self.pattern[open_].max_rows
        if not full:
            going.append(run)
        elif open_ + 1 < len(self.pattern):
            going.append((*run, run[-1]))
        if self._may_end(open_ + full, 0 if full else count):
            complete.append(run + run[-1:] * (len(self.pattern) - open_ - 1))

    @cached_property
    def _greedy(self) -> tuple[bool, ...]:
        return tuple(each.greedy for each in self.pattern)

    def _may_end(self, open_: int, count: int) -> bool:
        """Whether all variables from the open one on need no more rows, and none of them waits for more."""
        for at in range(open_, len(self.pattern)):
            if self._greedy[at] or count < self.pattern[at].min_rows:
                return False
            count = 0
        return True

    def _give(self, partial: list[Run], complete: list[Run], found: list[Run]) -> list[Run]:
        """Give matches before which none can begin any more; the partial matches that are left."""
        while complete and (not partial or complete[0][0] <= partial[0][0]):
            match = complete.pop(0)
            found.append(match)
            first = self._next_start(match)
            partial = [each for each in partial if each[0] >= first]
            complete[:] = [each for each in complete if each[0] >= first]
        return partial

    def _next_start(self, match: Run) -> int:
        match self.after.skip:
            case "PAST LAST ROW":
                return match[-1]
            case "TO NEXT ROW":
                return match[0] + 1
            case "TO FIRST" | "TO LAST":
                names = [each.name for each in self.pattern]
                at = names.index(self.after.variable)
                begin, end = match[at], match[at + 1]
                target = begin if self.after.skip == "TO FIRST" else end - 1
                if begin == end:
                    raise SkipError(f"a match has no row of {self.after.variable}")
                if target == match[0]:
                    raise SkipError(f"a match begins with that row of {self.after.variable}, and would be found again")
                return target


def _first(run: Run) -> int:
    return run[0]
