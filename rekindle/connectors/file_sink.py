"""Files of a sink: written hidden, then shown; each micro-batch exactly once."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from execnodes.core.errors import ConnectorError
from execnodes.lowering.stream import MAJOR, SEQUENCE
from rekindle.connectors.base import SinkRequest, SinkWriter
from rekindle.connectors.file_marks import FileMarks
from rekindle.connectors.file_rolling import Rolling
from rekindle.connectors.files import absolute, require_readable
from rekindle.connectors.format import FileFormat, Format
from rekindle.connectors.held_files import MARKERS, SHOWN, HeldFiles
from rekindle.connectors.lines import is_empty, spark_format
from rekindle.connectors.merge_files import merge_files
from rekindle.connectors.options import TableOptions
from rekindle.connectors.partition_times import Commits
from rekindle.files.paths import for_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_log = logging.getLogger("rekindle.jobs")


class FileWriter(SinkWriter):
    """Files ``part-<job>-<batch>-<n>`` in the table's folder.

    A batch is written below `MARKERS`, its files are renamed into place, and a marker says that all are there. A batch
    that comes again is left out if a marker answers for it; else what an earlier attempt has shown is replaced by the
    same names. Readers pass over names that begin with ``_``, so that they see whole files only.

    With auto-compaction files are held (`HeldFiles`) until they are large or old enough, and then shown as one. So
    readers never see rows twice, and no file that they have seen goes.
    """

    concurrent: ClassVar[bool] = True

    def __init__(self, spark: SparkSession, request: SinkRequest, options: TableOptions, chosen: Format) -> None:
        self._spark = spark
        self._request = request
        self._options = options
        self._format = chosen
        path = options.text("path")
        require_readable(path, "sink", request.name)
        self._target = Path(absolute(path))
        self._job = re.sub(r"[^A-Za-z0-9_.-]", "_", request.job_id)
        self._folder = self._target / MARKERS / self._job
        keys = set(request.table.partition_keys)
        self._partitions = [c.name for c in request.columns if c.name in keys]
        self._stored = tuple(c for c in request.columns if c.name not in keys)
        self._commits = Commits(self._target, self._partitions, options, request.name)
        self._marks = FileMarks(self._folder)
        self._held = HeldFiles(self._target, self._job)
        self._rolling = Rolling.of(options)
        # What replaces a table is seen at once; changes are read in the order of micro-batches, whatever the partition.
        by_partition = chosen.changelog and bool(self._partitions)
        self._holds = None if request.overwrite or by_partition else self._rolling
        self._due_at: int | None = None
        """When a held file is to be shown by the clock, epoch ms."""
        self._lock = threading.Lock()
        """Held while files are held or shown: savepoints come from another thread."""
        self._closed = False

    def shared_folders(self) -> tuple[Path, ...]:
        """Where tasks write."""
        return (self._folder,)

    def open(self) -> None:
        """Make the folder; refuse types the format has no form for."""
        self._format.check(self._stored, self._options, self._request.name)
        if self._target.exists() and not self._target.is_dir():
            raise ConnectorError(
                f"{self._target} is a file; a sink writes into a folder",
                where=f"table {self._request.name}",
                hint="Give the option 'path' a folder of its own.",
            )
        self._marks.open()
        self._held.open(self._marks.newest())
        self._commits.find(f"part-{self._job}-", f"{SHOWN}-{self._job}-")
        if self._holds is None:
            if self._held.partitions:
                # The table had another option then.
                self._held.show([[each] for each in self._held.files], self._merge)
            return
        self._held.register(self._request.job_dir)
        self._due_at = self._holds.due_at(self._held.partitions.values())
        if not self._commits.at_once:
            for (folder, _), each in self._held.partitions.items():
                self._commits.written([self._target / folder], each.first)

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """Write, show or hold, mark."""
        with self._lock:
            if batch_id <= self._marks.newest():
                # It may have failed right after its marker was set.
                self._held.accept(batch_id)
                return
            hidden = self._folder / f"{batch_id}.tmp"
            if hidden.exists():
                # An earlier attempt stopped half-way.
                shutil.rmtree(hidden)
                # Other sinks may write below the same folder meanwhile.
                for folder, _, names in os.walk(self._target):
                    for name in names:
                        if name.startswith(f"part-{self._job}-{batch_id}-"):
                            os.unlink(os.path.join(folder, name))
            self._store(batch, hidden)
            if self._holds is None:
                self._write_shown(hidden, batch_id)
            else:
                self._write_held(hidden, batch_id)
            shutil.rmtree(hidden, ignore_errors=True)

    def _write_shown(self, hidden: Path, batch_id: int) -> None:
        if self._request.overwrite and self._rolling is not None:
            self._merge_hidden(hidden, self._rolling)
        shown = self._show(hidden, batch_id)
        if self._request.overwrite:
            self._remove_others(shown)
        self._commits.written({each.parent for each in shown}, _now())
        self._marks.add(batch_id)

    def _write_held(self, hidden: Path, batch_id: int) -> None:
        assert self._holds is not None
        parts = self._parts(hidden)
        if not self._commits.at_once:
            self._commits.written({self._target / each.parent.relative_to(hidden) for each in parts}, _now())
        self._held.hold(hidden, batch_id, parts, self._format.extension)
        self._marks.add(batch_id)
        self._held.accept(batch_id)
        self._show_held()

    def time_passes(self, watermark: int | None, now: int, *, ended: bool) -> None:
        """Show what has been held for long enough; commit partitions that are complete."""
        with self._lock:
            if self._held.partitions:
                due = {str(each.relative_to(self._target)) for each in self._commits.due(watermark, now, ended=ended)}
                if ended or due or (self._due_at is not None and now >= self._due_at):
                    self._show_held(lambda folder: ended or folder in due)
            self._commits.time_passes(watermark, now, ended=ended)

    def flush(self) -> None:
        """Show what is held."""
        with self._lock:
            # One that is closed has shown what it had, or another writer does.
            if not self._closed:
                self._show_held(lambda folder: True)

    def close(self) -> None:
        """Show what is held: the job may never be started again."""
        with self._lock:
            try:
                if not self._closed:
                    self._show_held(lambda folder: True)
            except Exception as error:  # noqa: BLE001  # nothing is lost
                what = "table %s: rows that are held are not shown, but will be when the job is started again: %s"
                _log.warning(what, self._request.name, error)
            self._closed = True

    def _show_held(self, is_due: Callable[[str], bool] = lambda folder: False) -> None:
        if self._holds is None:
            return
        shown = self._held.finish()
        groups = self._holds.groups(self._held.partitions.values(), _now(), is_due)
        if groups:
            shown |= self._held.show(groups, self._merge)
        if self._commits.at_once:
            self._commits.written(shown, _now())
        self._due_at = self._holds.due_at(self._held.partitions.values())

    def _merge(self, files: Sequence[Path], target: Path) -> None:
        merge_files(self._spark, self._format, self._stored, self._options, files, target)

    def _merge_hidden(self, hidden: Path, rolling: Rolling) -> None:
        """Of each partition, before anything is shown."""
        parts = self._parts(hidden)
        for folder in {each.parent for each in parts}:
            groups = rolling.cut([each for each in parts if each.parent == folder], lambda each: each.stat().st_size)
            for number, group in enumerate(groups):
                if len(group) > 1:
                    self._merge(group, folder / f"part-{number:05}-merged{self._format.extension}")
                    for each in group:
                        each.unlink()

    def _store(self, batch: DataFrame, hidden: Path) -> None:
        files = self._options.text("sink.parallelism")
        # The order of changes must hold over the whole batch.
        rows = batch.coalesce(1) if self._format.changelog else batch.coalesce(int(files)) if files else batch
        order = [name for name in (MAJOR, SEQUENCE) if name in rows.columns]
        if order:
            rows = rows.sortWithinPartitions(*order)
        encoded = self._format.encode(rows, self._stored, self._options, tuple(self._partitions))
        writer = encoded.write.format(spark_format(self._format)).mode("overwrite")
        if isinstance(self._format, FileFormat):
            writer = writer.options(**self._format.writer_options(self._options))
        if self._partitions:
            writer = writer.partitionBy(*self._partitions)
        writer.save(for_spark(batch.sparkSession, hidden))

    def _show(self, hidden: Path, batch_id: int) -> set[Path]:
        """Rename each file into place; a rename replaces what an earlier attempt left under the name."""
        shown = set()
        for number, part in enumerate(self._parts(hidden)):
            folder = self._target / part.parent.relative_to(hidden)
            folder.mkdir(parents=True, exist_ok=True)
            place = folder / f"part-{self._job}-{batch_id}-{number}{self._format.extension}"
            part.replace(place)
            shown.add(place)
        return shown

    def _parts(self, hidden: Path) -> list[Path]:
        """Files that were written and have rows."""
        files = (each for each in hidden.rglob("part-*") if each.is_file())
        return sorted(each for each in files if not is_empty(self._format, each))

    def _remove_others(self, shown: set[Path]) -> None:
        """The new files are there, so the old ones can go: of the table, or of the partitions that were written."""
        folders = {each.parent for each in shown} if self._partitions else {self._target}
        for folder in folders:
            for each in folder.iterdir():
                if each.is_file() and each not in shown and not each.name.startswith(("_", ".")):
                    each.unlink()


def _now() -> int:
    return round(time.time() * 1000)
