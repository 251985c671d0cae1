"""Format parquet: Spark's own reader and writer; columns by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

_CODECS = {
    "none": "none",
    "uncompressed": "none",
    "snappy": "snappy",
    "gzip": "gzip",
    "zstd": "zstd",
    "brotli": "brotli",
}
"""Spark's names to Arrow's, where both write the same."""
_GROUP = 64 << 20
"""Bytes in memory from which rows are a row group."""


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

    def merge(self, files: Sequence[Path], target: Path, options: TableOptions) -> bool:
        """By Arrow, which is much faster with small files, where the columns then are as Spark wrote them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        codec = _CODECS.get(options.text("parquet.compression").lower())
        schema = pq.read_schema(files[0])
        if codec is None or any(not pq.read_schema(each).equals(schema) for each in files[1:]):
            return False
        with pq.ParquetWriter(target, schema, compression=codec, store_decimal_as_integer=True) as writer:
            waiting, size = list[pa.Table](), 0
            for at, each in enumerate(files):
                waiting.append(pq.ParquetFile(each).read())
                size += waiting[-1].nbytes
                if size >= _GROUP or at == len(files) - 1:
                    writer.write_table(pa.concat_tables(waiting).combine_chunks())
                    waiting, size = [], 0
        return bool(pq.ParquetFile(target).schema.equals(pq.ParquetFile(files[0]).schema))
