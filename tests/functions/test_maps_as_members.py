"""Collections that hold MAPs, which Spark does not compare."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from execnodes.core.errors import JobError, SqlError
from rekindle.api.table_environment import TableEnvironment

A, B = "MAP['a', 1]", "MAP['b', 2]"
ANSWERS = {
    f"ARRAY_CONTAINS(ARRAY[{A}, {B}], {B})": True,
    f"ARRAY_CONTAINS(ARRAY[{A}], {B})": False,
    f"ARRAY_CONTAINS(ARRAY[ROW({A})], ROW({A}))": True,
    f"ARRAY_POSITION(ARRAY[{B}, {A}], {A})": 2,
    f"ARRAY_POSITION(ARRAY[{B}], {A})": 0,
    f"CAST(ARRAY_REMOVE(ARRAY[{A}, {B}], {A}) AS STRING)": "[{b=2}]",
    f"CAST(ARRAY_DISTINCT(ARRAY[{A}, {B}, {A}]) AS STRING)": "[{a=1}, {b=2}]",
    f"CAST(MAP_ENTRIES(MAP['k', {A}]) AS STRING)": "[(k, {a=1})]",
    f"ARRAY[{A}] = ARRAY[{A}]": True,
    f"ROW(1, {A}) <> ROW(1, {A})": False,
    f"MAP['k', {A}] = MAP['k', {B}]": False,
    "MAP['k', ARRAY[1]] = MAP['k', ARRAY[1]]": True,
    f"{A} IN ({B}, {A})": True,
    f"{A} NOT IN ({B}, {A})": False,
    "MAP['a', 1, 'b', 2] IN (MAP['b', 2, 'a', 1])": True,
    f"{A} IS DISTINCT FROM {B}": True,
    f"{A} IS NOT DISTINCT FROM CAST(NULL AS MAP<STRING, INT>)": False,
    f"NULLIF(ARRAY[{A}], ARRAY[{A}]) IS NULL": True,
    f"CAST(ARRAY_UNION(ARRAY[{A}], ARRAY[{A}, {B}]) AS STRING)": "[{a=1}, {b=2}]",
    f"CAST(ARRAY_EXCEPT(ARRAY[{A}, {B}, {B}], ARRAY[{A}]) AS STRING)": "[{b=2}]",
    f"CAST(ARRAY_INTERSECT(ARRAY[{A}], ARRAY[{B}, {A}]) AS STRING)": "[{a=1}]",
    f"ARRAY_UNION(ARRAY[{A}], CAST(NULL AS ARRAY<MAP<STRING, INT>>)) IS NULL": True,
}
"""Expressions, and what Flink gives for them."""


@pytest.mark.spark
def test_maps_are_found_among_members(spark: SparkSession) -> None:
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    ((_, row),) = environment.execute_sql(f"SELECT {', '.join(ANSWERS)}").collect_changes()
    assert dict(zip(ANSWERS, row, strict=True)) == ANSWERS
    with pytest.raises(JobError, match="a key of a MAP is NULL"):
        list(environment.execute_sql("SELECT MAP[x, 1] FROM (VALUES (CAST(NULL AS STRING))) AS t (x)").collect())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (f"ARRAY_MIN(ARRAY[{A}])", "ARRAY_MIN does not compare members of type MAP"),
        (f"MAP[{A}, 1]", "a key of a MAP cannot be of type MAP"),
        ("JSON_QUERY('{}', '$' RETURNING ARRAY<STRING> EMPTY OBJECT ON ERROR)", "EMPTY OBJECT is no ARRAY"),
        ("'ab' LIKE 'a!b' ESCAPE '!'", "Invalid escape sequence in 'a!b'"),
    ],
)
def test_what_cannot_be_is_refused_by_name(call: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        TableEnvironment.create().sql_query(f"SELECT {call}").get_schema()
