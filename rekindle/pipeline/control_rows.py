"""Rows of control streams: they move the watermark of sources to a time."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

EVENT_TIME = "rk_event_time"
"""Column by which a source's rows, and those of its control stream, move the watermark."""
SOURCE = "rk_source"
"""Column of a control row: node id of the one source it is for; NULL is for all."""
_KEPT = 20
"""Control files that are left although they have been read; Spark may still have to read the newest again."""


class ControlRows:
    """Writes control rows into the folder that the control streams of a job read."""

    def __init__(self, folder: Path) -> None:
        """The folder need not be there before the first row."""
        self._folder = folder
        self._written: list[tuple[int, Path]] = []

    def write(self, times: Mapping[int, int] | Mapping[None, int]) -> None:
        """Sources by node id (None: all) to the times, epoch ms, to which their watermarks are to move."""
        texts = {at: datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds") for at in times.values()}
        lines = "".join(json.dumps({EVENT_TIME: texts[at], SOURCE: source}) + "\n" for source, at in times.items())
        name = f"moved-{time.time_ns()}.json"
        hidden = self._folder / f".{name}"
        hidden.write_text(lines, encoding="utf-8")
        hidden.rename(self._folder / name)
        self._written.append((max(times.values()), self._folder / name))

    def tidy(self, watermark: str | None) -> None:
        """Files that a finished micro-batch has read are not read again; `watermark`: what Spark reports of it."""
        if watermark is None:
            return
        reached = datetime.fromisoformat(watermark).timestamp() * 1000
        while len(self._written) > _KEPT and self._written[0][0] <= reached:
            self._written.pop(0)[1].unlink(missing_ok=True)
