"""When partitions that a job writes are complete, as Flink's `PartitionCommitTrigger` has it; a file then says so."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote

from execnodes.core.errors import ConnectorError
from execnodes.core.zones import find_zone
from rekindle.connectors.options import TableOptions

KIND = "sink.partition-commit.policy.kind"
TRIGGER = "sink.partition-commit.trigger"
DELAY = "sink.partition-commit.delay"
NAME = "sink.partition-commit.success-file.name"
ZONE = "sink.partition-commit.watermark-time-zone"
PATTERN = "partition.time-extractor.timestamp-pattern"
FORMATTER = "partition.time-extractor.timestamp-formatter"
PARTITION_TIME = "partition-time"

_RUNS = re.compile(r"'(?:[^']|'')*'|(?P<letter>[A-Za-z])(?P=letter)*|[^A-Za-z']+")
_FIELDS = {
    "yyyy": "year",
    "uuuu": "year",
    "MM": "month",
    "M": "month",
    "dd": "day",
    "d": "day",
    "HH": "hour",
    "H": "hour",
    "mm": "minute",
    "m": "minute",
    "ss": "second",
    "s": "second",
}
"""What a formatter may have, in letters of Java."""
_STANDARD = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)"
    r"(?: (?P<hour>\d\d?):(?P<minute>\d\d?):(?P<second>\d\d?)(?:\.\d{1,9})?)?"
)
_SMALLEST = {"year": 1970, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}


def compiled(formatter: str) -> re.Pattern[str] | None:
    """What texts of a formatter look like; None if it has letters that are no fields of a time here."""
    if not formatter:
        return _STANDARD
    expression, seen = "", set[str]()
    for found in _RUNS.finditer(formatter):
        text = found.group()
        if found["letter"] is None:
            expression += re.escape(text[1:-1].replace("''", "'") or "'" if text[0] == "'" else text)
            continue
        field = _FIELDS.get(text)
        if field is None or field in seen:
            return None
        seen.add(field)
        digits = {1: r"\d\d?", 2: r"\d\d", 4: r"\d{4}"}[len(text)]
        expression += f"(?P<{field}>{digits})"
    return re.compile(expression) if {"year", "month", "day"} <= seen else None


def unknown_formatter(options: TableOptions, table: str) -> ConnectorError:
    """The error for a formatter that `compiled` does not know."""
    return ConnectorError(
        f"{FORMATTER}: {options.text(FORMATTER)!r} is not supported",
        where=f"table {table}",
        hint="Write year (yyyy), month (MM), day (dd), and hour, minute and second (HH, mm, ss), each once.",
    )


class PartitionTimes:
    """The time of a partition, of the values of its columns."""

    def __init__(self, options: TableOptions, keys: Sequence[str], table: str) -> None:
        shape = compiled(options.text(FORMATTER))
        if shape is None:
            raise unknown_formatter(options, table)
        self._shape = shape
        self._pattern = options.text(PATTERN) or f"${keys[0]}"
        self._keys = re.compile("|".join(rf"\${re.escape(each)}" for each in sorted(keys, key=len, reverse=True)))
        self._zone = find_zone(options.text(ZONE))
        self._table = table

    def millis(self, values: Mapping[str, str]) -> int:
        """Since 1970; ConnectorError if the values make no time."""
        text = self._keys.sub(lambda found: values[found.group()[1:]], self._pattern)
        found = self._shape.fullmatch(text)
        try:
            given = {} if found is None else {name: int(each) for name, each in found.groupdict().items() if each}
            time = datetime(**{**_SMALLEST, **given}, tzinfo=self._zone) if given else None
        except ValueError:
            time = None
        if time is None:
            raise ConnectorError(
                f"a partition's columns make no time: {text!r}",
                where=f"table {self._table}",
                hint=f"{PATTERN} says how its columns make one, {FORMATTER} what it looks like.",
            )
        return round(time.timestamp() * 1000)


class Commits:
    """Partitions that a job has written into and that are to be committed."""

    def __init__(self, target: Path, keys: Sequence[str], options: TableOptions, table: str) -> None:
        """`keys`: columns of the folders, outermost first; without any nothing is ever committed."""
        self._target = target
        self._name = options.text(NAME)
        self._active = bool(options.text(KIND).strip()) and bool(keys)
        self._delay = round(options.seconds(DELAY) * 1000)
        by_partition = self._active and options.text(TRIGGER) == PARTITION_TIME
        self._times = PartitionTimes(options, keys, table) if by_partition else None
        self._at_once = self._times is None and self._delay == 0
        self._waiting: dict[Path, int] = {}
        """Folders to what the watermark, or the clock, must have passed (ms)."""

    @property
    def at_once(self) -> bool:
        """Whether a partition is committed as soon as it has rows that are seen."""
        return self._at_once

    def find(self, *prefixes: str) -> None:
        """Take up what was written before and is not committed: folders with files whose names begin so."""
        if not self._active:
            return
        for place, folders, names in os.walk(self._target):
            # Hidden ones may go meanwhile: other sinks write in them.
            folders[:] = [each for each in folders if "=" in each or not each.startswith(("_", "."))]
            files = [os.path.join(place, each) for each in names if each.startswith(prefixes)]
            if files and self._name not in names:
                self._wait(Path(place), round(min(map(os.path.getmtime, files)) * 1000))

    def written(self, folders: Iterable[Path], now: int) -> None:
        """Rows have come into these folders; ConnectorError if their names make no time. `now`: ms since 1970."""
        for folder in folders if self._active else ():
            self._wait(folder, now)
        if self._at_once:
            self.time_passes(None, now)

    def _wait(self, folder: Path, begun: int) -> None:
        if self._times is None:
            self._waiting.setdefault(folder, begun + self._delay)
            return
        parts = (each.split("=", 1) for each in folder.relative_to(self._target).parts)
        self._waiting[folder] = self._times.millis({unquote(k): unquote(v) for k, v in parts}) + self._delay

    def due(self, watermark: int | None, now: int, *, ended: bool = False) -> list[Path]:
        """Folders that are to be committed: all when all input has ended."""
        if ended or self._at_once:
            return list(self._waiting)
        reached = now if self._times is None else watermark
        return [each for each, at in self._waiting.items() if reached is not None and reached > at]

    def time_passes(self, watermark: int | None, now: int, *, ended: bool = False) -> None:
        """Commit what is due."""
        for folder in self.due(watermark, now, ended=ended) if self._waiting else ():
            # One that somebody has removed meanwhile, as old partitions are, needs no commit.
            if folder.is_dir():
                (folder / self._name).touch()
            del self._waiting[folder]
