"""What a format is, and finding one by walking the folder of formats."""

from __future__ import annotations

import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from inspect import getmembers, isclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import rekindle.connectors.formats
from execnodes.connectors import own_formats
from execnodes.core.connectors import FormatDeclaration
from execnodes.core.errors import ConnectorError
from execnodes.core.tables import Column
from rekindle.connectors.options import TableOption, TableOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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


@lru_cache(maxsize=16)
def format_of(identifier: str) -> Format | None:
    """The format of that name, whose module is called the same; None if there is none."""
    if identifier not in own_formats():
        return None
    module = import_module(f"{rekindle.connectors.formats.__name__}.{own_formats()[identifier]}")
    classes = (member for _, member in getmembers(module, isclass) if member.__module__ == module.__name__)
    return next(each() for each in classes if issubclass(each, Format))


def formats() -> Mapping[str, Format]:
    """All formats by identifier."""
    found = ((identifier, format_of(identifier)) for identifier in sorted(own_formats()))
    return {identifier: each for identifier, each in found if each is not None}


def find_format(identifier: str, table: str) -> Format:
    """The format of that name; ConnectorError with what exists if there is none."""
    found = format_of(identifier)
    if found is not None:
        return found
    known = sorted(own_formats())
    near = difflib.get_close_matches(identifier, known, n=2)
    guess = f"Did you mean {' or '.join(near)}? " if near else ""
    what = f"unknown format {identifier!r}" if identifier else "the table has no 'format' option"
    raise ConnectorError(
        what, where=f"table {table}", hint=f"{guess}Formats: {', '.join(known)}. {_others(identifier)}"
    )


def _others(identifier: str) -> str:
    """The way to what Spark reads and writes besides."""
    name = identifier if re.fullmatch(r"[A-Za-z][\w.]*", identifier) else "…"
    return f"Others that Spark has (avro, orc, text, …): 'connector' = 'spark', 'spark.format' = '{name}'."
