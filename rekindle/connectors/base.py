"""What a connector is: requests, frames, writers, and the two classes that connectors derive from.

Modules of connectors import Spark, Arrow and drivers inside their functions, so that compiling needs none of them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from execnodes.core.changelog import ChangelogMode
from execnodes.core.connectors import ConnectorDeclaration
from execnodes.core.errors import ConnectorError
from execnodes.core.node import ExecNode
from execnodes.core.options import Configuration
from execnodes.core.tables import Column, ResolvedTable
from execnodes.lowering.stream import Condition
from rekindle.connectors.arrow import arrow_table
from rekindle.connectors.in_tasks import ReadColumns
from rekindle.connectors.options import COMMON, TableOption, TableOptions, check_options
from rekindle.connectors.positions import Positions
from rekindle.connectors.secret_references import resolve_secrets

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from rekindle.connectors.data_stream import DataStream


class ProviderContext:
    """Uids for what a connector keeps of its own, beside the operator that reads or writes."""

    def __init__(self, node: ExecNode, taken: set[str]) -> None:
        """`taken`: uids of the job so far; grows with each that is made."""
        self._node = node
        self._taken = taken

    def generate_uid(self, name: str) -> str:
        """``<node id>_provider_<name>``, or as `table.exec.uid.format` says; the same in every start of the job.

        ConnectorError for a name that is no word, or one that gives a uid that the job has already.
        """
        where = f"node {self._node.id} ({self._node.key})"
        if not _NAME.fullmatch(name):
            hint = "Names have letters, digits, '-' and '_', e.g. preprocessor-1."
            raise ConnectorError(f"{name!r} is no name for a part of a connector", where=where, hint=hint)
        uid = self._node.provider_uid(name)
        if uid in self._taken:
            raise ConnectorError(
                f"the uid {uid!r} is taken already",
                where=where,
                hint="Give each part of a connector its own name, and let table.exec.uid.format contain <id>.",
            )
        self._taken.add(uid)
        return uid


_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class SourceRequest:
    """What a scan asks of a source."""

    table: ResolvedTable
    name: str
    """Dotted name of the table, for messages."""
    columns: tuple[Column, ...]
    """Physical and metadata columns wanted, in this order."""
    uid: str
    """Of the source operator; names the stream in the checkpoint."""
    batch: bool
    """Whether to read as a bounded batch DataFrame."""
    ordered: bool
    """Whether the rows' order matters downstream: add the columns `MAJOR` and `SEQUENCE`."""
    configuration: Configuration
    job_dir: Path
    start: str | None = None
    """Where to go on: a text that `SourceConnector.position` gave; None to begin at the beginning."""
    between: tuple[Any, Any] | None = None
    """In batch mode, the positions to read between (see `SourceConnector.positions`); None for all there is."""
    in_tasks: int = 0
    """In batch mode, how many tasks read what they are told (see `ToldToTasks`), in place of all there is; 0: none.

    It is more than one only if `plain`.
    """
    plain: bool = False
    """Whether tasks may fail for rows that others are to read (see `SourceConnector.plain`)."""
    data_streams: Mapping[str, DataStream] = field(default_factory=dict)
    """DataFrames that the session knows, by uid."""
    condition: Condition | None = None
    """Only rows for which it is TRUE are wanted; whoever sees to it says so (`SourceFrame.filtered`)."""
    located: bool = False
    """Whether failures above the source ask where a row is from: a source of lines then adds `LINE` and `PATH`."""
    context: ProviderContext = field(kw_only=True)
    """Makes uids for parts of the source."""


@dataclass(frozen=True)
class SourceFrame:
    """Rows of a source."""

    frame: DataFrame
    """Columns c0, c1, … in the order asked for; `rk_kind` (TINYINT) if the source gives a changelog; when ordered,
    `rk_major` (STRING) and `rk_seq` (BIGINT), which together order and identify the rows of a micro-batch.
    """
    bounded: bool
    """Whether it ends by itself."""
    filtered: bool = False
    """Whether the rows are only those that `SourceRequest.condition` asks for; else the runtime drops the others."""


@dataclass(frozen=True)
class LookupRequest:
    """What a lookup join asks of a table."""

    source: SourceRequest
    """Of the columns that are wanted, in batch mode."""
    keys: tuple[int, ...]
    """Which of these columns rows are found by."""
    types: pa.Schema
    """Of the columns c0, c1, … as Spark's workers have them."""


class LookupReader(ABC):
    """Finds rows by their keys, in tasks of Spark; it is picklable."""

    @abstractmethod
    def find(self, keys: pa.Table) -> pa.Table:
        """The rows that have one of these keys (k0, k1, …; none is NULL), as they are now.

        A table of `LookupRequest.types` behind a column `FOUND_FOR`: the place of the key that the row was found for,
        from 0, ascending. ConnectorError if the table cannot be read.
        """


@dataclass(frozen=True)
class LookupTable:
    """A table that rows are looked up in."""

    reader: LookupReader
    refresh: Callable[[SparkSession], None] | None = None
    """Called in the driver before a job, and before each of its micro-batches."""


FOUND_FOR = "rk_key"


@dataclass(frozen=True)
class SinkRequest:
    """What a sink is asked to take."""

    table: ResolvedTable
    name: str
    columns: tuple[Column, ...]
    """Columns that are written, in the order of the frames' columns."""
    primary_key: tuple[int, ...]
    """Indexes into `columns`; empty without a key."""
    job_id: str
    job_dir: Path
    changelog: ChangelogMode
    """Kinds of row that will come."""
    configuration: Configuration
    overwrite: bool = False
    """Whether what the table holds gives way to the rows; only for connectors that say so."""
    context: ProviderContext = field(kw_only=True)
    """Makes uids for parts of the sink."""


