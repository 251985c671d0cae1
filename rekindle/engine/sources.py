"""Tables as a program reads them: the rows between two positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rekindle.connectors.base import SourceFrame
from rekindle.connectors.positions import Positions
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.record import SourceRecord


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reads one table."""

    positions: Positions
    requests: Requests
    source: SourceRecord
    ordered: bool

    @classmethod
    def of(cls, requests: Requests, source: SourceRecord, *, ordered: bool) -> TableReader:
        """For the table of a scan; PlanError or ConnectorError if it cannot be read."""
        assert source.table is not None
        return cls(requests.positions(source.node, source.table), requests, source, ordered)

    def read(self, start: Any, end: Any, *, located: bool) -> SourceFrame:
        """The rows between two positions; `located`: what fails for one says which it was."""
        source = self.source
        assert source.table is not None
        return self.requests.read(
            source.node,
            source.table,
            source.produced,
            batch=True,
            ordered=self.ordered,
            condition=source.condition,
            located=located,
            between=(start, end),
        )
