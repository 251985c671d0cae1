"""Streams of Spark, fed to a job: a streaming query hands over its batches one by one, and waits for each commit.

A position is the number of a batch of that query. Spark's checkpoint, in the job's folder, gives the same rows under
the same number again: a micro-batch that is run again reads what it was planned with, and a batch that was committed,
but not noted by Spark, is left out when it comes again.
"""

from __future__ import annotations

import secrets
import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from execnodes.core.errors import JobError
from rekindle.connectors.base import SourceFrame
from rekindle.connectors.line_text import stream_name
from rekindle.connectors.positions import News, Positions, no_end, no_position
from rekindle.connectors.registry import find_source
from rekindle.engine.log import Entry
from rekindle.engine.sources import TableReader
from rekindle.files.paths import for_spark_checkpoint
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.record import SourceRecord
from rekindle.spark.releases import logged_offsets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

FOLDER = "fed"
"""In the job's folder: checkpoints of the queries, by the names of their streams."""
_BEFORE = -1
"""The batch before the first one."""
_LOOK = 0.1
"""Seconds from one look whether a query still runs to the next."""
_ROW = 100
"""Bytes of a row, about."""
_LARGE = 1 << 40
"""Bytes of a batch of which nothing is known."""


class FedPosition(BaseModel):
    """How far a stream has been fed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    batch: int
    """Of the query, the last one; -1 before the first."""
    savepoint: str
    """Where another query goes on behind it, as savepoints have it."""


class FeedClosedError(Exception):
    """A batch is not taken, since the job stops; it comes again when the job goes on."""


@dataclass(frozen=True)
class _Offer:
    """A batch that waits to be taken."""

    position: FedPosition
    frame: DataFrame


def clear(folder: Path) -> None:
    """Remove what queries have noted in the folder of a job that begins anew."""
    shutil.rmtree(folder / FOLDER, ignore_errors=True)


def beginnings(entry: Entry | None) -> Mapping[str, str]:
    """Where queries are to begin that an entry has positions of, and no batch yet, as savepoints have it, by uid."""
    positions = {} if entry is None else entry.positions
    return {
        uid: each["savepoint"]
        for uid, each in positions.items()
        if isinstance(each, dict) and each.get("batch") == _BEFORE
    }


def reader(requests: Requests, source: SourceRecord, starts: Mapping[str, str], *, ordered: bool) -> TableReader | Feed:
    """What reads the table of a scan: by positions where its connector can, else fed.

    `starts`: positions that the job itself began with, by uid. ConnectorError or PlanError if it cannot be read.
    """
    assert source.table is not None
    positions = requests.positions(source.node, source.table)
    if positions is not None:
        return TableReader(positions, requests, source, ordered)
    return Feed(requests, source, starts.get(source.uid), ordered=ordered)


class Feed:
    """One stream. Batches come from Spark's callbacks; all else is called by the job's loop."""

    def __init__(self, requests: Requests, source: SourceRecord, start: str | None, *, ordered: bool) -> None:
        """`start`: where the job itself began, as its savepoint has it. ConnectorError if it cannot be read."""
        assert source.table is not None
        given = requests.read(
            source.node,
            source.table,
            source.produced,
            ordered=ordered,
            start=start,
            condition=source.condition,
            located=True,
        )
        self._spark, self._frame, self._bounded = requests.spark, given.frame, given.bounded
        self._table, self._uid, self._start = source.table.name, source.uid, start
        self._connector = find_source(source.connector, source.table.name)
        self._checkpoint = requests.job_dir / FOLDER / stream_name(source.uid)
        self._interval = requests.configuration.millis("execution.micro-batch.interval")
        self._query: StreamingQuery | None = None
        self._changed = threading.Condition()
        self._offered: _Offer | None = None
        self._view: str | None = None
        self._closed = False
        self._rows: int | None = None

    @property
    def bounded(self) -> bool:
        """See Positions."""
        return self._bounded

    @property
    def positions(self) -> Positions:
        """See Reader."""
        return self

    @property
    def exhausted(self) -> bool:
        """Whether it has handed over all that there was, and all has been taken."""
        ended = self._query is not None and not self._query.isActive
        with self._changed:
            return ended and self._offered is None

    def start(self, *, everything: bool = False) -> None:
        """Begin, or go on. `everything`: end by itself when all is handed over that is there, as if it were bounded."""
        writer = self._frame.writeStream.foreachBatch(self._offer)
        writer = writer.option("checkpointLocation", for_spark_checkpoint(self._spark, self._checkpoint))
        if self._bounded or everything:
            writer = writer.trigger(availableNow=True)
        else:
            writer = writer.trigger(processingTime=f"{self._interval} milliseconds")
        self._query = writer.start()

    def close(self, position: Any) -> None:
        """Take no more, and end the query; `position`: what the job has committed."""
        with self._changed:
            self._acknowledge(self._known(position))
            self._closed = True
            self._changed.notify_all()
        if self._query is not None:
            self._query.stop()

    # -- called by Spark

    def _offer(self, frame: DataFrame, batch: int) -> None:
        """Hand a batch over, and wait until it is committed."""
        offset, log = logged_offsets(self._checkpoint, batch, (stream_name(self._uid),))[stream_name(self._uid)]
        resumes = self._connector.position(offset, log, self._start)
        with self._changed:
            self._offered = _Offer(FedPosition(batch=batch, savepoint=resumes), frame)
            self._changed.notify_all()
            while self._offered is not None:
                if self._closed:
                    self._offered = None
                    raise FeedClosedError(f"batch {batch} of table {self._table} comes after the job was asked to stop")
                self._changed.wait()

    # -- called by the loop

    def plan(self, position: Any) -> News | None:
        """The batch that is handed over, if one is; what was committed is acknowledged."""
        known, exhausted = self._known(position), self._exhausted()
        with self._changed:
            # At once: between the two, a batch that is committed may come again.
            self._acknowledge(known)
            if self._offered is not None:
                return News(self._next(known).position.model_dump())
        return News(position, ended=True) if exhausted and self._bounded else None

    def size(self, start: Any, end: Any) -> int:
        """As many bytes as the batch before had, about."""
        return _LARGE if self._rows is None else self._rows * _ROW

    def saw(self, rows: int) -> None:
        """See Reader."""
        self._rows = rows

    def restored(self, text: str) -> Any:
        """The position of a query that is still to begin there."""
        return FedPosition(batch=_BEFORE, savepoint=text).model_dump()

    def until(self, text: str) -> Positions:
        """See Positions."""
        raise no_end(self._table)

    def read(self, start: Any, end: Any, *, located: bool) -> SourceFrame:
        """The rows of a batch; JobError if the query hands over another one than was planned."""
        before, wanted = self._known(start), self._known(end)
        offer = self._awaited(before)
        if offer.position != wanted:
            raise self._not_whole(f"batch {wanted.batch} was planned, and is another one now")
        # The batch's own session is not that of the job, where its rows are to be counted.
        name = f"rk_fed_{secrets.token_hex(8)}"
        self._drop()
        offer.frame.createGlobalTempView(name)
        self._view = name
        database = self._spark.conf.get("spark.sql.globalTempDatabase")
        return SourceFrame(self._spark.table(f"`{database}`.`{name}`"), self._bounded)

    def told(self, start: Any, end: Any) -> None:
        """See Reader."""

    def in_tasks(self, tasks: int, *, located: bool) -> None:
        """See Reader."""

    @property
    def plain(self) -> bool:
        """See Reader."""
        return False

    def plainly(self) -> None:
        """See Reader."""

    @property
    def columns(self) -> None:
        """See Reader."""

    def _awaited(self, before: FedPosition) -> _Offer:
        """The batch behind another one, as soon as it is handed over."""
        while True:
            exhausted = self._exhausted()
            with self._changed:
                self._acknowledge(before)
                if self._offered is not None:
                    return self._next(before)
                if exhausted:
                    raise self._not_whole(f"batch {before.batch + 1} was planned, and does not come again")
                self._changed.wait(_LOOK)

    def _next(self, before: FedPosition) -> _Offer:
        assert self._offered is not None
        if self._offered.position.batch != before.batch + 1:
            raise self._not_whole(f"batch {before.batch + 1} is to come, not {self._offered.position.batch}")
        return self._offered

    def _acknowledge(self, committed: FedPosition) -> None:
        """Let the query go on if the batch that it hands over is committed."""
        if self._offered is None or self._offered.position.batch > committed.batch:
            return
        offered = self._offered.position
        if offered.batch < committed.batch:
            raise self._not_whole(f"batch {committed.batch} is committed, and batch {offered.batch} comes")
        if offered != committed:
            raise self._not_whole(f"batch {committed.batch} is committed, and comes as another one")
        self._offered = None
        self._drop()
        self._changed.notify_all()

    def _drop(self) -> None:
        if self._view is not None:
            self._spark.catalog.dropGlobalTempView(self._view)
            self._view = None

    def _exhausted(self) -> bool:
        """Whether the query has ended by itself; raises what made it fail."""
        assert self._query is not None
        if self._query.isActive:
            return False
        error = self._query.exception()
        if error is not None:
            raise error
        return True

    def _known(self, position: Any) -> FedPosition:
        if position is None:
            return FedPosition(batch=_BEFORE, savepoint="")
        try:
            return FedPosition.model_validate(position)
        except ValueError as error:
            raise no_position(position, "a stream", self._table) from error

    def _not_whole(self, what: str) -> JobError:
        return JobError(
            f"the stream's checkpoint is not that of the job's log: {what}",
            where=f"table {self._table}, {self._checkpoint}",
            hint="Start from a savepoint in a new --job-dir.",
        )
