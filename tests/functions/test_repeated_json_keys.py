"""A JSON object that has a key twice, as Flink reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rekindle import TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ANSWERS = {
    """'{"a":1,"a":2}' IS JSON""": True,
    """'{"a":1,"a":2}' IS JSON OBJECT""": True,
    """JSON_EXISTS('{"a":1,"a":2}', '$.a')""": True,
    """JSON_VALUE('{"a":1,"b":3,"a":2}', '$.a')""": "2",
    """JSON_VALUE('{"a":1,"b":3,"a":null}', '$.a')""": None,
    """JSON_QUERY('{"b":1,"a":2,"b":{"c":1,"c":5}}', '$')""": '{"a":2,"b":{"c":5}}',
    """JSON_OBJECT('k' VALUE JSON('{"b":1,"a":2,"b":3}'))""": '{"k":{"a":2,"b":3}}',
    "JSON_QUERY(s, '$.a')": '{"x":[2]}',
}
"""Expressions, and what Flink gives for them."""


@pytest.mark.spark
def test_the_last_value_of_a_key_counts(spark: SparkSession) -> None:
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    text = """(VALUES ('{"z":1,"a":{"x":1,"x":[2]},"z":2}')) AS t (s)"""
    ((_, row),) = environment.execute_sql(f"SELECT {', '.join(ANSWERS)} FROM {text}").collect_changes()
    assert dict(zip(ANSWERS, row, strict=True)) == ANSWERS
