"""Connector filesystem: files of a format in a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.filesystem import CONNECTOR, LOOKUP_CACHE, bounded
from execnodes.core.connectors import ConnectorDeclaration
from execnodes.core.errors import ConnectorError
from execnodes.core.tables import Column
from execnodes.core.types import NESTED
from execnodes.lowering.stream import KIND, MAJOR, SEQUENCE, quote
from rekindle.connectors.base import (
    LookupRequest,
    LookupTable,
    SinkConnector,
    SinkRequest,
    SinkWriter,
    SourceConnector,
    SourceFrame,
    SourceRequest,
)
from rekindle.connectors.copied_table import copied_table
from rekindle.connectors.few_files import (
    FACTS,
    UNREADABLE,
    ColumnsOfFiles,
    Lines,
    ParquetColumns,
    facts_in,
    of_lines,
)
from rekindle.connectors.file_positions import FilePositions
from rekindle.connectors.file_rolling import rolling_options
from rekindle.connectors.file_sink import FileWriter
from rekindle.connectors.files import (
    absolute,
    batch_path,
    list_files,
    require_readable,
)
from rekindle.connectors.format import FileFormat, Format, RecordFormat, Wanted, renamed
from rekindle.connectors.formats import find_format, format_of
from rekindle.connectors.in_tasks import ReadColumns, frame_of_shares, frame_of_tasks
from rekindle.connectors.line_text import LINE, NUMBER, PATH, find_failure, local_path, string
from rekindle.connectors.lines import spark_columns, spark_format, spark_schema
from rekindle.connectors.long_records import frame_of_records, has_open_line
from rekindle.connectors.options import COMMON, TableOption, TableOptions, check_options, reject_misspelt
from rekindle.connectors.partition_commit import COMMIT_OPTIONS, by_partition_time, check_commit
from rekindle.connectors.plain_files import ColumnsOfPlainFiles, PlainFiles
from rekindle.connectors.plain_json import PlainRecords
from rekindle.files.paths import AS_WRITTEN, for_spark
from rekindle.spark.types import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MISSING = "source.ignore-missing-files"
OPTIONS = (
    TableOption("path", "text", "", "A file, a folder or a glob; a sink writes into the folder.", required=True),
    TableOption("format", "text", "", "Format of the files.", required=True),
    TableOption(
        "source.monitor-interval", "duration", "", "Watch for new files; without it the files at the start are read."
    ),
    TableOption(_MISSING, "bool", "false", "Leave out a file that is gone when it is to be read, and log it."),
    TableOption(
        LOOKUP_CACHE,
        "enum",
        "NONE",
        "FULL: a lookup join finds rows in a copy of all files, made anew before a micro-batch when they have changed.",
        ("NONE", "FULL"),
        roles=("source",),
    ),
    TableOption("sink.parallelism", "int", "", "Files of a micro-batch; as many as it has partitions when unset."),
    *COMMIT_OPTIONS,
)

_UNREADABLE = re.compile(
    rf"\[FAILED_READ_FILE[^\]]*\] Encountered error while reading file (\S+?)\.(?:\s|$)|{UNREADABLE}(\S+?): "
)
"""What Spark, or a task, says of a file."""
_PATH_TEXT = "url_decode(replace(regexp_replace(_metadata.file_path, '^file:(//)?(?=/)', ''), '+', '%2B'))"
"""A file's path as people write it."""
_METADATA: Mapping[str, str] = {
    "file.path": _PATH_TEXT,
    "file.name": "url_decode(replace(regexp_extract(_metadata.file_path, '[^/]*$', 0), '+', '%2B'))",
    "file.size": "_metadata.file_size",
    "file.modification-time": "_metadata.file_modification_time",
}


