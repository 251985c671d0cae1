"""Positions, lengths and digits at the ends of INT, beside what Flink 2.3 gave for them (`flink/positions.jsonl`).

A line has an expression over columns (`over`: a text s, numbers p and q), and its values by what stands in these. Where
Flink fails the job there is none. One query has all expressions over the same columns.
"""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from execnodes.core.errors import JobError
from rekindle.api.table_environment import TableEnvironment

pytestmark = pytest.mark.spark
_ANSWERS = Path(__file__).parent / "flink" / "positions.jsonl"
_LEAST, _MOST = -(2**31), 2**31 - 1
_TEXTS = ("", "b", "abcab", "😀b😀")
_PLACES = (_LEAST, _LEAST + 1, -6, -1, 0, 1, 2, 5, 6, _MOST - 1, _MOST)


@pytest.fixture(scope="module")
def environment(spark: SparkSession) -> TableEnvironment:
    return TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)


def _answers() -> dict[str, dict[str, dict[str, str | None]]]:
    """By columns, expression and values of the columns."""
    found: dict[str, dict[str, dict[str, str | None]]] = defaultdict(dict)
    for line in _ANSWERS.read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        found[answer["over"]][answer["expression"]] = answer["values"]
    return found


@pytest.mark.parametrize("columns", ["p", "sp", "pq", "spq"])
def test_positions_are_those_of_flink(environment: TableEnvironment, columns: str) -> None:
    answers = _answers()[columns]
    values = [_TEXTS if column == "s" else _PLACES for column in columns]
    rows = {"|".join(map(str, row)): row for row in product(*values)}
    tuples = ", ".join(f"('{key}', {', '.join(map(_literal, row))})" for key, row in rows.items())
    texts = ", ".join(f"CAST({expression} AS STRING)" for expression in answers)
    query = f"SELECT k, {texts} FROM (VALUES {tuples}) AS t (k, {', '.join(columns)})"
    wrong = []
    for _, (key, *found) in environment.execute_sql(query).collect_changes():
        for (expression, expected), value in zip(answers.items(), found, strict=True):
            if key in expected and value != expected[key]:
                wrong.append(f"{expression} of {key}: {value!r}, Flink {expected[key]!r}")
    assert not wrong, "\n".join(wrong)


def _literal(value: object) -> str:
    return f"CAST('{value}' AS STRING)" if isinstance(value, str) else f"CAST('{value}' AS INT)"


CONSTANTS = {
    "LOCATE('b', 'ab', -2147483648)": "0",
    "LOCATE('', 'ab', -2147483648)": "1",
    "LOCATE('b', 'ab', -2147483647)": "2",
    "LOCATE('b', 'ab', 2147483647)": "0",
    "SUBSTRING('abc', -2147483648)": "",
    "SUBSTRING('abc' FROM 2 FOR 2147483647)": "bc",
    "OVERLAY('abcab' PLACING 'XY' FROM 2 FOR 2147483640)": "aXY",
    "OVERLAY('abcab' PLACING 'XY' FROM 6 FOR 2147483647)": "abcab",
    "CAST(TO_TIMESTAMP('x') AS STRING)": None,
    "CAST(TO_DATE('x') AS STRING)": None,
    "CAST(TO_TIMESTAMP('x', 'yyyy') AS STRING)": None,
    "CAST(TO_TIMESTAMP_LTZ('x', 'yyyy') AS STRING)": None,
    "CAST(TO_TIMESTAMP_LTZ('2024-02-30 00:00:00') AS STRING)": "2024-02-29 00:00:00.000",
    "CAST(TO_TIMESTAMP_LTZ(CAST(NULL AS STRING)) AS STRING)": None,
}
"""What Flink 2.3 gives for constants."""
BEYOND = {
    "OVERLAY('abcab' PLACING 'XY' FROM 2 FOR 2147483647)": "aXY",
    "OVERLAY('abcab' PLACING 'XY' FROM 1 FOR 2147483647)": "XY",
    "INSTR('abcab', 'b', 1, 2147483647)": "0",
    "INSTR('abcab', 'b', -1, 2147483647)": "0",
}
"""Where Flink fails the job, or finds no end."""


def test_constants_are_those_of_flink(environment: TableEnvironment) -> None:
    expected = {**CONSTANTS, **BEYOND}
    texts = ", ".join(f"CAST({each} AS STRING)" for each in expected)
    ((_, row),) = environment.execute_sql(f"SELECT {texts}").collect_changes()
    assert dict(zip(expected, row, strict=True)) == expected


@pytest.mark.parametrize("text", ["x", "", "2024-13-01 00:00:00", "2024-01-01 00:00"])
def test_a_text_that_is_no_instant_fails_the_job(environment: TableEnvironment, text: str) -> None:
    query = f"SELECT TO_TIMESTAMP_LTZ(x) FROM (VALUES ('2024-01-01'), ('{text}')) AS t (x)"
    with pytest.raises(JobError, match="TIMESTAMP_LTZ"):
        list(environment.execute_sql(query).collect_changes())
