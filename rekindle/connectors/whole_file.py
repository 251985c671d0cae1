"""A Parquet file of our own; how tables of other systems come in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import MAJOR, SEQUENCE
from rekindle.connectors.base import SourceRequest
from rekindle.files.paths import AS_WRITTEN, for_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def whole_file(spark: SparkSession, request: SourceRequest, file: Path) -> DataFrame:
    """The rows of a file with columns c0, c1, …."""
    schema = ", ".join(f"c{i} {spark_type(column.data_type)}" for i, column in enumerate(request.columns))
    schema = schema or "rk_none INT"
    frame = spark.read.schema(schema).options(**AS_WRITTEN).parquet(for_spark(spark, file))
    names = [f"c{i}" for i in range(len(request.columns))]
    return numbered(frame, names, request.ordered)


def numbered(frame: DataFrame, columns: list[str], ordered: bool) -> DataFrame:
    """The columns, with the order in which Spark reads them where it is asked for."""
    if not ordered:
        return frame.selectExpr(*columns)
    return frame.selectExpr(*columns, f"'' AS {MAJOR}", f"monotonically_increasing_id() AS {SEQUENCE}")
