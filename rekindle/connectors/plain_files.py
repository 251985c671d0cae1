"""Local files of plain lines, as several tasks read them: a part of the bytes each, block by block."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rekindle.connectors.few_files import batch_of, facts_ddl, major_of, naming, table_of
from rekindle.connectors.plain_json import NotPlainError, PlainRecords, why_not_plain

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 8 << 20
"""Bytes that are read at once, and up to the end of a line."""


@dataclass(frozen=True, slots=True)
class Part:
    """Of a file: the lines that begin in it."""

    path: str
    size: int
    """Of the file, in bytes."""
    modified: int
    """The file, epoch ms."""
    start: int
    end: int

    def blocks(self, most: int = _BLOCK) -> Iterator[bytes]:
        """Its lines, of so many bytes at once, about. NotPlainError if the file has another size now."""
        with naming(self.path), open(self.path, "rb") as file:
            if os.fstat(file.fileno()).st_size != self.size:
                raise NotPlainError(f"{self.path} is changing")
            at = 0
            if self.start:
                # The line that the byte before belongs to is another part's.
                file.seek(self.start - 1)
                file.readline()
                at = file.tell()
            while at < self.end:
                lines = file.read(min(most, self.end - at))
                lines += b"" if lines.endswith(b"\n") else file.readline()
                yield lines if at else lines.removeprefix(codecs.BOM_UTF8)
                at += len(lines)


def parts(files: list[list[Any]], task: int, tasks: int) -> Iterator[Part]:
    """What a task of several reads; `files`: what `told_of` gave."""
    total = sum(size for _, size, _ in files)
    first, last = (total * each // tasks for each in (task, task + 1))
    before = 0
    for path, size, modified in files:
        start, end = max(first - before, 0), min(last - before, size)
        if start < end:
            yield Part(path, size, modified, start, end)
        before += size


@dataclass(frozen=True, slots=True)
class PlainFiles:
    """Columns of files of plain records."""

    records: PlainRecords
    columns: str
    """Their Spark DDL."""
    facts: tuple[str, ...]
    """What is wanted of their files."""

    @property
    def ddl(self) -> str:
        """Columns of the rows."""
        return f"{self.columns}{facts_ddl(self.facts)}".removeprefix(", ")

    def __call__(self, files: list[list[Any]], task: int, tasks: int) -> Iterator[pa.RecordBatch]:
        """A batch a block; NotPlainError."""
        for part in parts(files, task, tasks):
            for columns, rows in _read(self.records, part):
                yield batch_of(columns, rows, self.facts, part.path, part.size, part.modified, part.start)


@dataclass(frozen=True, slots=True)
class ColumnsOfPlainFiles:
    """The same as calls take them (see `SourceConnector.columns`)."""

    records: PlainRecords
    ordered: bool
    """Whether the files have their place in the order of the rows."""

    def __call__(self, files: list[list[Any]], task: int, tasks: int) -> Iterator[pa.Table]:
        """A table a block; NotPlainError."""
        before = task << 33
        for part in parts(files, task, tasks):
            major = major_of(part.path, part.modified, part.start) if self.ordered else None
            for columns, rows in _read(self.records, part):
                yield table_of(columns, rows, before, major)
                before += rows


def _read(records: PlainRecords, part: Part) -> Iterator[tuple[Mapping[str, pa.Array], int]]:
    for lines in part.blocks():
        try:
            columns, rows = records.parse(lines)
        except NotPlainError as error:
            raise NotPlainError(f"{part.path}: {why_not_plain(str(error))}") from error
        if rows:
            yield columns, rows
