"""PRINTF beside Java's own Formatter, and patterns of columns that Java does not take."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from rekindle.api.table_environment import TableEnvironment

_FIELDS = ("%{}$", "%<", "%", "%", "%")
_LETTERS = (*"ddoxXeEfgGaAcCbBsSsSsSn%", "tY", "tq", "q", "")
_ROWS: tuple[tuple[Any, ...], ...] = (
    (65, 1 << 40, 1.5, True, "héß"),
    (-5, -(1 << 40), -1e30, False, "%d"),
    (None, None, None, None, None),
    (1 << 30, None, 0.0, None, ""),
)
PATTERNS = 200
_TYPES = "i INT, l BIGINT, d DOUBLE, b BOOLEAN, s STRING"


def _pattern(random: Random) -> str:
    texts = list[str]()
    for _ in range(random.randint(1, 2)):
        field = random.choice(_FIELDS).format(random.choice((1, 2, 3, 4, 5, 6)))
        flags = "".join(random.choice("-#+ 0,(") for _ in range(random.choice((0, 0, 0, 0, 1, 1, 2))))
        width = random.choice(("", "", "1", "12"))
        digits = random.choice(("", "", "", "", ".0", ".3"))
        texts += [random.choice(("", "x", " \n")), field, flags, width, digits, random.choice(_LETTERS)]
    return "".join(texts)


def _of_java(spark: SparkSession, pattern: str, values: Sequence[Any]) -> str | None:
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    assert jvm is not None
    assert gateway is not None
    given = gateway.new_array(jvm.java.lang.Object, len(values))
    for at, each in enumerate(values):
        given[at] = each
    try:
        return str(jvm.java.lang.String.format(pattern, given))
    except IllegalArgumentException:
        return None


@pytest.mark.spark
def test_patterns_of_columns_are_read_as_java_reads_them(spark: SparkSession) -> None:
    random = Random(7)
    patterns = [_pattern(random) for _ in range(PATTERNS)]
    expected = {(at, each): _of_java(spark, each, row) for at, row in enumerate(_ROWS) for each in patterns}
    assert sum(each is not None for each in expected.values()) > PATTERNS // 2
    assert sum(each is None for each in expected.values()) > PATTERNS // 2
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    rows = [(at, each, *row) for at, row in enumerate(_ROWS) for each in patterns]
    frame = spark.createDataFrame(rows, f"at INT, p STRING, {_TYPES}")
    environment.create_temporary_view("t", environment.from_data_stream(frame, uid="patterns"))
    changes = environment.execute_sql("SELECT at, p, PRINTF(p, i, l, d, b, s) FROM t").collect()
    assert {(at, pattern): text for at, pattern, text in changes} == expected


CONSTANTS: dict[str, str | None] = {
    "PRINTF('%-d', i)": None,
    "PRINTF('%+s', s)": None,
    "PRINTF('%.2d', i)": None,
    "PRINTF('%c', i - 68)": None,
    "PRINTF('%c', i)": "A",
    "PRINTF('%,x', i)": None,
    "PRINTF('%tY', l)": "1970",
    "PRINTF('%', i)": None,
    "PRINTF('% ', i)": None,
    "PRINTF('%1$%|%-5%|', i)": "%|%    |",
    "PRINTF('%<n', i)": None,
    "PRINTF('%tY', CAST(NULL AS STRING))": "null",
    "PRINTF(s || 'q', i)": None,
    "PRINTF(s || 'd %s', i, INTERVAL '2' HOUR)": "65 7200000",
    "PRINTF(s || 'd', TIMESTAMP '2024-01-01 00:00:00')": None,
    "PRINTF(s || 's', CAST(1.50 AS DECIMAL(4, 2)))": "1.50",
    "PRINTF(s || 'f', CAST(1.50 AS DECIMAL(4, 2)))": None,
    "PRINTF(s)": None,
    "PRINTF(CAST(NULL AS STRING), i)": None,
}
"""Expressions over the columns, and what Flink gives for them."""


@pytest.mark.spark
def test_constant_patterns_are_read_as_java_reads_them(spark: SparkSession) -> None:
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    query = f"SELECT {', '.join(CONSTANTS)} FROM (VALUES (65, CAST(5 AS BIGINT), '%')) AS t (i, l, s)"
    (row,) = environment.execute_sql(query).collect()
    assert dict(zip(CONSTANTS, row, strict=True)) == CONSTANTS
