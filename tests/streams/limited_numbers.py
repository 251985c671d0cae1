"""The stream of numbers with a pace and bounds; Spark tells where it stands, which PySpark before 4.2 does not."""

from __future__ import annotations

import time

from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from tests.streams.number_reader import NumberReader, Numbers

_MOST = 500_000
"""Numbers in a micro-batch of a stream without end and pace."""


class LimitedReader(NumberReader, SupportsTriggerAvailableNow):
    """Offsets are ``{"n": next number}``."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__(numbers)
        self._began: tuple[float, int] | None = None
        self._target: int | None = None

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Bounded by option, or where there is neither an end nor a pace."""
        if self._numbers.max_rows > 0:
            return ReadMaxRows(self._numbers.max_rows)
        if self._numbers.end < 0 and self._numbers.per_second == 0:
            return ReadMaxRows(_MOST)
        return super().getDefaultReadLimit()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """A stream without end stops after one bounded step."""
        if self._numbers.end < 0:
            self._target = -1

    def latestOffset(self, start: dict[str, int] | None = None, limit: ReadLimit | None = None) -> dict[str, int]:  # noqa: N802
        """As far as pace, end and limit allow."""
        assert start is not None
        at = start["n"]
        if self._numbers.hold:
            return {"n": at}
        if self._target is not None and self._target < 0:
            self._target = at + (self._numbers.per_second or _MOST)
        latest = self._due(at)
        for bound in (self._target, self._numbers.end if self._numbers.end >= 0 else None):
            latest = latest if bound is None else min(latest, bound)
        if isinstance(limit, ReadMaxRows):
            latest = min(latest, at + limit.max_rows)
        return {"n": max(latest, at)}

    def _due(self, at: int) -> int:
        if self._numbers.per_second == 0:
            return self._numbers.end if self._numbers.end >= 0 else at + _MOST
        if self._began is None:
            self._began = (time.monotonic(), at)
        since, base = self._began
        # The first second's numbers are there at once, so that no micro-batch is empty.
        return base + int((time.monotonic() - since + 1) * self._numbers.per_second)
