"""Several files of a format as one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.tables import Column
from rekindle.connectors.format import FileFormat, Format
from rekindle.connectors.options import TableOptions
from rekindle.files.paths import AS_WRITTEN, for_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def merge_files(
    spark: SparkSession,
    chosen: Format,
    columns: tuple[Column, ...],
    options: TableOptions,
    files: Sequence[Path],
    target: Path,
) -> None:
    """Write the rows of local files, in their order, into a new file; `columns`: those that the files have."""
    if not isinstance(chosen, FileFormat):
        with open(target, "wb") as into:
            for each in files:
                with open(each, "rb") as lines:
                    shutil.copyfileobj(lines, into, 1 << 20)
    elif not chosen.merge(files, target, options):
        _merge_by_spark(spark, chosen, columns, options, files, target)


def _merge_by_spark(
    spark: SparkSession,
    chosen: FileFormat,
    columns: tuple[Column, ...],
    options: TableOptions,
    files: Sequence[Path],
    target: Path,
) -> None:
    reader = spark.read.format(chosen.reader).options(**AS_WRITTEN).schema(chosen.schema(columns))
    rows = reader.load([for_spark(spark, each) for each in files]).coalesce(1)
    folder = target.with_name(f"{target.name}.tmp")
    writer = rows.write.format(chosen.reader).mode("overwrite").options(**chosen.writer_options(options))
    writer.save(for_spark(spark, folder))
    (part,) = (each for each in folder.iterdir() if each.name.startswith("part-"))
    part.replace(target)
    shutil.rmtree(folder)
