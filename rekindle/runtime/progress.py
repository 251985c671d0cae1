"""Where a job is: what it tells of its micro-batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rekindle.engine.log import Entry

_RECENT = 10.0
"""Seconds for which the rate of a micro-batch says something, at least."""


@dataclass(frozen=True)
class Activity:
    """What a job that runs does, or what it waits for."""

    kind: Literal["micro-batch", "input", "executors", "restart", "batch"]
    since: int
    """Epoch milliseconds."""
    last_micro_batch: int | None
    """When one was committed by this process, epoch milliseconds."""


def activity_of(restart: int | None, executors: int | None, runs: int | None, last: int | None, began: int) -> Activity:
    """That of a streaming job: since when it waits to restart, or for executors, and since when a micro-batch runs.

    `last`: when a micro-batch was committed; `began`: when the process began. All in epoch ms.
    """
    if restart is not None:
        return Activity("restart", restart, last)
    if executors is not None:
        return Activity("executors", executors, last)
    if runs is not None:
        return Activity("micro-batch", runs, last)
    return Activity("input", last or began, last)


def rate_of(rows: int, ms: int, last: int | None, pace: float, now: int) -> float:
    """Rows a second of the last micro-batch, which ended at `last` (epoch ms); 0 once that was long ago.

    `pace`: seconds from one micro-batch to the next, at least.
    """
    if last is None or not ms or now - last > max(1000 * _RECENT, 2000 * pace, 2 * ms):
        return 0.0
    return 1000 * rows / ms


@dataclass(frozen=True)
class Progress:
    """Where a job is."""

    batch_id: int
    rows: int
    """Input rows since this process started."""
    rows_per_second: float
    """Of the last micro-batch; 0 when that was long ago."""
    watermark: str | None
    """ISO text; None before there is one."""
    state_rows: Mapping[str, int]
    """uid and state name (``3_join__leftState``) to rows, as far as touched since this process started."""
    counters: Mapping[str, int]
    """uid and counter (``4_window-aggregate__lateRowsDropped``) to its value since this process started."""


def progress_of(last: Entry, rows: int, rate: float, state_rows: Mapping[str, int]) -> Progress:
    """That of a job by its newest entry; `rows` and `rate` as in `Progress`."""
    watermark = None
    if last.watermark is not None:
        watermark = datetime.fromtimestamp(last.watermark / 1000, UTC).isoformat(timespec="milliseconds")
    return Progress(last.micro_batch, rows, rate, watermark, state_rows, dict(last.counters))
