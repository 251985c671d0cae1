"""Compacted files of a real Spark: what was written is in them, and a job's savepoints leave no row hidden."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.format import FileFormat
from rekindle.connectors.formats.parquet import Parquet
from rekindle.connectors.options import TableOptions
from rekindle.runtime.job import Job
from tests.connectors.helpers import frame_of, read, sink, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = {
    "i": "INT", "s": "STRING", "d": "DECIMAL(9, 2)", "e": "DECIMAL(18, 4)", "f": "DECIMAL(30, 4)", "x": "BYTES",
    "day": "DATE", "t": "TIME(3)", "ts": "TIMESTAMP(6)", "l": "TIMESTAMP_LTZ(3)", "xs": "ARRAY<INT>",
    "m": "MAP<STRING, INT>", "r": "ROW<`a` INT, `b` STRING>",
}  # fmt: skip
ROW = """({at}, 'a', 1.25BD, 12345678901.5BD, -1234567890123456789.5BD, X'0100', DATE'0001-01-01', 3723004,
    TIMESTAMP_NTZ'0001-01-01 00:00:00.123456', TIMESTAMP'9999-12-31 00:00:00Z', array(1, NULL), map('k', 1),
    named_struct('a', 1, 'b', 'z'), 0Y), ({at} + 1{nothing}, 0Y)"""


@pytest.mark.parametrize("by_spark", [False, True])
def test_merged_parquet_is_as_spark_writes_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_spark: bool
) -> None:
    import pyarrow.parquet as pq

    merged = list[bool]()

    def merge(self: Parquet, files: Sequence[Path], target: Path, options: TableOptions) -> bool:
        merged.append(not by_spark and whole(self, files, target, options))
        return merged[-1]

    whole = Parquet.merge
    monkeypatch.setattr(Parquet, "merge", FileFormat.merge if by_spark else merge)
    tables = [
        table(COLUMNS, {"connector": "filesystem", "format": "parquet", "path": str(tmp_path / name), **more})
        for name, more in (("plain", {}), ("compacted", {"auto-compaction": "true"}))
    ]
    for given in tables:
        writer = sink(spark, given, tmp_path / "job")
        for at in (0, 10):
            text = ROW.format(at=at, nothing=", NULL" * 12)
            writer.write(frame_of(spark, text, ", ".join([*COLUMNS, "rk_kind"])).coalesce(1), at)
        writer.close()
    (compacted,) = (tmp_path / "compacted").glob("*.parquet")
    plain = sorted((tmp_path / "plain").glob("*.parquet"))
    rows = [sorted(read(spark, each, tmp_path / "job"), key=lambda row: int(row[0])) for each in tables]
    assert rows[0] == rows[1]
    assert ([row[0] for row in rows[1]], len(plain)) == ([0, 1, 10, 11], 2)
    facts = [pq.ParquetFile(each) for each in (compacted, plain[0])]
    # Spark reads every column as one that may be NULL.
    assert by_spark or facts[0].schema.equals(facts[1].schema)
    assert {"SNAPPY"} == {each.metadata.row_group(0).column(0).compression for each in facts}
    assert set(facts[1].metadata.metadata) <= set(facts[0].metadata.metadata)
    assert merged == ([] if by_spark else [True])


TABLES = (
    "CREATE TABLE numbers (n INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'json', "
    "'source.monitor-interval' = '20 ms')",
    "CREATE TABLE files (n INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/out', 'format' = 'csv', "
    "'auto-compaction' = 'true')",
)


def test_savepoints_leave_no_row_hidden(spark: SparkSession, tmp_path: Path) -> None:
    def give(number: int) -> None:
        (tmp_path / "new").write_text(json.dumps({"n": number}) + "\n")
        (tmp_path / "new").rename(tmp_path / "in" / f"{number}.json")

    def environment(job: str, **more: str) -> TableEnvironment:
        settings = {"execution.job-dir": str(tmp_path / job), **more}
        made = TableEnvironment.create(settings, spark=spark)
        for each in TABLES:
            made.execute_sql(each.format(folder=tmp_path))
        return made

    def seen() -> list[int]:
        files = (tmp_path / "out").glob("*.csv")
        return sorted(int(line) for each in files for line in each.read_text().splitlines())

    def run(job: str, rows: int, **more: str) -> Job:
        found = environment(job, **more).execute_sql("INSERT INTO files SELECT n FROM numbers").job
        assert found is not None
        wait_for(found, rows)
        return found

    def wait_for(job: Job, rows: int) -> None:
        while (at := job.progress()) is None or at.rows < rows:
            assert not job.wait(0.02)

    (tmp_path / "in").mkdir()
    give(1)
    first = run("first", 1)
    give(2)
    wait_for(first, 2)
    assert seen() == []
    first.savepoint(tmp_path / "savepoint")
    assert seen() == [1, 2]
    give(3)
    wait_for(first, 3)
    assert seen() == [1, 2]
    first.stop(with_savepoint=tmp_path / "last")
    assert seen() == [1, 2, 3]
    give(4)
    second = run("second", 1, **{"execution.state-recovery.path": str(tmp_path / "last")})
    assert seen() == [1, 2, 3]
    second.stop()
    assert seen() == [1, 2, 3, 4]
    assert len(list((tmp_path / "out" / "_rekindle").glob("*/[0-9]*"))) == 2