class Filesystem(SourceConnector, SinkConnector):
    """Bounded or watched files in, one set of files a micro-batch out."""

    declaration: ClassVar[ConnectorDeclaration] = CONNECTOR

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """Its own options and those of the format."""
        chosen = format_of(options.get("format", ""))
        return (*OPTIONS, *rolling_options(options), *(chosen.options if chosen else ()))

    def check(self, options: Mapping[str, str], role: str, table: str) -> TableOptions:
        """Also that the format exists."""
        reject_misspelt(options, "format", table)
        find_format(options.get("format", ""), table)
        checked = check_options(options, (*COMMON, *self.declared(options)), role, table)
        require_readable(checked.text("path"), role, table)
        check_commit(checked, table)
        return checked

    def check_columns(self, columns: tuple[Column, ...], options: TableOptions, table: str) -> None:
        """Of types that the format knows."""
        find_format(options.text("format"), table).check(columns, options, table)

    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        """Lines (or the file's own columns) as Spark reads them, decoded by the format."""
        options = self.opened(request.table, "source", request.name)
        chosen = find_format(options.text("format"), request.name)
        every = _stored(request)
        stored = tuple(c for c in request.columns if c in every)
        chosen.check(stored, options, request.name)
        plain = chosen.plain(stored, options) if request.plain and isinstance(chosen, RecordFormat) else None
        lines = isinstance(chosen, RecordFormat) and plain is None
        others = {c.name: _other(c, request) for c in request.columns if c not in stored}
        added = {f"rk_m{i}": text for i, text in enumerate(others.values())}
        if request.ordered:
            added |= {MAJOR: _MAJOR_TEXT, SEQUENCE: "monotonically_increasing_id()"}
        # Only where it is needed: once a column names the file, every row gets all that is known about its file.
        number = chosen.row_number if isinstance(chosen, FileFormat) and request.located else None
        located = {PATH: "_metadata.file_path"} if lines or number is not None else {}
        if number is not None:
            located[NUMBER] = number
        if request.in_tasks:
            facts = facts_in((added | located).values())
            raw = _in_tasks(spark, request, options, chosen, plain, stored, facts)
        else:
            raw = _open(spark, request, options, chosen, every)
        # Lines have no columns yet; those of files must not have names that are added.
        odd = not lines and any(c.name.startswith("rk_") for c in every)
        inner = {c.name: f"f{i}" for i, c in enumerate(every)} if odd else {}
        if inner:
            raw = raw.withColumnsRenamed(inner)
        # Before rows are numbered: the reader then skips files by their folders, and parts of them by statistics.
        condition = request.condition
        places = {at for at, c in enumerate(request.columns) if c not in stored or not lines}
        filtered = condition is not None and condition.reads <= places
        if condition is not None and filtered:
            texts_of = (others.get(c.name) or quote(inner.get(c.name, c.name)) for c in request.columns)
            raw = raw.where(condition.text(tuple(texts_of)))
        texts = [f"{text} AS {name}" for name, text in (added | located).items()]
        placed = raw.selectExpr("*", *texts) if texts else raw
        origin = tuple(name for name in (LINE if lines else NUMBER, PATH) if request.located and (lines or number))
        wanted = Wanted(_called(stored, inner), _called(every, inner), (*added, *origin))
        rows = chosen.decode(placed, options, wanted) if plain is None else renamed(placed, wanted)
        if others:
            rows = _arranged(rows, request, stored, chosen.changelog, origin)
        return SourceFrame(rows, bounded(options), filtered)

    def plain(self, request: SourceRequest) -> bool:
        """See SourceConnector: where the format knows plain lines."""
        options = self.opened(request.table, "source", request.name)
        chosen = find_format(options.text("format"), request.name)
        stored = tuple(c for c in request.columns if c in _stored(request))
        taken = any(c.name == FACTS for c in stored)
        return isinstance(chosen, RecordFormat) and not taken and chosen.plain(stored, options) is not None

    def columns(self, request: SourceRequest) -> ReadColumns | None:
        """See SourceConnector: of Parquet and of plain lines, where all of them stand in the files."""
        options = self.opened(request.table, "source", request.name)
        chosen = find_format(options.text("format"), request.name)
        every = _stored(request)
        if any(c not in every or c.data_type.root in NESTED for c in request.columns):
            return None
        if isinstance(chosen, RecordFormat):
            plain = chosen.plain(request.columns, options) if request.plain and not chosen.changelog else None
            return None if plain is None else ColumnsOfPlainFiles(plain, request.ordered)
        if spark_format(chosen) != "parquet":
            return None
        return ColumnsOfFiles(_parquet(chosen, request.columns), request.ordered)

    def writer(self, spark: SparkSession, request: SinkRequest) -> SinkWriter:
        """Files that appear at once, once a micro-batch."""
        options = self.opened(request.table, "sink", request.name)
        return FileWriter(spark, request, options, find_format(options.text("format"), request.name))

    def uses_time(self, options: Mapping[str, str]) -> bool:
        """Where partitions are committed by their time."""
        return by_partition_time(options)

    def describe_failure(self, message: str) -> ConnectorError | None:
        """A line that its format could not read, or a file that is no file of its format."""
        return find_failure(message) or _unreadable(message)

    def positions(self, spark: SparkSession, request: SourceRequest) -> FilePositions:
        """By files."""
        options = self.opened(request.table, "source", request.name)
        found = _positions(spark, request, options)
        if not found.ignores_missing:
            # Spark goes on where a file is gone that was there a moment ago.
            found.rows_for_tasks = _rows_for_tasks(request, find_format(options.text("format"), request.name))
        return found

    def lookup(self, request: LookupRequest) -> LookupTable:
        """In a copy of all files, which is made anew when there are others."""
        asked = request.source
        path = self.opened(asked.table, "source", asked.name).text("path")

        def version(spark: SparkSession) -> str:
            return json.dumps([(each.modified, each.path) for each in list_files(spark, path, asked.name)])

        return copied_table(request, version, lambda spark: self.read(spark, asked).frame)

    def position(self, offset: str, log: Path, start: str | None) -> str:
        """The files that were read up to an offset, as a JSON list of paths."""
        before: list[str] = json.loads(start) if start else []
        return json.dumps(sorted({*before, *_read_until(log, json.loads(offset)["logOffset"])}))


