"""`_` at the end of a line, zones in patterns, names of character sets, JSON of objects: Flink's answers."""

from __future__ import annotations

import datetime as dt

import pytest
from pyspark.sql import SparkSession

from execnodes.core.errors import SqlError
from execnodes.functions.patterns import like_to_regex
from rekindle.api.table_environment import TableEnvironment

TEN = dt.datetime(2024, 3, 5, 10)
LINES = "CONCAT('a', CHR(10), 'b')"
ANSWERS = {
    "TO_TIMESTAMP('2024-03-05 10:00:00 +0200', 'yyyy-MM-dd HH:mm:ss Z')": TEN,
    "TO_TIMESTAMP('2024-03-05 10:00:00 +02:00', 'yyyy-MM-dd HH:mm:ss XXX')": TEN,
    "TO_TIMESTAMP('2024-03-05 10:00:00 PST', 'yyyy-MM-dd HH:mm:ss z')": TEN,
    "TO_TIMESTAMP('2024-03-05 10:00:00 -08', 'yyyy-MM-dd HH:mm:ss x')": TEN,
    "TO_TIMESTAMP('2024-03-05 10:00:00 Europe/Berlin', 'yyyy-MM-dd HH:mm:ss VV')": TEN,
    "TO_TIMESTAMP('2024-03-05 -0800', 'yyyy-MM-dd Z')": dt.datetime(2024, 3, 5),
    "CAST(TO_TIMESTAMP_LTZ('2024-03-05 10:00:00 +0200', 'yyyy-MM-dd HH:mm:ss Z') AS TIMESTAMP(3))": TEN,
    "CAST(TO_TIMESTAMP_LTZ('2024-03-05 10:00:00 +02:00', 'yyyy-MM-dd HH:mm:ss XXX', 'Europe/Berlin') AS TIMESTAMP(3))": (  # noqa: E501
        dt.datetime(2024, 3, 5, 9)
    ),
    "ENCODE('\u00e4', 'latin1')": b"\xe4",
    "ENCODE('\u00e4', 'utf8')": b"\xc3\xa4",
    "ENCODE('\u00e4', 'ascii')": b"?",
    "ENCODE('\u00e4', 'utf_16')": b"\xfe\xff\x00\xe4",
    "ENCODE('\u00e4', latin)": b"\xe4",
    "DECODE(x'e4', 'latin1')": "\u00e4",
    "DECODE(x'e4', latin)": "\u00e4",
    "ENCODE('\u00e4\u00e9\u20ac\u201c\u4e2d', 'windows-1252')": b"\xe4\xe9\x80\x93?",
    "ENCODE('aB1\u00e4{\u4e2d', 'IBM037')": b"\x81\xc2\xf1\x43\xc0\x3f",
    "ENCODE(CONCAT('a', CHR(10)), 'cp037')": b"\x81\x15",
    "ENCODE('\u0416\U0001f600', 'koi8-r')": b"\xf6?",
    "DECODE(x'80818d8f909d9f', 'windows-1252')": "\u20ac\ufffd\ufffd\ufffd\ufffd\ufffd\u0178",
    "DECODE(x'8182c1f04a5a2515', 'IBM037')": "abA0\u00a2!\n\n",
    "DECODE(x'a4', 'ISO8859_15')": "\u20ac",
    f"{LINES} LIKE 'a_b'": False,
    f"{LINES} LIKE 'a%b'": True,
    f"{LINES} NOT LIKE 'a_b'": True,
    "CONCAT('a', CHR(10)) LIKE 'a'": False,
    "CONCAT('a', CHR(10)) LIKE 'a_'": False,
    f"{LINES} LIKE pattern": False,
    "'axb' LIKE pattern": True,
    f"{LINES} LIKE pattern ESCAPE '!'": False,
    f"{LINES} NOT LIKE pattern ESCAPE '!'": True,
    "'axb' LIKE pattern ESCAPE '!'": True,
    "'a_!%.b' LIKE escaped ESCAPE '!'": True,
    "'ax!%.b' LIKE escaped ESCAPE '!'": False,
    "CONCAT('a_!%.', CHR(10)) LIKE escaped ESCAPE '!'": False,
    """JSON_QUERY('{"a":{"b":1},"c":[1,2]}', '$.*')""": '[{"b":1},[1,2]]',
    """JSON_QUERY('{"a":{"b":1},"c":[1,2]}', '$.a.*' WITH WRAPPER)""": "[[1]]",
    """JSON_QUERY('{"a":{"b":1},"c":[1,2]}', '$[*]')""": '[{"b":1},[1,2]]',
    """JSON_QUERY('{"a":{"b":1},"c":[1,2]}', 'lax $[*]' WITH WRAPPER)""": '[[{"b":1},[1,2]]]',
    """JSON_VALUE('{"a":{"b":1},"c":[1,2]}', '$.a.length()')""": "1",
    """JSON_VALUE('{"a":{"b":1},"c":[1,2]}', '$.length()')""": "2",
    """JSON_VALUE('{"a b":{"c":1}}', '$.["a b"].c')""": "1",
    """JSON_VALUE('{"a b":{"c":1}}', 'strict $.[''a b''].c')""": "1",
    """JSON_VALUE('{"a":{"b":[5,6]}}', 'lax a.b[1]')""": "6",
    """JSON_QUERY('[{"b":1,"c":"x"},{"b":2,"c":"y"}]', '$[?(@.c == "y")].b')""": "[2]",
    """JSON_VALUE('{"a":"xyz"}', '$.a.length()')""": None,
    "'(x+' LIKE '(_+'": True,
    "'a_b' LIKE 'a!_b' ESCAPE '!'": True,
    "'axb' LIKE 'a!_b' ESCAPE '!'": False,
}
"""Expressions, and what Flink gives for them."""


@pytest.mark.spark
def test_values_are_those_of_flink(spark: SparkSession) -> None:
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    columns = "(VALUES ('latin1', 'a_b', 'a!_!!!%._')) AS t (latin, pattern, escaped)"
    ((_, row),) = environment.execute_sql(f"SELECT {', '.join(ANSWERS)} FROM {columns}").collect_changes()
    assert dict(zip(ANSWERS, row, strict=True)) == ANSWERS


def test_patterns_of_like_as_regular_expressions() -> None:
    assert like_to_regex("a_b%") == r"\A(?:a.b(?s:.*))\z"
    assert like_to_regex("(._", None) == r"\A(?:\(\..)\z"
    assert like_to_regex("a!_!%!!_", "!") == r"\A(?:a_%!.)\z"


def test_a_character_set_that_is_not_known_is_refused() -> None:
    with pytest.raises(SqlError, match="ENCODE: character set 'nope' is not supported"):
        TableEnvironment.create().sql_query("SELECT ENCODE('a', 'nope')").get_schema()
