"""What a format is: of records, or of whole files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from execnodes.core.connectors import FormatDeclaration
from execnodes.core.tables import Column
from execnodes.lowering.stream import KIND, quote
from rekindle.connectors.csv_records import CsvRecords
from rekindle.connectors.options import TableOption, TableOptions
from rekindle.connectors.plain_json import PlainRecords

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def renamed(rows: DataFrame, wanted: Wanted) -> DataFrame:
    """c0, c1, … of columns that have their names, and `KIND` where it is there."""
    values = (f"{quote(c.name)} AS c{i}" for i, c in enumerate(wanted.columns))
    return rows.selectExpr(*values, *([KIND] if KIND in rows.columns else []), *map(quote, wanted.kept))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a frame that was read."""

    columns: tuple[Column, ...]
    """To become c0, c1, …."""
    every: tuple[Column, ...]
    """All columns that stand in the files, in order."""
    kept: tuple[str, ...]
    """Columns of the frame that stay as they are, behind the others."""


class Format(ABC):
    """How rows are written: as records of bytes (`RecordFormat`), or as whole files (`FileFormat`)."""

    declaration: ClassVar[FormatDeclaration]
    """Which kinds of row it reads and writes, and its identifier; the planner knows it without this class."""
    options: ClassVar[tuple[TableOption, ...]]
    """Keys begin with the identifier."""
    extension: ClassVar[str]
    """Of written files, with the dot."""

    @property
    def changelog(self) -> bool:
        """Whether records carry row kinds."""
        return self.declaration.changelog

    def check(self, columns: tuple[Column, ...], options: TableOptions, table: str) -> None:
        """Refuse column types the format has no form for and options that contradict; ConnectorError."""
        return

    @abstractmethod
    def decode(self, rows: DataFrame, options: TableOptions, wanted: Wanted) -> DataFrame:
        """Rows c0, c1, … from what was read. A changelog format adds `rk_kind`."""

    @abstractmethod
    def encode(
        self, rows: DataFrame, columns: tuple[Column, ...], options: TableOptions, kept: tuple[str, ...]
    ) -> DataFrame:
        """What is written, from a frame with the columns' names and `rk_kind`; `kept` are to leave alone."""


class RecordFormat(Format):
    """A record is a text of its own, wherever it comes from and goes to: a line of a file, a message of a queue.

    `decode` is given a record's bytes as the STRING `value` (they may be no UTF-8) and where it is from, for messages,
    as `rk_path`; when several rows come of one record, `rk_seq` (if there is one) tells them apart. `encode` gives
    `value`.
    """

    def records(self, options: TableOptions) -> CsvRecords | None:
        """What splits a file into records that may have several lines; None if a line is a record."""
        return None

    def plain(self, columns: tuple[Column, ...], options: TableOptions) -> PlainRecords | None:
        """What reads the columns of records that are plain; None if none are."""
        return None


class FileFormat(Format):
    """A file holds the columns themselves, under their names, and Spark knows it."""

    reader: ClassVar[str]
    """Spark's own format that reads and writes the files."""
    row_number: ClassVar[str | None] = None
    """Text in Spark SQL of a row's number in its file, from 0; None if the reader does not tell it."""

    @abstractmethod
    def schema(self, columns: tuple[Column, ...]) -> str:
        """What `reader` gives, as Spark DDL."""

    def writer_options(self, options: TableOptions) -> Mapping[str, str]:
        """What Spark's writer is told besides."""
        return {}

    @abstractmethod
    def is_empty(self, file: Path) -> bool:
        """Whether a written file holds no rows."""

    def merge(self, files: Sequence[Path], target: Path, options: TableOptions) -> bool:
        """Write the rows of files, in their order, into a new one; False where Spark is to read and write them."""
        return False
