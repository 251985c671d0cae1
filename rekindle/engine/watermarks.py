"""The watermark of a job between two micro-batches: arithmetic over what its sources have seen.

It is the least of those of all sources that are neither idle nor at their end; it never goes back. A source that has
been silent for its time-out is idle until it gives rows again; when all are idle time stands still. When all have ended
everything may fire. Source: Flink's CombinedWatermarkStatus.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from execnodes.state.operator import DRAINED


class Watermarks:
    """Of the sources whose rows move time. Times in epoch ms."""

    def __init__(
        self,
        timeouts: Mapping[str, int],
        reached: Mapping[str, int],
        ended: Iterable[str],
        watermark: int | None,
        now: int,
    ) -> None:
        """`timeouts` by the source's uid, 0 for one that is never idle; the others as the newest entry has them."""
        self._timeouts = timeouts
        self._heard = dict.fromkeys(timeouts, now)
        self._watermark = watermark
        self.reached = dict(reached)
        """How far each source's rows have moved it."""
        self.ended = set(ended)
        """Sources that give no more rows."""

    def saw(self, source: str, reached: int | None, now: int) -> None:
        """A source has given rows; `reached`: where they move it to, None if they do not."""
        self._heard[source] = now
        if reached is not None:
            self.reached[source] = max(reached, self.reached.get(source, reached))

    def tell(self, clock: int | None) -> None:
        """The time of the clock, where that is the watermark; None where it is not."""
        if clock is not None:
            self._watermark = clock if self._watermark is None else max(clock, self._watermark)

    def idle(self, now: int) -> frozenset[str]:
        """Sources that have been silent for their time-outs."""
        silent = (each for each, timeout in self._timeouts.items() if timeout and now - self._heard[each] >= timeout)
        return frozenset(silent) - self.ended

    def at(self, idle: Collection[str]) -> int | None:
        """The watermark of the job while these are idle; None before there is one."""
        left = self._timeouts.keys() - self.ended
        if not left:
            found = DRAINED if self._timeouts else None
        else:
            active = left.difference(idle)
            known = [self.reached[each] for each in active if each in self.reached]
            found = min(known) if known and len(known) == len(active) else None
        if found is not None:
            self._watermark = found if self._watermark is None else max(found, self._watermark)
        return self._watermark


def due_subtasks(timers: Mapping[tuple[str, int], int], uid: str, watermark: int | None) -> frozenset[int]:
    """Subtasks of an operator whose timers, by uid and subtask, a watermark has reached."""
    if watermark is None:
        return frozenset()
    return frozenset(subtask for (other, subtask), at in timers.items() if other == uid and at <= watermark)


def watermark_behind(watermark: int | None, behind: int) -> int | None:
    """The watermark of rows that may be so many milliseconds older than others are; at the end there are none left."""
    return watermark if watermark is None or watermark >= DRAINED else watermark - behind
