"""Values of expressions within each other are those of Flink: all of them in the long suite, one in eight in CI."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rekindle.api.table_environment import TableEnvironment
from tests.functions.flink import NESTED, NESTED_ROWS, Result

pytestmark = pytest.mark.spark
_GROUP = 30


def _same(ours: Any, flink: Any) -> bool:
    """Numbers are near each other: a FLOAT is written with other digits here, a whole DECIMAL with a point."""
    if isinstance(flink, dict) and isinstance(ours, dict):
        return flink.keys() == ours.keys() and all(_same(ours[key], flink[key]) for key in flink)
    if isinstance(flink, list) and isinstance(ours, list):
        return len(flink) == len(ours) and all(map(_same, ours, flink))
    if isinstance(flink, bool) or isinstance(ours, bool):
        return ours is flink
    if isinstance(flink, int | float) and isinstance(ours, int | float):
        return math.isclose(ours, flink, rel_tol=1e-6)
    return bool(ours == flink)


def _check(spark: SparkSession, folder: Path, results: Sequence[Result]) -> None:
    env = TableEnvironment.create({"execution.runtime-mode": "batch", "table.local-time-zone": "UTC"}, spark=spark)
    env.execute_sql(NESTED_ROWS)
    wrong = []
    for start in range(0, len(results), _GROUP):
        group, out = results[start : start + _GROUP], folder / str(start)
        columns = ", ".join(f"x{at} {each.type.removesuffix(' NOT NULL')}" for at, each in enumerate(group))
        env.execute_sql(
            f"CREATE TABLE s{start} (id BIGINT, {columns}) WITH ('connector' = 'filesystem', 'path' = '{out}', "
            "'format' = 'json', 'json.timestamp-format.standard' = 'SQL')"
        )
        values = ", ".join(each.expression for each in group)
        env.execute_sql(f"INSERT INTO s{start} SELECT id, {values} FROM T").await_()
        for path in out.rglob("part-*"):
            for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
                wrong += [
                    f"{each.expression} [{row['id']}]: {row[f'x{at}']!r}, Flink {each.values[row['id']]!r}"
                    for at, each in enumerate(group)
                    if not _same(row[f"x{at}"], each.values[row["id"]])
                ]
        assert sum(len(path.read_text().splitlines()) for path in out.rglob("part-*")) == len(results[0].values)
    assert not wrong, "\n".join(wrong)


def test_some_values_are_those_of_flink(spark: SparkSession, tmp_path: Path) -> None:
    _check(spark, tmp_path, [*NESTED[-160::2], *NESTED[:-160:12]])


@pytest.mark.long
def test_all_values_are_those_of_flink(spark: SparkSession, tmp_path: Path) -> None:
    _check(spark, tmp_path, NESTED)
