"""Where a job is: what Spark and the operators report of its micro-batches."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True)
class Progress:
    """Where a job is."""

    batch_id: int
    rows: int
    """Input rows since this process started."""
    rows_per_second: float
    """Of the last micro-batch."""
    watermark: str | None
    """ISO text; None before there is one."""
    state_rows: Mapping[str, int]
    """uid and state name (``3_join__leftState``) to rows, as far as touched since this process started."""
    counters: Mapping[str, int]
    """uid and counter (``4_window-aggregate__lateRowsDropped``) to its value since this process started."""


class RowCounter:
    """Counts input rows over the micro-batches of a process, each once, also when its query is started again."""

    def __init__(self) -> None:
        self._rows = 0
        self._counted_batch = -1
        self._lock = threading.Lock()

    def progress(self, query: StreamingQuery, reported: Mapping[tuple[str, str, int], int]) -> Progress | None:
        """The last micro-batch; `reported`: values by uid, counter and subtask. None before the first."""
        last = query.lastProgress
        if last is None:
            return None
        with self._lock:
            for each in query.recentProgress:
                # While nothing happens, Spark reports the next micro-batch as one without rows.
                if each.numInputRows and each.batchId > self._counted_batch:
                    self._counted_batch = each.batchId
                    self._rows += each.numInputRows
        state: dict[str, int] = {}
        counters: dict[str, int] = {}
        for (uid, name, _), count in sorted(reported.items()):
            target, key = (state, name.removeprefix("rows:")) if name.startswith("rows:") else (counters, name)
            target[f"{uid}__{key}"] = target.get(f"{uid}__{key}", 0) + count
        watermark = (last.eventTime or {}).get("watermark")
        known = watermark if watermark and not watermark.startswith("1970-01-01T00:00:00.000") else None
        speed = last.processedRowsPerSecond
        return Progress(last.batchId, self._rows, speed if speed == speed else 0.0, known, state, counters)
