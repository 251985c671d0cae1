"""Conditions that the filesystem source takes over: rows, files that are not opened, what is left to the runtime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execnodes.lowering.stream import Condition
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.registry import find_source
from tests.connectors.helpers import read, source_request, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ABOVE = Condition(frozenset({0}), lambda columns: f"({columns[0]} > 3)")
IN_X = Condition(frozenset({1}), lambda columns: f"({columns[1]} = 'x')")
BOTH = Condition(frozenset({0, 1}), lambda columns: f"({columns[0]} > 3) AND ({columns[1]} = 'x')")


def folders(path: Path, kind: str) -> Any:
    """Folder x with the numbers 1 to 6; the file of folder y is no parquet file, nor a line of JSON."""
    (path / "d=x").mkdir(parents=True)
    (path / "d=y").mkdir()
    if kind == "parquet":
        pq.write_table(pa.table({"a": pa.array(range(1, 7), pa.int32())}), path / "d=x" / "0.parquet")
    else:
        (path / "d=x" / "0.json").write_text("".join(f'{{"a": {a}}}\n' for a in range(1, 7)), encoding="utf-8")
    (path / "d=y" / f"0.{kind}").write_text("broken\n", encoding="utf-8")
    options = {"connector": "filesystem", "format": kind, "path": str(path)}
    return table({"a": "INT", "d": "STRING"}, options, partitions=("d",))


@pytest.mark.parametrize("batch", [True, False])
def test_rows_and_files_that_do_not_fit_are_not_read(spark: SparkSession, tmp_path: Path, batch: bool) -> None:
    given = folders(tmp_path / "t", "parquet")
    rows = read(spark, given, tmp_path / "job", batch=batch, condition=BOTH)
    assert rows == [(4, "x"), (5, "x"), (6, "x")]


def test_parquet_is_asked_by_its_statistics(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = folders(tmp_path / "t", "parquet")
    for condition, pushed in ((None, False), (ABOVE, True)):
        request = source_request(given, tmp_path / "job", batch=True, ordered=True, condition=condition)
        frame = find_source("filesystem").read(spark, request).frame
        frame.where("c0 > 3").explain()
        assert ("GreaterThan(a,3)" in capsys.readouterr().out) == pushed


def test_lines_are_filtered_by_their_folder_alone(spark: SparkSession, tmp_path: Path) -> None:
    given = folders(tmp_path / "t", "json")
    source = find_source("filesystem")
    for number, (condition, taken) in enumerate({IN_X: True, ABOVE: False, BOTH: False}.items()):
        request = source_request(given, tmp_path / str(number), ordered=True, condition=condition)
        assert source.read(spark, request).filtered == taken
    assert [a for a, _ in read(spark, given, tmp_path / "job", condition=IN_X)] == [1, 2, 3, 4, 5, 6]


def test_a_table_that_has_become_another_is_filtered_all_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """The plan was compiled for parquet; the catalog has lines of JSON under the name now."""
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "0.json").write_text("".join(f'{{"a": {a}}}\n' for a in range(1, 7)), encoding="utf-8")
    ddl = f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 't'}', 'format' = '%s')"
    then, now = (TableEnvironment.create({"table.plan.restore.catalog-objects": "IDENTIFIER"}) for _ in range(2))
    then.execute_sql(ddl % "parquet")
    plan = tmp_path / "plan.json"
    then.compile_plan_sql("SELECT a FROM t WHERE a > 3").write_to_file(plan)
    assert "FilterPushDown" in plan.read_text(encoding="utf-8")
    now.execute_sql(ddl % "json")
    rows = now.execute_sql(f"EXECUTE PLAN '{plan}'").collect_changes()
    assert sorted(row[0] for _, row in rows) == [4, 5, 6]