_MAJOR_TEXT = (
    "concat_ws('|', lpad(CAST(unix_millis(_metadata.file_modification_time) AS STRING), 15, '0'), "
    "_metadata.file_path, lpad(CAST(_metadata.file_block_start AS STRING), 15, '0'))"
)


def _stored(request: SourceRequest) -> tuple[Column, ...]:
    """Columns that stand in the files; partition keys stand in the names of their folders."""
    keys = request.table.partition_keys
    return tuple(c for c in request.table.table_schema.physical if c.name not in keys)


def _positions(spark: SparkSession, request: SourceRequest, options: TableOptions) -> FilePositions:
    watched = bool(options.text("source.monitor-interval"))
    at_most = request.configuration.number("execution.micro-batch.max-files")
    interval = options.seconds("source.monitor-interval") if watched else 0
    path, missing = absolute(options.text("path")), options.flag(_MISSING)
    return FilePositions(spark, request.name, path, watched, at_most, ignores_missing=missing, interval=interval)


def _other(column: Column, request: SourceRequest) -> str:
    """Text of a column that does not stand in the file: metadata, or a partition key from the folder's name."""
    from execnodes.lowering.spark_sql import spark_type

    if column.kind == "PHYSICAL":
        key = re.escape(_partition_text(column.name))
        # The last such folder: the table may lie below one itself.
        folder = f"regexp_extract({_PATH_TEXT}, {string(f'(?s).*/{key}=([^/]*)/')}, 1)"
        # A folder that was made by hand need not be encoded; what is no UTF-8 is not replaced, either.
        decoded = f"try_url_decode(replace({folder}, '+', '%2B'))"
        meant = f"contains({folder}, '\ufffd') OR contains(upper({folder}), '%EF%BF%BD')"
        replaced = f"contains({decoded}, '\ufffd') AND NOT ({meant})"
        found = f"coalesce(CASE WHEN {replaced} THEN {folder} ELSE {decoded} END, {folder})"
        plain = f"nullif(nullif({found}, '__HIVE_DEFAULT_PARTITION__'), '__DEFAULT_PARTITION__')"
        return f"CAST({plain} AS {spark_type(column.data_type)})"
    key = column.metadata_key or column.name
    if key not in _METADATA:
        raise ConnectorError(
            f"unknown metadata key {key!r} of column {column.name!r}",
            where=f"table {request.name}",
            hint=f"The filesystem connector has: {', '.join(_METADATA)}.",
        )
    return f"CAST({_METADATA[key]} AS {spark_type(column.data_type)})"


def _partition_text(name: str) -> str:
    """As Spark and Hive write a partition's column into the name of a folder."""
    special = "\"#%'*/:=?\\\x7f{[]^"
    return "".join(f"%{ord(c):02X}" if c in special or c < " " else c for c in name)


def _called(columns: tuple[Column, ...], names: Mapping[str, str]) -> tuple[Column, ...]:
    return tuple(c.model_copy(update={"name": names[c.name]}) if c.name in names else c for c in columns)


