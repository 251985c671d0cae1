"""Idle sources (`table.exec.source.idle-timeout`): a silent source no longer holds back the watermark.

Spark's watermark is the least of those of all sources. A source that has been silent for its time-out is lifted by a
row of its control stream to the least watermark of those that are not. When it gives rows again it counts again; where
the watermark stands it stays, so its rows may be late. When all are idle nothing moves. Source: Flink's
CombinedWatermarkStatus.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.options import parse_duration
from rekindle.pipeline.control_rows import ControlRows
from rekindle.pipeline.record import SourceRecord

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_PAUSE = (0.1, 1.0)
"""Seconds between two looks, at least and at most."""
IDLE_TIMEOUT = "table.exec.source.idle-timeout"


def timeout(source: SourceRecord) -> float:
    """Seconds of silence after which a source is idle; 0 if never: every assigner above it has a say."""
    return min((parse_duration(each.option(IDLE_TIMEOUT)) / 1000 for each in source.assigners), default=0.0)


def observed(source: SourceRecord) -> str:
    """Name under which Spark reports what a source has given in a micro-batch."""
    return f"rk_source_{source.node.id}"


@dataclass(slots=True)
class _Source:
    timeout: float
    heard: float
    """When it gave a row last, or began."""
    reached: int | None = None
    """Its own watermark, epoch ms."""
    lifted: int | None = None
    """Where it has been lifted to."""


class Idleness:
    """Who is idle, and what that makes of the watermark; a pure state machine. Times in seconds, watermarks in ms."""

    def __init__(self, timeouts: Mapping[int, float], now: float) -> None:
        """`timeouts`: node ids of all sources with a watermark; 0 never becomes idle."""
        self._sources = {source: _Source(seconds, now) for source, seconds in timeouts.items()}

    def gave(self, source: int, rows: int, reached: int | None, at: float) -> None:
        """What a source gave in a micro-batch that ended at a time."""
        if rows:
            state = self._sources[source]
            state.heard = max(state.heard, at)
            state.reached = max((each for each in (state.reached, reached) if each is not None), default=None)

    def lift(self, until: float) -> dict[int, int]:
        """Idle sources to where their watermarks must be lifted, given that all rows up to a time are known of."""
        active, idle = [], {}
        for source, state in self._sources.items():
            if state.timeout and until - state.heard >= state.timeout:
                idle[source] = state
            else:
                active.append(state)
        reached = [each.reached for each in active if each.reached is not None]
        if not active or len(reached) < len(active):
            return {}
        target = min(reached)
        found = {}
        for source, state in idle.items():
            if all(each is None or each < target for each in (state.reached, state.lifted)):
                state.lifted = found[source] = target
        return found


class IdleWatch:
    """Looks at the micro-batches of a query in a thread of its own, and writes control rows for idle sources."""

    def __init__(
        self, sources: Mapping[int, SourceRecord], control: Path, query: Callable[[], StreamingQuery | None]
    ) -> None:
        """`sources`: those with a control stream, by node id; `control`: its folder."""
        self._names = {observed(source): number for number, source in sources.items()}
        self._timeouts = {number: timeout(source) for number, source in sources.items()}
        self._control, self._query = ControlRows(control), query
        self._ended = threading.Event()
        self._seen = ""
        """Time stamp of the last micro-batch that was looked at."""

    def start(self) -> None:
        """Begin to look, if a source can become idle."""
        if any(self._timeouts.values()):
            threading.Thread(target=self._run, name="rekindle-idleness", daemon=True).start()

    def end(self) -> None:
        """Look no longer."""
        self._ended.set()

    def _run(self) -> None:
        least, most = _PAUSE
        pause = max(least, min(most, *(each / 4 for each in self._timeouts.values() if each)))
        idleness = Idleness(self._timeouts, time.time())
        until, quiet = time.time(), False
        while not self._ended.wait(pause):
            query = self._query()
            if query is None or not query.isActive:
                continue
            now, was_quiet, status = time.time(), quiet, query.status
            quiet = not (status["isTriggerActive"] and status["isDataAvailable"])
            for each in query.recentProgress:
                # The numbers of micro-batches do not tell: while nothing happens, Spark reports the next one.
                if each.timestamp <= self._seen:
                    continue
                self._seen = each.timestamp
                until = max(until, datetime.fromisoformat(each.timestamp).timestamp())
                quiet = quiet and not each.numInputRows
                for name, row in each.observedMetrics.items():
                    if name in self._names:
                        idleness.gave(self._names[name], row["rows"], row["reached"], now)
                self._control.tidy((each.eventTime or {}).get("watermark"))
            # While a micro-batch runs or is about to, nobody knows yet whose its rows are.
            until = now if quiet and was_quiet else until
            lifts = idleness.lift(until)
            if lifts:
                self._control.write(lifts)
