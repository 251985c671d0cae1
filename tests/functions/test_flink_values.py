"""Values of expressions are those of Flink: all of them in the long suite, one in ten in the fast one."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.eras import date_text
from tests.functions.flink import RESULTS, ROWS, Result

pytestmark = pytest.mark.spark
_GROUP = 40


def _plain(value: Any) -> Any:
    """A value of ours as `results.jsonl` has it."""
    match value:
        case bytes() | bytearray():
            return f"x'{bytes(value).hex()}'"
        case Decimal():
            return f"{value:f}"
        case datetime.datetime():
            return f"{value.replace(tzinfo=None).isoformat(sep=' ', timespec='microseconds')}000"
        case datetime.date():
            return value.isoformat()
        case float() if value != value or abs(value) == float("inf"):
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
        case dict():
            return {str(key): _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case _:
            return value


def _same(ours: Any, flink: Any, of: str) -> bool:
    """Rows are lists in the results. Collected, TIME is milliseconds, a MAP pairs, a date beyond Python's a number."""
    if of.startswith("MAP") and isinstance(ours, list):
        ours = {str(key): each for key, each in ours}
    elif of == "DATE" and isinstance(ours, int):
        ours = date_text(ours)
    elif of.startswith("TIME(") and isinstance(ours, int):
        clock = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=ours)
        ours = f"{clock.time().isoformat(timespec='microseconds')}000"
    if isinstance(flink, list):
        members = list(ours.values()) if isinstance(ours, dict) else ours
        return len(members) == len(flink) and all(_same(a, b, "") for a, b in zip(members, flink, strict=True))
    if isinstance(flink, dict):
        return bool(ours.keys() == flink.keys()) and all(_same(ours[key], flink[key], "") for key in flink)
    if isinstance(flink, float) and isinstance(ours, float):
        return bool(ours == pytest.approx(flink, rel=1e-6 if of.startswith("FLOAT") else 1e-14, abs=0))
    return type(ours) is type(flink) and bool(ours == flink)


def _check(spark: SparkSession, results: Sequence[Result]) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch", "table.local-time-zone": "UTC"}, spark=spark)
    env.execute_sql(ROWS)
    wrong = []
    for start in range(0, len(results), _GROUP):
        group = results[start : start + _GROUP]
        columns = ", ".join(f"{each.expression} AS e{at}" for at, each in enumerate(group))
        for _, row in env.execute_sql(f"SELECT k, {columns} FROM T").collect_changes():
            key = row[0]
            wrong += [
                f"{each.expression} [{key}]: {_plain(made)!r}, Flink {each.values[key - 1]!r}"
                for each, made in zip(group, row[1:], strict=True)
                if not _same(_plain(made), each.values[key - 1], each.type)
            ]
    assert not wrong, "\n".join(wrong)


def test_some_values_are_those_of_flink(spark: SparkSession) -> None:
    _check(spark, RESULTS[::10])


@pytest.mark.long
def test_all_values_are_those_of_flink(spark: SparkSession) -> None:
    _check(spark, RESULTS)