def _arranged(
    rows: DataFrame, request: SourceRequest, stored: tuple[Column, ...], changelog: bool, origin: tuple[str, ...]
) -> DataFrame:
    """c0, c1, … in the order asked for, then the hidden columns."""
    place = {column.name: f"c{i}" for i, column in enumerate(stored)}
    others = (column for column in request.columns if column not in stored)
    place |= {column.name: f"rk_m{i}" for i, column in enumerate(others)}
    columns = [f"{place[column.name]} AS c{i}" for i, column in enumerate(request.columns)]
    hidden = [KIND] if changelog else []
    hidden += [MAJOR, SEQUENCE] if request.ordered else []
    return rows.selectExpr(*columns, *hidden, *origin)


def _open(
    spark: SparkSession,
    request: SourceRequest,
    options: TableOptions,
    chosen: Format,
    every: tuple[Column, ...],
) -> DataFrame:
    """The raw frame of the files: lines, or what the format's own reader gives, with the columns that files have."""
    if request.between is not None:
        paths = _positions(spark, request, options).between(*request.between)
    else:
        paths = [each.path for each in list_files(spark, absolute(options.text("path")), request.name)]
    present = [batch_path(spark, each) for each in paths]
    if not present:
        # What is known of files is asked for all the same.
        nothing = request.job_dir / "no-files"
        nothing.mkdir(parents=True, exist_ok=True)
        present = [for_spark(spark, nothing)]
    records = chosen.records(options) if isinstance(chosen, RecordFormat) else None
    if records is not None and paths and has_open_line(spark, paths, records):
        return frame_of_records(spark, paths, records)
    reader = spark.read.format(spark_format(chosen)).options(**AS_WRITTEN, ignoreMissingFiles=options.text(_MISSING))
    # Spark takes the size of the files for that of all columns it knows of; by it, it chooses how to join.
    return reader.schema(spark_schema(chosen, every)).load(present)


def _in_tasks(
    spark: SparkSession,
    request: SourceRequest,
    options: TableOptions,
    chosen: Format,
    plain: PlainRecords | None,
    stored: tuple[Column, ...],
    facts: tuple[str, ...],
) -> DataFrame:
    """As `_open`, of the files that tasks are told; `facts`: what texts ask for."""
    # Rows without any column would be none.
    facts_or_number = facts or (() if stored else ("row_index",))
    if plain is not None:
        kinds = f", {KIND} TINYINT" if chosen.changelog else ""
        files = PlainFiles(plain, spark_columns(stored) + kinds, facts_or_number)
        return frame_of_shares(spark, request.uid, files, files.ddl, request.in_tasks)
    if isinstance(chosen, RecordFormat):
        lines = Lines(facts, chosen.records(options))
        rows = frame_of_tasks(spark, request.uid, lines, lines.ddl)
        return rows.selectExpr(f"CAST({LINE} AS STRING) AS {LINE}", FACTS)
    columns = replace(_parquet(chosen, stored), facts=facts_or_number)
    return frame_of_tasks(spark, request.uid, columns, columns.ddl)


def _rows_for_tasks(request: SourceRequest, chosen: Format) -> Callable[[str], int | None]:
    """See FilePositions."""
    every = _stored(request)
    if isinstance(chosen, RecordFormat):
        return of_lines
    if spark_format(chosen) != "parquet" or any(c.name == FACTS for c in every):
        return lambda path: None

    @cache
    def columns() -> ParquetColumns:
        return _parquet(chosen, every)

    return lambda path: columns().rows(path)


def _parquet(chosen: Format, columns: tuple[Column, ...]) -> ParquetColumns:
    from pyspark.sql.types import StructType

    ddl = spark_schema(chosen, columns)
    schema = StructType.fromDDL(ddl)
    assert isinstance(schema, StructType)
    return ParquetColumns(arrow_schema(schema), ddl)


def _unreadable(message: str) -> ConnectorError | None:
    found = _UNREADABLE.search(message)
    if found is None:
        return None
    return ConnectorError(
        "the file cannot be read in the table's format",
        where=local_path(found[1] or found[2]),
        hint="Check that the file is whole, and that the columns' types are those it was written with.",
    )


def _read_until(log: Path, last: int) -> set[str]:
    """Paths in a file stream's log (one JSON object a line behind a version line) up to a log offset."""
    found = set()
    for each in log.iterdir():
        if not re.fullmatch(r"\d+(\.compact)?", each.name):
            continue
        for line in each.read_text(encoding="utf-8").splitlines()[1:]:
            entry = json.loads(line)
            if entry["batchId"] <= last:
                found.add(absolute(entry["path"]))
    return found