class SinkWriter(ABC):
    """Writes one job's micro-batches; lives in the driver."""

    concurrent: ClassVar[bool] = False
    """True for a writer whose `write` may run beside those of a job's other sinks, in a thread of its own."""
    single_pass: ClassVar[bool] = False
    """True for a writer that reads each frame exactly once, so that it need not be kept in memory."""

    def shared_folders(self) -> tuple[Path, ...]:
        """Folders that tasks write into and the driver reads, which executors must share."""
        return ()

    def open(self) -> None:
        """Called once before the first batch; fail here if the target cannot be written."""
        return

    @abstractmethod
    def write(self, batch: DataFrame, batch_id: int) -> None:
        """Write a micro-batch. A batch id that comes again must not be written twice; it may have failed before.

        Columns are named as the sink's columns, then ``rk_kind`` (TINYINT) and, where order matters, ``rk_seq``
        (BIGINT). The frame may be read more than once. ConnectorError if it cannot be written.
        """

    def time_passes(self, watermark: int | None, now: int, *, ended: bool) -> None:
        """Called after micro-batches, and now and then between them; times in ms since 1970.

        `watermark`: None before there is one, and where nothing has asked for it (see `SinkConnector.uses_time`).
        `ended`: all input has ended, so nothing is written any more.
        """
        return

    def flush(self) -> None:
        """Let readers see all rows of the micro-batches that were written; any thread may call it.

        Called before a savepoint is written: who starts from it does not know what this writer holds.
        """
        return

    def close(self) -> None:
        """Called once at the end, also after a failure."""
        return


class RowsWriter(SinkWriter):
    """Writes rows that the driver has; several sinks then get theirs by one job of Spark."""

    @abstractmethod
    def write_rows(self, rows: pa.Table, batch_id: int) -> None:
        """As `write`: the same columns, rows in their order. A micro-batch without rows need not come."""

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """See SinkWriter."""
        self.write_rows(arrow_table(batch), batch_id)


class Connector(ABC):
    """Abilities and options, common to sources and sinks."""

    declaration: ClassVar[ConnectorDeclaration]
    """What it can do, and its identifier; the planner knows it without this class."""

    @property
    def identifier(self) -> str:
        """What ``'connector' = '…'`` names."""
        return self.declaration.identifier

    @abstractmethod
    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """Options this connector takes (they may depend on others, such as the format)."""

    def check(self, options: Mapping[str, str], role: str, table: str) -> TableOptions:
        """Validate options without touching the outside world; OptionError or ConnectorError."""
        return check_options(options, (*COMMON, *self.declared(options)), role, table)

    def check_columns(self, columns: tuple[Column, ...], options: TableOptions, table: str) -> None:
        """Validate the columns that a statement reads or writes, when it is compiled; ConnectorError or OptionError.

        `options` may hold references to secrets in place of values. What else is wrong is told when it opens.
        """
        return

    def opened(self, table: ResolvedTable, role: str, name: str) -> TableOptions:
        """Options with secrets resolved, for use; only when the connector opens."""
        return self.check(resolve_secrets(table.options or {}, name), role, name)


class SourceConnector(Connector):
    """Reads tables."""

    @abstractmethod
    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        """Lower a scan; ConnectorError if the data is not there or cannot be read."""

    def positions(self, spark: SparkSession, request: SourceRequest) -> Positions | None:
        """How far micro-batches read the table; None if it is a stream of Spark, whose batches are fed to the job."""
        return None

    def plain(self, request: SourceRequest) -> bool:
        """Whether there is a faster way for tasks to read the wanted columns, which may turn out to fail.

        Then the micro-batch is run again without it. Several tasks share what they are told.
        """
        return False

    def columns(self, request: SourceRequest) -> ReadColumns | None:
        """What reads the wanted columns in a task of Spark that is told what (see `ToldToTasks`), without Spark.

        It gives tables with c0, c1, … in Spark's Arrow types, `SEQUENCE` and, when ordered, `MAJOR`. None if Spark has
        something to compute of them, or has to say which row has failed and the request is not `plain`.
        """
        return None

    def lookup(self, request: LookupRequest) -> LookupTable:
        """What finds rows by keys, of a connector that declares `SourceAbilities.lookups`; ConnectorError."""
        raise ConnectorError(
            f"connector '{self.identifier}' declares that its tables can be looked up, but does not do it",
            where=f"table {request.source.name}",
            hint="Override SourceConnector.lookup.",
        )

    def position(self, offset: str, log: Path, start: str | None) -> str:
        """A committed Spark offset of this source as a `SourceRequest.start` for a job with a fresh checkpoint.

        `offset` is the source's line of the checkpoint's offset log, `log` its folder under ``sources/``,
        `start` the position the job itself began with.
        """
        return offset

    def describe_failure(self, message: str) -> ConnectorError | None:
        """What a failed Spark job's message says about this source's data; None if it is about something else."""
        return None


class SinkConnector(Connector):
    """Writes tables."""

    @abstractmethod
    def writer(self, spark: SparkSession, request: SinkRequest) -> SinkWriter:
        """A writer for one job."""

    def uses_time(self, options: Mapping[str, str]) -> bool:
        """Whether the writer of a table waits for the watermark."""
        return False
