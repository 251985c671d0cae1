"""Where a job is: what it tells of its micro-batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
