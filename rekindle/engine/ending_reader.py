"""The stream of changes that ends with what there is; PySpark before 4.2 does not know such."""

from __future__ import annotations

from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from rekindle.engine.change_reader import ChangeReader


class EndingReader(ChangeReader, SupportsTriggerAvailableNow):
    """See ChangeReader."""

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """The query ends with what there is now."""
        self._everything = True
