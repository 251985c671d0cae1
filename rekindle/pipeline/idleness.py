"""Idle sources (`table.exec.source.idle-timeout`): a silent source no longer holds back the watermark.

Spark's watermark is the least of those of all sources. A source that has been silent for its time-out is lifted by a
row of its control stream to the least watermark of those that are not. When it gives rows again it counts again; where
the watermark stands it stays, so its rows may be late. When all are idle nothing moves. Source: Flink's
CombinedWatermarkStatus.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.options import parse_duration
from rekindle.pipeline.record import SourceRecord
from rekindle.pipeline.streams import EVENT_TIME

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

SOURCE = "rk_source"
"""Column of a control row: node id of the one source it is for; NULL is for all."""
_PAUSE = (0.1, 1.0)
"""Seconds between two looks, at least and at most."""
_KEPT = 20
"""Control files that are left although they have been read; Spark may still have to read the newest again."""
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
        self._control, self._query = control, query
        self._ended = threading.Event()
        self._seen = ""
        """Time stamp of the last micro-batch that was looked at."""
        self._written: list[tuple[int, Path]] = []

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
                self._tidy((each.eventTime or {}).get("watermark"))
            # While a micro-batch runs or is about to, nobody knows yet whose its rows are.
            until = now if quiet and was_quiet else until
            self._write(idleness.lift(until))

    def _write(self, lifts: Mapping[int, int]) -> None:
        if not lifts:
            return
        texts = {at: datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds") for at in lifts.values()}
        lines = "".join(json.dumps({EVENT_TIME: texts[at], SOURCE: source}) + "\n" for source, at in lifts.items())
        name = f"idle-{time.time_ns()}.json"
        hidden = self._control / f".{name}"
        hidden.write_text(lines, encoding="utf-8")
        hidden.rename(self._control / name)
        self._written.append((max(lifts.values()), self._control / name))

    def _tidy(self, watermark: str | None) -> None:
        """Files that a finished micro-batch has read are not read again."""
        if watermark is None:
            return
        reached = datetime.fromisoformat(watermark).timestamp() * 1000
        while len(self._written) > _KEPT and self._written[0][0] <= reached:
            self._written.pop(0)[1].unlink(missing_ok=True)
