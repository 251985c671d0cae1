"""What a source gives in a micro-batch, counted while it is read, below all filters."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

_NEVER = "CAST(NULL AS TIMESTAMP)"


def latest(event_times: Sequence[str]) -> str:
    """Text of where a row moves the watermark to, epoch ms."""
    times = list(dict.fromkeys(event_times)) or [_NEVER]
    one = times[0] if len(times) == 1 else f"greatest({', '.join(times)})"
    return f"unix_millis({one})"


_WITHIN = 5.0
"""Seconds in which Spark tells what it has counted, behind the action that has read the rows."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a source has given."""

    rows: int
    reached: int | None
    """Where its rows move the watermark to, epoch ms; None if they do not."""

    @classmethod
    def of(cls, reached: pl.Series, rows: pl.Series) -> Seen:
        """Of so many rows each, which move it there or, where it is NULL, nowhere."""
        most = reached.max()
        return cls(int(rows.sum()), None if most is None else int(str(most)))


class Observed:
    """A frame whose rows are counted by the first action on it.

    Nothing is pushed through what is observed. But where a condition above is never TRUE, Spark leaves out the whole
    frame, and counts nothing: then it is read for the count alone.
    """

    def __init__(self, frame: DataFrame, event_times: Sequence[str]) -> None:
        """`event_times`: texts of the TIMESTAMPs that rows move the watermark to."""
        from pyspark.sql import Observation
        from pyspark.sql.functions import expr

        self._counts = [expr("count(1)").alias("rows"), expr(f"max({latest(event_times)})").alias("reached")]
        self._unobserved = frame
        self._observation = Observation()
        self.frame = frame.observe(self._observation, *self._counts)

    def get(self) -> Seen:
        """After the actions of the micro-batch."""
        found: list[dict[str, Any]] = []

        def wait() -> None:
            # PySpark cannot read the row without a column that Spark has for a frame that it has left out.
            with suppress(Exception):
                found.append(self._observation.get)

        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        waiting.join(_WITHIN)
        counts = found[0] if found else self._unobserved.agg(*self._counts).collect()[0].asDict()
        return Seen(int(counts["rows"]), counts["reached"])
