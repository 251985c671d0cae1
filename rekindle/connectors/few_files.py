"""Small local files as a task reads them without Spark: lines, and Parquet with the very columns of the table."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from execnodes.lowering.stream import MAJOR, SEQUENCE
from rekindle.connectors.csv_records import CsvRecords
from rekindle.connectors.line_text import LINE

if TYPE_CHECKING:
    import pyarrow as pa

FACTS = "_metadata"
"""Column of what is known of a row's file, as Spark calls it."""
_TYPES = {
    "file_path": "STRING",
    "file_size": "BIGINT",
    "file_block_start": "BIGINT",
    "file_modification_time": "TIMESTAMP",
    "row_index": "BIGINT",
}
"""Of what can be known."""
_AS_IT_IS = re.compile(r"/[A-Za-z0-9/._=-]+")
"""A path that is written in an address as it is."""
_CODECS = (".gz", ".bz2", ".deflate", ".lz4", ".snappy", ".zst")
"""Ends of the names of files that Spark decompresses."""
UNREADABLE = "rekindle-unreadable-file:"
_LEGACY_DATES = b"org.apache.spark.legacyDateTime"


def told_of(path: str) -> list[Any] | None:
    """What a task is told of a file: path, bytes, epoch ms of its modification; None if its address is another text."""
    if not _AS_IT_IS.fullmatch(path):
        return None
    known = os.stat(path)
    return [path, known.st_size, known.st_mtime_ns // 1_000_000]


def of_lines(path: str) -> int | None:
    """None for a file whose lines are compressed; of others it is not known how many there are."""
    return None if path.endswith(_CODECS) else 0


def facts_in(texts: Iterable[str]) -> tuple[str, ...]:
    """What is to be known of files for texts of Spark SQL."""
    whole = " ".join(texts)
    return tuple(each for each in _TYPES if f"{FACTS}.{each}" in whole)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines as Spark's reader of texts splits them, or records: bytes, that need not be UTF-8."""

    facts: tuple[str, ...]
    """What is wanted of their files."""
    records: CsvRecords | None = None
    """What splits a file whose records may have several lines."""

    @property
    def ddl(self) -> str:
        """Columns of the rows."""
        return f"{LINE} BINARY{facts_ddl(self.facts)}"

    def __call__(self, files: list[list[Any]]) -> Iterator[pa.RecordBatch]:
        """A batch a file; `files`: what `told_of` gave."""
        import pyarrow as pa

        for path, *known in files:
            with naming(path), open(path, "rb") as file:
                text = file.read().removeprefix(codecs.BOM_UTF8)
            if self.records is None or not self.records.has_open_line(text):
                lines = text.splitlines()
            else:
                lines = [each for found in self.records.split(iter((text,))) for each in found]
            yield batch_of({LINE: pa.array(lines, pa.binary())}, len(lines), self.facts, path, *known)


@dataclass(frozen=True, slots=True)
class ParquetColumns:
    """Columns of Parquet files that have just these types."""

    schema: pa.Schema
    columns: str
    """Their Spark DDL."""
    facts: tuple[str, ...] = ()
    """What is wanted of their files."""

    def rows(self, path: str) -> int | None:
        """Of a file whose columns are of the types, and its dates of today's calendar; None for others."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(path) as file:
                found, rows = file.schema_arrow, int(file.metadata.num_rows)
        except (pa.ArrowException, OSError):
            return None
        alike = (
            found.names.count(each.name) == 1 and _same(found.field(each.name).type, each.type) for each in self.schema
        )
        return rows if _LEGACY_DATES not in (found.metadata or {}) and all(alike) else None

    @property
    def ddl(self) -> str:
        """Columns of the rows."""
        return f"{self.columns}{facts_ddl(self.facts)}".removeprefix(", ")

    def __call__(self, files: list[list[Any]]) -> Iterator[pa.RecordBatch]:
        """A batch a file; `files`: what `told_of` gave."""
        for path, *known in files:
            columns, rows = self.of_file(path)
            yield batch_of(
                {name: each.combine_chunks() for name, each in columns.items()}, rows, self.facts, path, *known
            )

    def of_file(self, path: str) -> tuple[dict[str, pa.ChunkedArray], int]:
        """The columns of a file, and how many rows it has."""
        import pyarrow.parquet as pq

        with naming(path):
            # Not as a data set: folders called k=v are no columns.
            file = pq.ParquetFile(path)
            table = file.read(columns=list(self.schema.names))
            return {each.name: table.column(each.name).cast(each.type) for each in self.schema}, file.metadata.num_rows


@dataclass(frozen=True, slots=True)
class ColumnsOfFiles:
    """The same as calls take them (see `SourceConnector.columns`)."""

    of: ParquetColumns
    ordered: bool
    """Whether the files have their place in the order of the rows."""

    def __call__(self, files: list[list[Any]], task: int, tasks: int) -> Iterator[pa.Table]:
        """A table a file; `files`: what `told_of` gave."""
        before = 0
        for path, _, modified in files:
            columns, rows = self.of.of_file(path)
            yield table_of(columns, rows, before, major_of(path, modified) if self.ordered else None)
            before += rows


class UnreadableFileError(Exception):
    """A file that a task could not read; Spark hands on the text alone, which begins with `UNREADABLE` and the path."""


@contextmanager
def naming(path: str) -> Iterator[None]:
    """What fails for a file is an UnreadableFileError."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise UnreadableFileError(f"{UNREADABLE}{path}: {error}") from error


def _same(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Texts may have been written with wider offsets, and times with milliseconds."""
    import pyarrow as pa

    if pa.types.is_timestamp(found) and found.unit == "ms":
        found = pa.timestamp("us", found.tz)
    wide = {pa.large_string(): pa.string(), pa.string_view(): pa.string(), pa.large_binary(): pa.binary()}
    return bool(wide.get(found, found) == wanted)


def facts_ddl(facts: tuple[str, ...]) -> str:
    """Of the column `FACTS`, behind others."""
    fields = ", ".join(f"{each}: {_TYPES[each]}" for each in facts)
    return f", {FACTS} STRUCT<{fields}>" if facts else ""


def table_of(columns: Mapping[str, Any], rows: int, first: int, major: str | None) -> pa.Table:
    """Rows as calls take them (see `SourceConnector.columns`); `first`: number of the first, `major`: if ordered."""
    import numpy as np
    import pyarrow as pa

    given = {f"c{at}": each for at, each in enumerate(columns.values())}
    given[SEQUENCE] = pa.array(np.arange(first, first + rows))
    if major is not None:
        given[MAJOR] = pa.repeat(major, rows)
    return pa.table(given)


def major_of(path: str, modified: int, start: int = 0) -> str:
    """The place in the order of the rows of a file's part that begins at a byte; as Spark's frames have it."""
    return f"{modified:015d}|file://{path}|{start:015d}"


def batch_of(
    columns: Mapping[str, pa.Array],
    rows: int,
    facts: tuple[str, ...],
    path: str,
    size: int,
    modified: int,
    start: int = 0,
) -> pa.RecordBatch:
    """Rows of a file, with what is wanted of it; `start`: the byte at which its part begins."""
    import numpy as np
    import pyarrow as pa

    def known(fact: str) -> pa.Array:
        match fact:
            case "file_path":
                return pa.repeat(f"file://{path}", rows)
            case "file_size":
                return pa.repeat(size, rows)
            case "file_block_start":
                return pa.repeat(start, rows)
            case "file_modification_time":
                return pa.repeat(modified * 1000, rows).cast(pa.timestamp("us", "UTC"))
            case _:
                # The number of the row.
                return pa.array(np.arange(rows))

    if facts:
        columns = {**columns, FACTS: pa.StructArray.from_arrays([known(each) for each in facts], list(facts))}
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
