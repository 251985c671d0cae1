"""Files of a table by position: which a micro-batch reads.

A position names files by their paths below the table's path, with size and time of modification: data that was moved
with its job is not counted twice, and a file that has grown or was replaced is noticed.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from execnodes.core.errors import ConnectorError
from rekindle.connectors.few_files import told_of
from rekindle.connectors.files import glob_root, is_local, list_files
from rekindle.connectors.positions import News, no_position, parsed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger("rekindle.jobs")
_MOST_FILES = 1_000
"""That tasks are told of: each of them gets the list."""
_MOST_ROWS = 2_000_000
"""That a task reads itself: a file of few bytes may have many that are alike."""
_MEND = "Bring the file back as it was, or start from a savepoint of before."


class KnownFile(BaseModel):
    """A file as a position has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    path: str
    """Below the table's path."""
    size: int | None
    """Bytes; None in savepoints of 1.x, which do not say."""
    modified: int | None
    """Epoch ms; None as well."""


class FilePosition(BaseModel):
    """How far files have been read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    read: tuple[KnownFile, ...]
    left: tuple[KnownFile, ...] | None
    """Of a bounded source, the files that were there at its start and are still to be read; None: it is watched."""


_POSITION, _PATHS = TypeAdapter(FilePosition), TypeAdapter(list[str])


@dataclass(slots=True)
class FilePositions:
    """Files of a table: those that were there at the start, or whatever comes."""

    spark: SparkSession
    table: str
    """Its name, for messages."""
    path: str
    """A file, a folder or a glob, absolute."""
    watched: bool
    at_most: int
    """Files of a micro-batch; 0: all."""
    begin: FilePosition | None = None
    """Where it starts if it is not at the start."""
    interval: float = 0.0
    """Seconds from a look for new files to the next one, if the last one has found no more than was taken."""
    ignores_missing: bool = False
    """Whether a file that is gone when it is to be read is left out, and no failure."""
    rows_for_tasks: Callable[[str], int | None] = lambda path: None
    """How many rows a local file is known to have that a task can read itself; None if it cannot."""
    clock: Callable[[], float] = time.monotonic
    _next_look: float = 0.0
    _checked: list[tuple[Any, FilePosition]] = field(default_factory=list)
    """The last two positions that were asked about: there may be thousands of files."""

    @property
    def bounded(self) -> bool:
        """See Positions."""
        return not self.watched

    def plan(self, position: Any) -> News | None:
        """The next files, in the order of their times."""
        now = self.clock()
        if self.watched and position is not None and now < self._next_look:
            return None
        known = self._known(position) or self.begin
        if known is not None and known.left is not None:
            found: Sequence[KnownFile] = known.left
        else:
            found = self._new(known)
        read = () if known is None else known.read
        here, left = self._after(read, found)
        self._next_look = now if left else now + self.interval
        if not found and known is not None and self.watched:
            return None
        then = (lambda: self._after(here.read, left)[0].model_dump(mode="json")) if left else None
        return News(here.model_dump(mode="json"), here.left == (), then)

    def _after(
        self, read: tuple[KnownFile, ...], found: Sequence[KnownFile]
    ) -> tuple[FilePosition, Sequence[KnownFile]]:
        """The position behind as many files as a micro-batch has, and those that wait."""
        taken = tuple(found[: self.at_most or None])
        left = tuple(found[len(taken) :])
        return FilePosition(read=(*read, *taken), left=None if self.watched else left), left

    def restored(self, text: str) -> Any:
        """The position that a savepoint has as a text: 1.x wrote a list of paths. What is left is looked for anew."""
        try:
            paths = _PATHS.validate_json(text)
        except ValueError:
            known = self._known(parsed(text))
            read = () if known is None else known.read
        else:
            read = tuple(KnownFile(path=self._below(each), size=None, modified=None) for each in paths)
        return FilePosition(read=read, left=None).model_dump(mode="json")

    def until(self, text: str) -> FilePositions:
        """See Positions."""
        known = self._known(self.restored(text))
        assert known is not None
        return replace(self, watched=False, begin=FilePosition(read=(), left=known.read), _checked=[])

    def between(self, start: Any, end: Any) -> list[str]:
        """Paths of the files that a micro-batch reads. ConnectorError for one that is gone or another than planned."""
        paths = (self._as_planned(each) for each in self._taken(start, end))
        return [each for each in paths if each is not None]

    def told(self, start: Any, end: Any) -> list[list[Any]] | None:
        """See ToldToTasks."""
        paths = self.between(start, end)
        if len(paths) > _MOST_FILES:
            return None
        told, rows = list[list[Any]](), 0
        for path in paths:
            known = self.rows_for_tasks(path) if is_local(path) else None
            file = None if known is None else told_of(path)
            if known is None or file is None or (rows := rows + known) > _MOST_ROWS:
                return None
            told.append(file)
        return told

    def size(self, start: Any, end: Any) -> int:
        """Bytes that a micro-batch reads."""
        return sum(each.size or 0 for each in self._taken(start, end))

    def _taken(self, start: Any, end: Any) -> tuple[KnownFile, ...]:
        before, after = self._known(start), self._known(end)
        assert after is not None
        return after.read[0 if before is None else len(before.read) :]

    def _new(self, known: FilePosition | None) -> list[KnownFile]:
        read = {} if known is None else {each.path: each for each in known.read}
        found = []
        for file in list_files(self.spark, self.path, self.table):
            here = KnownFile(path=self._below(file.path), size=self._size(file.path), modified=file.modified)
            before = read.get(here.path)
            if before is None:
                found.append(here)
            elif before.size not in (None, here.size):
                raise ConnectorError(
                    f"a file that has been read has {here.size} bytes now, not {before.size}",
                    where=f"table {self.table}, {file.path}",
                    hint="Write new rows into new files; this one was read as it was.",
                )
        return found

    def _as_planned(self, file: KnownFile) -> str | None:
        path = self._above(file.path)
        if not is_local(path):
            return path
        try:
            size = os.stat(path).st_size
        except FileNotFoundError:
            if self.ignores_missing:
                _log.warning("table %s: %s is gone, and is left out", self.table, path)
                return None
            raise ConnectorError(
                "a file that this micro-batch is to read is gone", where=f"table {self.table}, {path}", hint=_MEND
            ) from None
        if file.size not in (None, size):
            raise ConnectorError(
                f"a file that this micro-batch is to read has {size} bytes now, not {file.size}",
                where=f"table {self.table}, {path}",
                hint=_MEND,
            )
        return path

    def _size(self, path: str) -> int:
        return os.stat(path).st_size if is_local(path) else 0

    def _root(self) -> str:
        return glob_root(self.path)

    def _below(self, path: str) -> str:
        # A table of one file is that file.
        return path.removeprefix(self._root()).lstrip("/") or "."

    def _above(self, path: str) -> str:
        return self._root() if path == "." else f"{self._root().rstrip('/')}/{path}"

    def _known(self, position: Any) -> FilePosition | None:
        if position is None:
            return None
        for given, known in self._checked:
            if given == position:
                return known
        try:
            known = _POSITION.validate_python(position)
        except ValueError as error:
            raise no_position(position, "files", self.table) from error
        self._checked = [*self._checked[-1:], (position, known)]
        return known
