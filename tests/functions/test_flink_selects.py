"""Answers of Flink 2.3 to whole SELECTs without tables: names of types, and rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rekindle.api.table_environment import TableEnvironment
from tests.functions.flink.java_texts import format_java

SELECTS = Path(__file__).parent / "flink" / "selects"
"""A file a subject: statements with types and rows, whose cells are as Java prints them."""


SHARE = 40
"""Statements of a test."""


def _lines(subject: str) -> list[str]:
    return (SELECTS / f"{subject}.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("subject", "first"),
    [
        (subject, at)
        for subject in sorted(path.stem for path in SELECTS.glob("*.jsonl"))
        for at in range(0, len(_lines(subject)), SHARE)
    ],
)
def test_selects_give_what_flink_gives(spark: SparkSession, subject: str, first: int) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    wrong = {}
    for answer in map(json.loads, _lines(subject)[first : first + SHARE]):
        found = _ask(env, answer["sql"], with_rows="rows" in answer)
        expected = {key: answer[key] for key in found}
        if found != expected:
            wrong[answer["sql"]] = (found, expected)
    assert wrong == {}


def _ask(env: TableEnvironment, query: str, *, with_rows: bool) -> dict[str, Any]:
    types = env.sql_query(query).get_resolved_schema().get_column_data_types()
    answer: dict[str, Any] = {"types": [str(each).replace("INTERVAL SECOND", "INTERVAL SECOND(3)") for each in types]}
    if with_rows:
        changes = env.execute_sql(query).collect_changes()
        answer["rows"] = sorted(([format_java(value) for value in row] for _, row in changes), key=str)
    return answer
