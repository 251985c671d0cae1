"""Files of a sink: written hidden, then shown; each micro-batch exactly once."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from execnodes.core.errors import ConnectorError
from execnodes.lowering.stream import MAJOR, SEQUENCE
from rekindle.connectors.base import SinkRequest, SinkWriter
from rekindle.connectors.files import absolute, require_readable
from rekindle.connectors.format import FileFormat, Format
from rekindle.connectors.lines import is_empty, spark_format
from rekindle.connectors.options import TableOptions
from rekindle.connectors.partition_times import Commits
from rekindle.files.paths import for_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MARKERS = "_rekindle"
"""Hidden folder with a marker for each batch that is complete, and the files of the one being written."""


class FileWriter(SinkWriter):
    """Files ``part-<job>-<batch>-<n>`` in the table's folder.

    A batch is written below `MARKERS`, its files are renamed into place, and a marker says that all are there. A batch
    that comes again is left out if its marker stands; else what an earlier attempt has shown is replaced by the same
    names. Readers pass over names that begin with ``_``, so that they see whole files only.
    """

    concurrent: ClassVar[bool] = True

    def __init__(self, request: SinkRequest, options: TableOptions, chosen: Format) -> None:
        self._request = request
        self._options = options
        self._format = chosen
        path = options.text("path")
        require_readable(path, "sink", request.name)
        self._target = Path(absolute(path))
        self._job = re.sub(r"[^A-Za-z0-9_.-]", "_", request.job_id)
        keys = set(request.table.partition_keys)
        self._partitions = [c.name for c in request.columns if c.name in keys]
        self._stored = tuple(c for c in request.columns if c.name not in keys)
        self._commits = Commits(self._target, self._partitions, options, request.name)

    def shared_folders(self) -> tuple[Path, ...]:
        """Where tasks write."""
        return (self._target / MARKERS / self._job,)

    def open(self) -> None:
        """Make the folder; refuse types the format has no form for."""
        self._format.check(self._stored, self._options, self._request.name)
        if self._target.exists() and not self._target.is_dir():
            raise ConnectorError(
                f"{self._target} is a file; a sink writes into a folder",
                where=f"table {self._request.name}",
                hint="Give the option 'path' a folder of its own.",
            )
        (self._target / MARKERS / self._job).mkdir(parents=True, exist_ok=True)
        self._commits.find(f"part-{self._job}-")

    def write(self, batch: DataFrame, batch_id: int) -> None:
        """Write, show, mark."""
        marker = self._target / MARKERS / self._job / str(batch_id)
        if marker.exists():
            return
        hidden = marker.with_name(f"{batch_id}.tmp")
        if hidden.exists():
            # An earlier attempt stopped half-way.
            shutil.rmtree(hidden)
            # Other sinks may write below the same folder meanwhile.
            for folder, _, names in os.walk(self._target):
                for name in names:
                    if name.startswith(f"part-{self._job}-{batch_id}-"):
                        os.unlink(os.path.join(folder, name))
        self._store(batch, hidden)
        shown = self._show(hidden, batch_id)
        if self._request.overwrite:
            self._remove_others(shown)
        self._commits.written({each.parent for each in shown}, round(time.time() * 1000))
        done = marker.with_name(f"{batch_id}.done")
        done.touch()
        done.replace(marker)
        shutil.rmtree(hidden, ignore_errors=True)

    def time_passes(self, watermark: int | None, now: int, *, ended: bool) -> None:
        """Commit partitions that are complete."""
        self._commits.time_passes(watermark, now, ended=ended)

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
        files = (each for each in hidden.rglob("part-*") if each.is_file())
        parts = sorted(each for each in files if not is_empty(self._format, each))
        for number, part in enumerate(parts):
            folder = self._target / part.parent.relative_to(hidden)
            folder.mkdir(parents=True, exist_ok=True)
            place = folder / f"part-{self._job}-{batch_id}-{number}{self._format.extension}"
            part.replace(place)
            shown.add(place)
        return shown

    def _remove_others(self, shown: set[Path]) -> None:
        """The new files are there, so the old ones can go: of the table, or of the partitions that were written."""
        folders = {each.parent for each in shown} if self._partitions else {self._target}
        for folder in folders:
            for each in folder.iterdir():
                if each.is_file() and each not in shown and not each.name.startswith(("_", ".")):
                    each.unlink()
