"""Arrow's types of columns are those in which Spark itself hands them over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rekindle.spark.types import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = """
    a STRING, b BOOLEAN NOT NULL, c TINYINT, d SMALLINT, e INT, f BIGINT, g FLOAT, h DOUBLE, i BINARY, j DATE,
    k TIMESTAMP, l TIMESTAMP_NTZ, m DECIMAL(38, 3), n ARRAY<TIMESTAMP>, o MAP<STRING, ARRAY<TIMESTAMP_NTZ>>,
    p STRUCT<`x y`: INT, z: STRUCT<q: DATE>>, r VOID
"""


@pytest.mark.spark
def test_arrow_types_are_those_of_spark(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], COLUMNS)
    assert arrow_schema(frame.schema) == frame.toArrow().schema
