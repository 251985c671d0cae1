"""Options of Flink's file sink about files and partitions that are complete: a file in a partition that says so."""

from __future__ import annotations

from collections.abc import Mapping

from execnodes.core.errors import ConnectorError
from rekindle.connectors.options import TableOption, TableOptions
from rekindle.connectors.partition_times import (
    DELAY,
    FORMATTER,
    KIND,
    NAME,
    PARTITION_TIME,
    PATTERN,
    TRIGGER,
    ZONE,
    compiled,
    unknown_formatter,
)

_SHUFFLE = "Rows stay in the tasks that have them; sink.parallelism bounds the files of a micro-batch."
_STATISTICS = "Plans do not go by statistics."
_WHEN = "When a partition is committed: when it is begun, or when the watermark has passed its time."
EXTRACTOR = "partition.time-extractor.kind"
_SUCCESS = "success-file"

COMMIT_OPTIONS = (
    TableOption(KIND, "text", "", "success-file: a file in each partition that is complete."),
    TableOption(NAME, "text", "_SUCCESS", "Name of that file."),
    TableOption(TRIGGER, "enum", "process-time", _WHEN, ("process-time", PARTITION_TIME)),
    TableOption(DELAY, "duration", "0 ms", "How long after that."),
    TableOption(ZONE, "zone", "UTC", "Zone of the partitions' times, where the watermark is of a TIMESTAMP_LTZ."),
    TableOption(PATTERN, "text", "", "How columns make a partition's time, as in '$day $hour:00:00'; else the first."),
    TableOption(FORMATTER, "text", "", "What that looks like: yyyy-MM-dd HH:mm:ss or yyyy-MM-dd, if nothing is said."),
    TableOption(EXTRACTOR, "enum", "default", "How a partition's time is made of its columns.", ("default", "custom")),
    TableOption("partition.time-extractor.class", "text", "", "Classes of Java are not called.", inert=True),
    TableOption("sink.shuffle-by-partition.enable", "bool", "false", _SHUFFLE, inert=True),
    TableOption(
        "source.report-statistics", "enum", "ALL", "Plans do not go by statistics.", ("ALL", "NONE"), inert=True
    ),
)


def check_commit(options: TableOptions, table: str) -> None:
    """Refuse ways to commit a partition that a file cannot stand for, and times that are not those of micro-batches."""
    kinds = [each.strip() for each in options.text(KIND).split(",") if each.strip()]
    other = next((each for each in kinds if each != _SUCCESS), None)
    if other is not None:
        raise ConnectorError(
            f"{KIND}: {other!r} is not supported",
            where=f"table {table}",
            hint="Write 'success-file'; there is no metastore, and classes of Java are not called.",
        )
    if kinds and options.text(EXTRACTOR) == "custom":
        raise ConnectorError(
            f"{EXTRACTOR}: classes of Java are not called",
            where=f"table {table}",
            hint=f"Leave it out; {PATTERN} says how columns make a partition's time.",
        )
    if kinds and compiled(options.text(FORMATTER)) is None:
        raise unknown_formatter(options, table)
    if kinds and not _is_hidden(options.text(NAME)):
        raise ConnectorError(
            f"{NAME}: {options.text(NAME)!r} would be read as a file of rows",
            where=f"table {table}",
            hint="Write a name that begins with _ or a point.",
        )


def by_partition_time(options: Mapping[str, str]) -> bool:
    """Whether a table's partitions are committed by the watermark."""
    return bool(options.get(KIND, "").strip()) and options.get(TRIGGER) == PARTITION_TIME


def _is_hidden(name: str) -> bool:
    return name[:1] in ("_", ".") and "/" not in name
