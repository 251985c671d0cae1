"""A Parquet file of our own as a stream that ends; how tables of other systems come in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import MAJOR, SEQUENCE
from rekindle.connectors.base import SourceRequest
from rekindle.connectors.line_text import stream_name
from rekindle.files.paths import AS_WRITTEN, for_spark, for_spark_stream
from rekindle.spark.releases import named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def whole_file(spark: SparkSession, request: SourceRequest, file: Path) -> DataFrame:
    """The rows of a file with columns c0, c1, …; none if the job begins behind it."""
    schema = ", ".join(f"c{i} {spark_type(column.data_type)}" for i, column in enumerate(request.columns))
    schema = schema or "rk_none INT"
    if request.batch:
        frame = spark.read.schema(schema).options(**AS_WRITTEN).parquet(for_spark(spark, file))
    else:
        wanted = "*.none" if request.start else file.name
        reader = named(spark.readStream.schema(schema), stream_name(request.uid))
        frame = reader.option("pathGlobFilter", wanted).parquet(for_spark_stream(spark, file.parent))
    names = [f"c{i}" for i in range(len(request.columns))]
    return numbered(frame, names, request.ordered)


def numbered(frame: DataFrame, columns: list[str], ordered: bool) -> DataFrame:
    """The columns, with the order in which Spark reads them where it is asked for."""
    if not ordered:
        return frame.selectExpr(*columns)
    return frame.selectExpr(*columns, f"'' AS {MAJOR}", f"monotonically_increasing_id() AS {SEQUENCE}")
