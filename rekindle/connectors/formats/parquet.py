"""Format parquet: Spark's own reader and writer; columns by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.formats.parquet import FORMAT
from execnodes.core.connectors import FormatDeclaration
from execnodes.core.tables import Column
from execnodes.lowering.stream import quote
from rekindle.connectors.format import FileFormat, Wanted, renamed
from rekindle.connectors.lines import spark_columns
from rekindle.connectors.options import TableOption, TableOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Parquet(FileFormat):
    """A column that a file lacks is NULL. TIME is stored as an INT of milliseconds."""

    declaration: ClassVar[FormatDeclaration] = FORMAT
    extension: ClassVar[str] = ".parquet"
    reader: ClassVar[str] = "parquet"
    row_number: ClassVar[str | None] = "_metadata.row_index"
    options: ClassVar[tuple[TableOption, ...]] = (
        TableOption("parquet.compression", "text", "snappy", "Codec of written files."),
        TableOption("parquet.utc-timezone", "bool", "true", "Accepted for Flink's sake; instants are always UTC."),
    )

    def schema(self, columns: tuple[Column, ...]) -> str:
        """The wanted columns."""
        return spark_columns(columns)

    def decode(self, rows: DataFrame, options: TableOptions, wanted: Wanted) -> DataFrame:
        """Only names change."""
        return renamed(rows, wanted)

    def encode(
        self, rows: DataFrame, columns: tuple[Column, ...], options: TableOptions, kept: tuple[str, ...]
    ) -> DataFrame:
        """The columns as they are."""
        return rows.selectExpr(*(quote(c.name) for c in columns), *map(quote, kept))

    def writer_options(self, options: TableOptions) -> Mapping[str, str]:
        """The codec."""
        return {"compression": options.text("parquet.compression").lower()}

    def is_empty(self, file: Path) -> bool:
        """Whether the footer counts no rows."""
        import pyarrow.parquet as pq

        return bool(pq.read_metadata(file).num_rows == 0)
