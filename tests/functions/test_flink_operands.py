"""Operands that versions of functions before 2.0 refused or failed for, or took though Flink does not."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from execnodes.core.errors import JobError, SqlError
from rekindle.api.table_environment import TableEnvironment

ROW = (
    "(CAST(NULL AS STRING), CAST(NULL AS INT), CAST(123456789 AS BIGINT), DATE '1990-10-14', INTERVAL '5' HOUR,"
    " CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0)), x'6147567362473867643239796247513D')"
)
ANSWERS: dict[str, Any] = {
    "JSON_OBJECT(KEY 'K' VALUE JSON(''))": '{"K":null}',
    "JSON_ARRAY(JSON(' \t'), JSON('1') NULL ON NULL)": "[null,1]",
    "JSON_ARRAY(JSON(s))": "[]",
    """JSON_ARRAY(JSON('"a\\nb"'), JSON('-1.50'), JSON('true'), JSON('null'), JSON('{ "k": ["x", 1] }'))""": (
        r"""["a\nb",-1.50,true,null,{"k":["x",1]}]"""
    ),
    "PRINTF('%d %s', s, s)": "null null",
    "PRINTF('%d %s', i, 'a')": "null a",
    "PRINTF('%d %d', s, 'a')": None,
    "PRINTF('%c|%.1f|%X', s, s, s)": "null|n|NULL",
    "PRINTF('%#d', s)": None,
    "PRINTF('%d %s', s)": None,
    "PRINTF('%s %d', v, v)": "18000000 18000000",
    "CAST(CEIL(d TO DAY) AS STRING)": "1990-10-15",
    "CAST(CEIL(d TO HOUR) AS STRING)": "1990-10-14",
    "CAST(FLOOR(d TO DAY) AS STRING)": "1990-10-14",
    "ROUND(NULLIF(n, 0), -1)": None,
    "ROUND(NULLIF(n, 0) - 4, -1)": None,
    "CAST(ROUND(n - 60, -2) AS STRING)": "99999999999999999999999999999999999900",
    "CAST(TRUNCATE(n, -1) AS STRING)": "99999999999999999999999999999999999990",
    "FROM_BASE64(b)": "hello world",
    "FROM_BASE64('aGVsbG8=')": "hello",
    "'te' LIKE 'te' ESCAPE ''": True,
    "s LIKE '' ESCAPE ''": None,
    "CAST(TO_TIMESTAMP_LTZ(l, i) AS STRING)": None,
    "CAST(TO_TIMESTAMP_LTZ(l, CHAR_LENGTH(HEX(1)) + 4) AS STRING)": "1970-01-01 00:20:34.567",
    "CAST(TO_TIMESTAMP_LTZ(CAST(l AS DOUBLE), CHAR_LENGTH(HEX(1)) + 1) AS STRING)": "1970-01-15 06:56:07.890",
    "TO_TIMESTAMP_LTZ(NULL, 'yyyy-MM-dd')": None,
    "CAST(TIMESTAMP ' 2018-3-1  1:2:3.' AS STRING)": "2018-03-01 01:02:03",
    "CAST(DATE '18-1-1' AS STRING)": "0018-01-01",
    "CAST(TIME '001:2:3.5' AS STRING)": "01:02:03.5",
    "CASE WHEN 1=1then 2else 3end": 2,
}
"""Expressions over the columns, and what Flink gives for them."""


@pytest.mark.spark
def test_operands_are_taken_as_flink_takes_them(spark: SparkSession) -> None:
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    columns = ", ".join(ANSWERS)
    query = f"SELECT {columns} FROM (VALUES {ROW}) AS t (s, i, l, d, v, n, b)"
    ((_, row),) = environment.execute_sql(query).collect_changes()
    assert dict(zip(ANSWERS, row, strict=True)) == ANSWERS
    with pytest.raises(JobError, match="TO_TIMESTAMP_LTZ: no precision: -1"):
        list(environment.execute_sql("SELECT TO_TIMESTAMP_LTZ(1, x) FROM (VALUES (-1)) AS t (x)").collect())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("ARRAY[NULL]", "NULL alone has no type in ARRAY"),
        ("ROW(NULL)", "NULL alone has no type in ROW"),
        ("MAP[NULL, 1]", "NULL alone has no type in MAP"),
        ("EXTRACT(NANOSECOND FROM DATE '2020-01-01')", "EXTRACT does not take"),
        ("EXTRACT(MICROSECOND FROM TIME '10:00:00')", "EXTRACT does not take"),
        ("TIMESTAMPDIFF(DAY, DATE '2020-01-01', TO_TIMESTAMP_LTZ(1, 3))", "TIMESTAMPDIFF does not take"),
        ("JSON_QUERY('{}', '$' RETURNING ARRAY<INT>)", "JSON_QUERY does not return an ARRAY of INT"),
        ("DATE '2018-03-1 '", "'2018-03-1 ' is no DATE"),
        ("TIMESTAMP '2018-03-01T01:02:03'", "is no TIMESTAMP"),
        ("U&'a\\b'", "are not four hexadecimal digits"),
        ("1x", "a number runs into a name: 1x"),
        ("1elsewhere", "a number runs into a name: 1e"),
    ],
)
def test_what_flink_refuses_is_refused(call: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        TableEnvironment.create().sql_query(f"SELECT {call}").get_schema()
