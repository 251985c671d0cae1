"""Tables as a program reads them: the rows between two positions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from rekindle.connectors.base import SourceFrame
from rekindle.connectors.in_tasks import ReadColumns, ToldToTasks
from rekindle.connectors.positions import Positions
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.record import SourceRecord


class Reader(Protocol):
    """Reads one table."""

    @property
    def positions(self) -> Positions:
        """How far micro-batches read it."""
        ...

    def read(self, start: Any, end: Any, *, located: bool) -> SourceFrame:
        """The rows between two positions; `located`: what fails for one says which it was."""
        ...

    def saw(self, rows: int) -> None:
        """How many rows they were."""
        ...

    def told(self, start: Any, end: Any) -> Any | None:
        """What tasks are told that read these rows themselves (see `ToldToTasks`); None if they cannot."""
        ...

    def in_tasks(self, tasks: int, *, located: bool) -> SourceFrame | None:
        """The rows that so many tasks are told to read; None if they never are. More than one only if it is `plain`."""
        ...

    @property
    def plain(self) -> bool:
        """Whether it fails for rows that are not plain (see `SourceConnector.plain`)."""
        ...

    def plainly(self) -> Reader | None:
        """One that is plain; None if there is none."""
        ...

    @property
    def columns(self) -> ReadColumns | None:
        """What reads the columns of the source in tasks, as they are; None if Spark has to."""
        ...


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reads a table whose connector knows positions."""

    positions: Positions
    requests: Requests
    source: SourceRecord
    ordered: bool
    plain: bool = False

    def plainly(self) -> TableReader | None:
        """See Reader."""
        source = self.source
        if source.table is None or not isinstance(self.positions, ToldToTasks):
            return None
        return replace(self, plain=True) if self.requests.plain(source.node, source.table, source.produced) else None

    def read(self, start: Any, end: Any, *, located: bool) -> SourceFrame:
        """See Reader."""
        return self._frame(located=located, between=(start, end))

    def told(self, start: Any, end: Any) -> Any | None:
        """See Reader."""
        return self.positions.told(start, end) if isinstance(self.positions, ToldToTasks) else None

    def in_tasks(self, tasks: int, *, located: bool) -> SourceFrame | None:
        """See Reader."""
        return self._frame(located=located, in_tasks=tasks) if isinstance(self.positions, ToldToTasks) else None

    @property
    def columns(self) -> ReadColumns | None:
        """See Reader."""
        source = self.source
        if source.table is None or source.condition is not None or not isinstance(self.positions, ToldToTasks):
            return None
        return self.requests.columns(source.node, source.table, source.produced, ordered=self.ordered, plain=self.plain)

    def _frame(self, *, located: bool, between: tuple[Any, Any] | None = None, in_tasks: int = 0) -> SourceFrame:
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
            between=between,
            in_tasks=in_tasks,
            plain=self.plain,
        )

    def saw(self, rows: int) -> None:
        """Nothing that its positions do not say."""
