"""Values of Spark texts over the edge values, each cell for itself; runs beside the wheel of any release.

One row that fails must not hide the others, so a cell that fails is `FAILED`, whatever its message. The optimizer
computes all of it, which needs neither a job nor generated code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.net.edge_values import ROWS, rows_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FAILED = "!"
"""No JSON, so no value."""
Cells = list[str | None]
"""JSON of the value in each row, None for NULL."""
_CHUNK = 20
"""Columns of one SELECT."""
_FORMAT = "yyyy-MM-dd HH:mm:ss.SSSSSS"
_JSON = "to_json(named_struct('v', {}), map('timestampFormat', '{}', 'timestampNTZFormat', '{}'))"


def evaluate(spark: SparkSession, texts: Sequence[str]) -> list[Cells]:
    """The values of each text, in the order of the rows."""
    frame = spark.sql(rows_text())
    found: list[Cells] = []
    for start in range(0, len(texts), _CHUNK):
        found += _chunk(frame, texts[start : start + _CHUNK])
    return found


def _chunk(frame: DataFrame, texts: Sequence[str]) -> list[Cells]:
    from pyspark.errors import PySparkException

    try:
        return _computed(frame, texts)
    except PySparkException:
        # Spark computes some parts of an expression before it, outside of what is guarded.
        if len(texts) > 1:
            half = len(texts) // 2
            return _chunk(frame, texts[:half]) + _chunk(frame, texts[half:])
    return [[each for at in range(ROWS) for each in _alone(frame.where(f"k = {at + 1}"), texts[0])]]


def _alone(frame: DataFrame, text: str) -> Cells:
    from pyspark.errors import PySparkException

    try:
        return _computed(frame, [text])[0]
    except PySparkException:
        return [FAILED]


def _computed(frame: DataFrame, texts: Sequence[str]) -> list[Cells]:
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    jvm: Any = spark._jvm
    session: Any = spark._jsparkSession
    gateway: Any = spark.sparkContext._gateway
    # Each of these names is asked for in Java, step by step.
    parse = session.sessionState().sqlParser().parseExpression
    safe = jvm.org.apache.spark.sql.catalyst.expressions.TryEval
    column = jvm.org.apache.spark.sql.classic.ExpressionUtils.column
    array = gateway.new_array(jvm.org.apache.spark.sql.Column, len(texts))
    for at, each in enumerate(texts):
        # NULL where the text fails, and else a JSON object.
        array[at] = column(safe(parse(_JSON.format(each, _FORMAT, _FORMAT)))).alias(f"c{at}")
    rows = DataFrame(frame._jdf.select(array), spark).collect()
    return [[_cell(row[at]) for row in rows] for at in range(len(texts))]


def _cell(text: str | None) -> str | None:
    if text is None:
        return FAILED
    return None if text == "{}" else text.removeprefix('{"v":')[:-1]
