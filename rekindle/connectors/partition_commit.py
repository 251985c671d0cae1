"""Options of Flink's file sink about files and partitions that are complete: a file in a partition that says so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from execnodes.core.errors import ConnectorError
from rekindle.connectors.options import TableOption, TableOptions

_ROLLING = "Files are complete with their micro-batch; execution.micro-batch.interval spaces them."
_COMPACTION = "Files of a micro-batch stay as they are; sink.parallelism says how many there are."
_STATISTICS = "Plans do not go by statistics."
_TIMES = "A partition is committed with each micro-batch that writes into it."
_KIND = "sink.partition-commit.policy.kind"
_TRIGGER = "sink.partition-commit.trigger"
_DELAY = "sink.partition-commit.delay"
_NAME = "sink.partition-commit.success-file.name"
_SUCCESS = "success-file"

COMMIT_OPTIONS = (
    TableOption(_KIND, "text", "", "success-file: a file in each partition that a micro-batch has written into."),
    TableOption(_NAME, "text", "_SUCCESS", "Name of that file."),
    TableOption(_TRIGGER, "enum", "process-time", _TIMES, ("process-time", "partition-time")),
    TableOption(_DELAY, "duration", "0 ms", _TIMES),
    TableOption("sink.partition-commit.watermark-time-zone", "zone", "UTC", _TIMES, inert=True),
    *(
        TableOption(f"partition.time-extractor.{part}", "text", "", _TIMES, inert=True)
        for part in ("kind", "class", "timestamp-pattern", "timestamp-formatter")
    ),
    TableOption("sink.rolling-policy.file-size", "text", "128 mb", _ROLLING, inert=True),
    TableOption("sink.rolling-policy.rollover-interval", "duration", "30 min", _ROLLING, inert=True),
    TableOption("sink.rolling-policy.inactivity-interval", "duration", "30 min", _ROLLING, inert=True),
    TableOption("sink.rolling-policy.check-interval", "duration", "1 min", _ROLLING, inert=True),
    TableOption("auto-compaction", "bool", "false", _COMPACTION, inert=True),
    TableOption("compaction.file-size", "text", "", _COMPACTION, inert=True),
    TableOption("compaction.parallelism", "int", "", _COMPACTION, inert=True),
    TableOption("sink.shuffle-by-partition.enable", "bool", "false", _COMPACTION, inert=True),
    TableOption(
        "source.report-statistics", "enum", "ALL", "Plans do not go by statistics.", ("ALL", "NONE"), inert=True
    ),
)


def check_commit(options: TableOptions, table: str) -> None:
    """Refuse ways to commit a partition that a file cannot stand for, and times that are not those of micro-batches."""
    kinds = [each.strip() for each in options.text(_KIND).split(",") if each.strip()]
    other = next((each for each in kinds if each != _SUCCESS), None)
    if other is not None:
        raise ConnectorError(
            f"{_KIND}: {other!r} is not supported",
            where=f"table {table}",
            hint="Write 'success-file'; there is no metastore, and classes of Java are not called.",
        )
    if kinds and (options.text(_TRIGGER) != "process-time" or options.seconds(_DELAY) > 0):
        raise ConnectorError(
            "partitions are committed with their micro-batch, not by the time of a partition or later",
            where=f"table {table}",
            hint=f"Leave {_TRIGGER} and {_DELAY} out.",
        )
    if kinds and not _is_hidden(options.text(_NAME)):
        raise ConnectorError(
            f"{_NAME}: {options.text(_NAME)!r} would be read as a file of rows",
            where=f"table {table}",
            hint="Write a name that begins with _ or a point.",
        )


def commit_partitions(folders: Iterable[Path], options: TableOptions) -> None:
    """Put the file into each folder, if the table asks for it."""
    if options.text(_KIND).strip():
        for folder in folders:
            (folder / options.text(_NAME)).touch()


def _is_hidden(name: str) -> bool:
    return name[:1] in ("_", ".") and "/" not in name
