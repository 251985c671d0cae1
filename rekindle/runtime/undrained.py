"""A source whose end a job does not hear of."""

from __future__ import annotations

from typing import Any

from rekindle.connectors.positions import News, Positions, saved_text


class Undrained:
    """A source whose end says nothing to the job, which is to go on from a savepoint, or is run again."""

    def __init__(self, source: Positions, *, again: bool) -> None:
        """`again`: what comes when it has ended is read as well."""
        self._source, self._again = source, again
        self.has_ended = False

    def plan(self, position: Any) -> News | None:
        """See Source."""
        before = position
        if self._again and position is not None:
            before = self._source.restored(saved_text(position))
        news = self._source.plan(before)
        self.has_ended = news is not None and news.ended
        return None if news is None or news.position == position else News(news.position, then=news.then)
