"""Answers of Flink 2.3 to expressions that versions of functions before 1.5 answered otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from execnodes.core.errors import JobError, SqlError
from rekindle.api.table_environment import TableEnvironment

COLUMNS = {
    "REGEXP_EXTRACT(a, b, 1)": (
        "('abde', 'ab(c)?de'), ('abcde', 'ab(c)?de'), ('abdeabcde', 'ab(c)?de'), ('de', '(ab)|(de)'), ('', '(a)?'),"
        " ('', '(a*)'), ('AB', '(?i)a(c)?b'), ('abab', '(?:(a)|b)*'), ('ba', '(?:(a)|b)*?b'), ('xyz', 'ab(c)?de')",
        [None, "c", None, None, None, "", None, "a", None, None],
    ),
    "REGEXP_EXTRACT_ALL(a, b, 1)": (
        "('abdeabcde', 'ab(c)?de'), ('de', '(ab)|(de)'), ('', '(a)?'), ('aXbXc', '(X)|(?=b)()'), ('aab', '(a)?b|a'),"
        " ('😀ab😀abc', 'ab(c)?'), ('abab', '(a)|(b)'), ('xyz', 'ab(c)?de')",
        [[None, "c"], [None], [None], ["X", None, "X"], [None, "a"], [None, "c"], ["a", None, "a", None], []],
    ),
    "JSON_UNQUOTE(a)": (
        r"""('"a"b"'), ('"a"'), ('a'), ('"a\u0041"'), ('"\uZZZZ"'), ('"a\"b"'), ('"'), ('""'), (''), ('"a\"'),"""
        r"""('"a\\"'),"""
        r"""('[1,"a"]'), ('"a\nb"'), ('"a\xb"'), ('"\u00"'), ('"abc'), (' "a" '), ('"a" "b"'), ('"a""b"'), ('"\\""'),"""
        "('\"a\tb\"')",
        ['a"b', "a", "a", "aA", r'"\uZZZZ"', 'a"b', '"', "", "", r'"a\"', "a\\", '[1,"a"]', "a\nb", r'"a\xb"',
         r'"\u00"', '"abc', ' "a" ', 'a" "b', 'a""b', '\\"', '"a\tb"'],
    ),
    "INET_ATON(a)": (
        "('256.1.1.1'), ('1.2.3.4'), ('1.2.3'), ('4294967295'), ('127.1'), ('1.255.256'), ('1.2.65535'), ('999'),"
        " ('10'), ('00000000001'), ('99999999999999999999'), ('1..2'), ('255.255')",
        [None, 16909060, 16908291, None, 2130706433, None, None, None, 10, 1, None, None, 4278190335],
    ),
    "ARRAY_SORT(ARRAY[3, NULL, 1], a)": (
        "(TRUE), (FALSE), (CAST(NULL AS BOOLEAN))",
        [[None, 1, 3], [3, 1, None], None],
    ),
    "ARRAY_SORT(ARRAY[3, NULL, 1], TRUE, a)": (
        "(TRUE), (FALSE), (CAST(NULL AS BOOLEAN))",
        [[None, 1, 3], [1, 3, None], None],
    ),
    "CAST(CEIL(a TO MILLISECOND) AS STRING)": (
        "(TIMESTAMP '2024-01-01 00:00:00.1234'), (TIMESTAMP '1969-12-31 23:59:59.9999'),"
        " (TIMESTAMP '1969-12-31 23:59:59.1230')",
        ["2024-01-01 00:00:00.1240", "1970-01-01 00:00:00.0000", "1969-12-31 23:59:59.1230"],
    ),
    "PRINTF('%s', a)": (
        "(TIMESTAMP '2024-01-01 10:00:05'), (TIMESTAMP '2024-01-01 10:00:00'), (TIMESTAMP '2024-01-01 10:00:05.1234'),"
        " (TIMESTAMP '0001-01-01 00:00:00'), (CAST(NULL AS TIMESTAMP(3)))",
        ["2024-01-01T10:00:05", "2024-01-01T10:00", "2024-01-01T10:00:05.123400", "0001-01-01T00:00", "null"],
    ),
}  # fmt: skip
"""Expression over the columns a, b: rows, and what Flink gives for each."""
CONSTANTS = {
    "REGEXP_EXTRACT('abde', 'ab(c)?de', 1)": None,
    "REGEXP_EXTRACT('abde', '(ab)|(de)', 2)": None,
    "REGEXP_EXTRACT('ab', '(a)()b', 2)": "",
    "REGEXP_EXTRACT_ALL('abxabcx', '(ab)(c)?(x)', 2)": [None, "c"],
    "ARRAY_SORT(ARRAY[3, NULL, 1], FALSE, TRUE)": [None, 3, 1],
    "PRINTF('%s %d %s', DATE '2024-01-01', DATE '2024-01-01', TIME '10:00:00')": "19723 19723 36000000",
    "PRINTF('%d', TIMESTAMP '2024-01-01 10:00:05')": None,
    "PRINTF('%.1f', DATE '2024-01-01')": None,
    "TRY_CAST(ARRAY['a', '1'] AS ARRAY<INT>)": None,
    "TRY_CAST(ARRAY['2', CAST(NULL AS STRING)] AS ARRAY<INT>)": [2, None],
    "TRY_CAST(MAP['a', 1] AS MAP<INT, INT>)": None,
    "TRY_CAST(MAP['1', 'b'] AS MAP<INT, INT>)": None,
    "TRY_CAST(MAP['1', '2'] AS MAP<INT, INT>)": [(1, 2)],
    "TRY_CAST(ROW('1', ROW('z', 2)) AS ROW<x INT, y ROW<a INT, b INT>>)": None,
    "TRY_CAST(ARRAY[ROW('1', ARRAY['y'])] AS ARRAY<ROW<a INT, b ARRAY<DOUBLE>>>)": None,
    "TRY_CAST(ARRAY['2024-01-01', 'x'] AS ARRAY<DATE>)": None,
    "TRY_CAST(ARRAY[300, 2] AS ARRAY<TINYINT>)": [44, 2],
}
TEXTS_AS_TIMES = [
    json.loads(line)
    for line in (Path(__file__).parent / "flink" / "texts_as_times.jsonl").read_text(encoding="utf-8").splitlines()
]
"""A type of time, and what Flink makes of texts as that type, as a text again."""


@pytest.fixture(scope="module")
def environment(spark: SparkSession) -> TableEnvironment:
    return TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)


@pytest.mark.spark
@pytest.mark.parametrize("expression", COLUMNS)
def test_answers_over_columns_are_those_of_flink(environment: TableEnvironment, expression: str) -> None:
    rows, expected = COLUMNS[expression]
    names = "a, b" if "(a, b" in expression else "a"
    query = f"SELECT {expression} FROM (VALUES {rows}) AS t ({names})"
    assert [_plain(row[0]) for _, row in environment.execute_sql(query).collect_changes()] == expected


@pytest.mark.spark
def test_answers_for_constants_are_those_of_flink(environment: TableEnvironment) -> None:
    ((_, row),) = environment.execute_sql(f"SELECT {', '.join(CONSTANTS)}").collect_changes()
    assert dict(zip(CONSTANTS, map(_plain, row), strict=True)) == CONSTANTS


@pytest.mark.spark
@pytest.mark.parametrize("answers", TEXTS_AS_TIMES, ids=lambda answers: answers["type"])
def test_texts_are_read_as_times_as_flink_reads_them(environment: TableEnvironment, answers: dict[str, Any]) -> None:
    rows = ", ".join(f"('{text}')" for text in answers["texts"])
    read = f"CAST(TRY_CAST(CAST(x AS STRING) AS {answers['type']}) AS STRING)"
    found = environment.execute_sql(f"SELECT CAST(x AS STRING), {read} FROM (VALUES {rows}) AS t (x)").collect_changes()
    assert {row[0]: row[1] for _, row in found} == answers["texts"]


@pytest.mark.spark
def test_a_text_that_is_no_time_fails_a_cast(environment: TableEnvironment) -> None:
    with pytest.raises(JobError, match="123"):
        list(environment.execute_sql("SELECT CAST(x AS TIME) FROM (VALUES ('123')) AS t (x)").collect_changes())


def test_a_remainder_of_whole_decimals_has_the_type_of_the_divisor() -> None:
    types = {"(5, 0)": "(10, 0)", "(10, 0)": "(5, 0)", "(10, 2)": "(6, 4)"}
    columns = ", ".join(f"MOD(CAST(5 AS DECIMAL{a}), CAST(3 AS DECIMAL{b}))" for a, b in types.items())
    schema = TableEnvironment.create().sql_query(f"SELECT {columns}").get_schema()
    found = [str(each) for each in schema.get_column_data_types()]
    assert found == [f"DECIMAL{b} NOT NULL" for b in types.values()]


@pytest.mark.spark
def test_a_remainder_of_a_whole_decimal_by_an_integer_has_its_type(environment: TableEnvironment) -> None:
    columns = ", ".join(f"x % CAST(4 AS {t})" for t in ("INT", "SMALLINT", "BIGINT"))
    query = f"SELECT {columns}, CAST(x AS DECIMAL(5, 1)) % 4 FROM (VALUES CAST(7 AS DECIMAL(10, 0)), -7) AS t (x)"
    result = environment.execute_sql(query)
    assert [str(t.not_null()) for t in result.types] == [
        "INT NOT NULL",
        "SMALLINT NOT NULL",
        "BIGINT NOT NULL",
        "DECIMAL(5, 1) NOT NULL",
    ]
    assert sorted([*map(int, row)] for _, row in result.collect_changes()) == [[-3] * 4, [3] * 4]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value


INSTANTS = {
    "TO_TIMESTAMP_LTZ('1970-01-01 00:00:00.12345', 'yyyy-MM-dd HH:mm:ss.SSSSS')": (5, "1970-01-01 00:00:00.123450"),
    "TO_TIMESTAMP_LTZ('1970-01-01 00:00:00.123', 'yyyy-MM-dd HH:mm:ss.SSSSS')": (5, "1970-01-01 00:00:00.123000"),
    "TO_TIMESTAMP_LTZ('1970-01-01 00:00:00.1234567', 'yyyy-MM-dd HH:mm:ss.SSS')": (3, "1970-01-01 00:00:00.123000"),
    "TO_TIMESTAMP_LTZ('1970-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss.SSS')": (3, "1970-01-01 00:00:00.000000"),
    "TO_TIMESTAMP_LTZ('2023-01-01 12:30:00', 'yyyy-MM-dd HH:mm:ss', 'America/Los_Angeles')": (
        3,
        "2023-01-01 20:30:00.000000",
    ),
    "TO_TIMESTAMP_LTZ('2023-01-01', 'yyyy-MM-dd', CAST(NULL AS STRING))": (3, None),
    "TO_TIMESTAMP_LTZ('2023-01-01', CAST(NULL AS STRING))": (3, None),
    "TO_TIMESTAMP_LTZ(CAST(100.123 AS DOUBLE), 0)": (3, "1970-01-01 00:01:40.123000"),
    "TO_TIMESTAMP_LTZ(CAST(-100.1239 AS DOUBLE), 0)": (3, "1969-12-31 23:58:19.876000"),
    "TO_TIMESTAMP_LTZ(CAST(100.7 AS FLOAT), 0)": (3, "1970-01-01 00:01:40.699000"),
    "TO_TIMESTAMP_LTZ(-100.9, 0)": (3, "1969-12-31 23:58:20.000000"),
    "TO_TIMESTAMP_LTZ(100, 2)": (3, "1970-01-01 00:00:01.000000"),
    "TO_TIMESTAMP_LTZ(100123, 4)": (4, "1970-01-01 00:00:10.012300"),
    "TO_TIMESTAMP_LTZ(-100123, 6)": (6, "1969-12-31 23:59:59.899877"),
    "TO_TIMESTAMP_LTZ(CAST(12.5 AS DOUBLE), 4)": (4, "1970-01-01 00:00:00.001200"),
    "TO_TIMESTAMP_LTZ(9223372036854775807, 3)": (3, None),
    "TO_TIMESTAMP_LTZ(253402300800, 0)": (3, None),
}
"""Digits of the type, and the value."""


@pytest.mark.spark
def test_instants_are_those_of_flink(environment: TableEnvironment) -> None:
    result = environment.execute_sql(f"SELECT {', '.join(INSTANTS)}")
    ((_, row),) = result.collect_changes()
    found = [None if each is None else f"{each:%Y-%m-%d %H:%M:%S.%f}" for each in row]
    types = environment.sql_query(f"SELECT {', '.join(INSTANTS)}").get_schema().get_column_data_types()
    assert list(zip([each.precision for each in types], found, strict=True)) == list(INSTANTS.values())


@pytest.mark.spark
def test_patterns_and_zones_of_columns_that_do_not_exist_give_null(environment: TableEnvironment) -> None:
    rows = "('yyyy-MM-dd', 'Asia/Tokyo'), ('bad', 'UTC'), ('yyyy-MM-dd', 'Nowhere'), ('yyyy-MM-dd', '+5'),"
    rows += " ('yyyy-MM-dd', 'utc'), ('yyyy-MM-dd', ''), ('yyyy-MM-dd', 'GMT+2'), ('yyyy-MM-dd', '+05:30')"
    query = f"SELECT TO_TIMESTAMP_LTZ('2023-01-01', p, z) FROM (VALUES {rows}) AS t (p, z)"
    found = [row[0] and f"{row[0]:%d %H:%M}" for _, row in environment.execute_sql(query).collect_changes()]
    assert found == ["31 15:00", None, None, "31 19:00", None, None, "31 22:00", "31 18:30"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("TO_TIMESTAMP_LTZ('2023', 'yyyy', 'Nowhere/Land')", "time zone 'Nowhere/Land' does not exist"),
        ("TO_TIMESTAMP_LTZ('2023', 'bad pattern')", "Java has no such pattern"),
        ("TO_TIMESTAMP_LTZ(100, 10)", "a constant from 0 to 9"),
        ("TO_TIMESTAMP_LTZ(100, -1)", "a constant from 0 to 9"),
    ],
)
def test_constants_of_instants_are_checked(call: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        TableEnvironment.create().sql_query(f"SELECT {call}").get_schema()
