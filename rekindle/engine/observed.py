"""What a source gives in a micro-batch, counted while it is read, below all filters."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SOURCE, REACHED, ROWS = "rk_source", "rk_reached", "rk_rows"
"""Of a row that is counted: the node id of its source, where it moves the watermark to, how many it stands for."""
_NEVER = "CAST(NULL AS TIMESTAMP)"


def counted(rows: pl.DataFrame) -> Mapping[int, Seen]:
    """What sources have given, by node id; rows without `SOURCE` do not count."""
    sums = rows.filter(pl.col(SOURCE).is_not_null()).group_by(SOURCE).agg(pl.col(ROWS).sum(), pl.col(REACHED).max())
    return {source: Seen(number, reached) for source, number, reached in sums.select(SOURCE, ROWS, REACHED).rows()}


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


def together(seen: Iterable[tuple[Any, Seen]]) -> dict[Any, Seen]:
    """What several tasks have counted, by source."""
    found: dict[Any, Seen] = {}
    for source, each in seen:
        before = found.get(source, Seen(0, None))
        reached = [at for at in (before.reached, each.reached) if at is not None]
        found[source] = Seen(before.rows + each.rows, max(reached, default=None))
    return found


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
