"""Windows by processing time: the clock is their watermark.

A row's processing time is that of the micro-batch that it came in. No row moves the watermark; while windows may be
open, control rows tell the moments at which some may end. So the operators are those of event time, a savepoint holds
what they hold, and a job that goes on gives the windows that have ended meanwhile. When the input ends all are given.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.windowing import WindowSpec
from rekindle.pipeline.control_rows import ControlRows

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

NEVER = "CAST(NULL AS TIMESTAMP)"
"""Text of the watermark that a row moves the stream to."""
_LEAST = 100
"""Milliseconds between two control rows, at least: a micro-batch takes longer."""


@dataclass(frozen=True)
class Clock:
    """When windows may end; milliseconds."""

    step: int
    """They end at multiples of this."""
    longest: int
    """From a row to the end of its last window."""

    @classmethod
    def of(cls, windows: Sequence[WindowSpec]) -> Clock:
        """The clock of all windows of a pipeline."""
        return cls(gcd(*(each.between_ends for each in windows)), max(each.longest for each in windows))


class Ticks:
    """What the clock tells, and when; a pure state machine. Times in epoch milliseconds."""

    def __init__(self, clock: Clock, now: int) -> None:
        """Windows of a savepoint may be open from the start."""
        self._clock = clock
        self._told = 0
        self._until = now + clock.longest

    def heard(self, at: int) -> None:
        """Rows came, at this time at the latest."""
        self._until = max(self._until, at + self._clock.longest)

    def due(self, now: int) -> int | None:
        """The time to tell: the last moment at which windows may have ended; None if it is told, or none are open."""
        step = self._clock.step
        moment = now // step * step
        if self._told >= self._until or moment <= self._told or now < self._told + _LEAST:
            return None
        self._told = moment
        return moment


class ClockWatch:
    """Tells a query the time, in a thread of its own."""

    def __init__(
        self, clock: Clock, sources: Sequence[str], control: Path, query: Callable[[], StreamingQuery | None]
    ) -> None:
        """`sources`: names under which Spark reports what they have given; `control`: the folder of control rows."""
        self._clock, self._sources, self._query = clock, sources, query
        self._control = ControlRows(control)
        self._ended = threading.Event()
        self._seen = ""
        """Time stamp of the last micro-batch that was looked at."""

    def start(self) -> None:
        """Begin to tell."""
        threading.Thread(target=self._run, name="rekindle-clock", daemon=True).start()

    def end(self) -> None:
        """Tell no longer."""
        self._ended.set()

    def _run(self) -> None:
        ticks = Ticks(self._clock, _now())
        while not self._ended.wait(max(_LEAST, min(self._clock.step // 4, 1000)) / 1000):
            query = self._query()
            if query is None or not query.isActive:
                continue
            if self._gave(query):
                ticks.heard(_now())
            due = ticks.due(_now())
            if due is not None:
                self._control.write({None: due})

    def _gave(self, query: StreamingQuery) -> bool:
        """Whether a source has given rows in a micro-batch since the last look."""
        found = False
        for each in query.recentProgress:
            if each.timestamp > self._seen:
                self._seen = each.timestamp
                found = found or any(row["rows"] for name, row in each.observedMetrics.items() if name in self._sources)
                self._control.tidy((each.eventTime or {}).get("watermark"))
        return found


def _now() -> int:
    return int(time.time() * 1000)
