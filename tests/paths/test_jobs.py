"""Jobs, savepoints, tables and databases in folders with hostile names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from execnodes.core.options import Configuration
from plans.format.codec import encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.files.paths import AS_WRITTEN, for_spark
from rekindle.runtime.bootstrap import bootstrap
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.writer import SavepointWriter
from tests.connectors.helpers import frame_of, read, sink, table
from tests.paths.names import ALL_IN_ONE, DATABASE, NAMES, neighbours

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCRIPT = """
CREATE TABLE t (k INT, v BIGINT) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{root}/in');
CREATE TABLE d (k INT, v BIGINT) WITH ('connector' = 'duckdb', 'path' = '{databases}/in.db', 'table' = 'd');
CREATE TABLE a (k INT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '{databases}/out.db', 'table' = 'a');
CREATE TABLE b (k INT, v BIGINT) WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{root}/out');
EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT k, SUM(v) FROM t GROUP BY k;
INSERT INTO b SELECT k, v FROM d UNION ALL SELECT k, v FROM (VALUES (5, CAST(50 AS BIGINT))) AS x(k, v);
END;
"""


def test_spark_reads_and_writes_that_folder(spark: SparkSession, tmp_path: Path) -> None:
    neighbours(tmp_path)
    plain = spark.range(1, 2).selectExpr("id AS k").coalesce(1)
    for name in ALL_IN_ONE, "a:b", "a${env:HOME}b":
        folder = tmp_path / name
        plain.write.parquet(for_spark(spark, folder))
        (file,) = folder.glob("*.parquet")
        rows = spark.read.options(**AS_WRITTEN).schema("k LONG").parquet(for_spark(spark, file))
        assert [row.k for row in rows.collect()] == [1], name


def test_a_job_with_everything_in_such_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    neighbours(tmp_path)
    root = tmp_path / ALL_IN_ONE
    (root / "in").mkdir(parents=True)
    (root / "in" / ALL_IN_ONE).with_suffix(".json").write_text('{"k": 1, "v": 10}\n{"k": 2, "v": 20}\n')
    databases = tmp_path / DATABASE
    databases.mkdir()
    with duckdb.connect(str(databases / "in.db")) as database:
        database.execute("CREATE TABLE d AS SELECT 3 AS k, CAST(30 AS BIGINT) AS v")
    script = SCRIPT.replace("{root}", str(root).replace("'", "''"))
    script = script.replace("{databases}", str(databases).replace("'", "''"))
    plan = TableEnvironment.create({}, spark=spark).compile_script(script)
    plan.write_to_file(root / "plan.json")
    text = encode(plan.graph)

    def run(folder: str, savepoint: str = "", end: str = "") -> StreamJob:
        options = {"execution.job-dir": str(root / folder), "parallelism.default": "1"}
        options |= {"execution.state-recovery.path": str(root / savepoint)} if savepoint else {}
        environment = TableEnvironment.create(options, spark=spark)
        loaded = environment.load_plan(root / "plan.json").graph
        target = root / end if end else None
        job = StreamJob(loaded, text, environment.configuration, spark=spark, savepoint_at_end=target).start()
        job.wait()
        return job

    def totals() -> list[tuple[int, int]]:
        with duckdb.connect(str(databases / "out.db")) as database:
            return database.execute("SELECT * FROM a ORDER BY k").fetchall()

    job = run("job 1", end="savepoint 1")
    taken = job.savepoint(root / "savepoint 2")
    (state,) = taken.states
    assert state.rows == 2
    first, second = (SavepointReader.read(root / f"savepoint {n}") for n in (1, 2))
    assert first.manifest.positions == second.manifest.positions
    assert totals() == [(1, 10), (2, 20)]
    b = table({"k": "INT", "v": "BIGINT"}, {"connector": "filesystem", "format": "parquet", "path": str(root / "out")})
    assert sorted(read(spark, b, root / "look")) == [(3, 30), (5, 50)]

    with first.query(f'SELECT count(*) FROM "{state.uid}"."{state.name}"') as (_, rows):
        assert list(rows) == [(2,)]
    moved = SavepointWriter.from_existing_savepoint(root / "savepoint 2").with_max_parallelism(64)
    moved = moved.export_state(state.title, root / "state.parquet").with_state(state.title, root / "state.parquet")
    assert moved.write(root / "savepoint 3").manifest.states[0].rows == 2
    less = SavepointWriter.from_existing_savepoint(root / "savepoint 2").remove_operator(state.title)
    less.write(root / "savepoint 4")
    made = bootstrap(root / "savepoint 4", plan.graph, [state.uid], root / "savepoint 5", job_options(), spark)
    assert [each.rows for each in made.states] == [2]

    (root / "in" / "later.json").write_text('{"k": 1, "v": 1}\n')
    for number in 2, 5:
        again = run(f"job {number}", f"savepoint {number}")
        assert {each.fate: each.rows for each in again.fates if each.rows} == {"restored": 2}
        assert totals() == [(1, 11), (2, 20)], "what was read before is not read again, nothing is lost"


def job_options() -> Configuration:
    return TableEnvironment.create({"parallelism.default": "1"}).configuration


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_tables_of_files(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    neighbours(tmp_path)
    path = tmp_path / ALL_IN_ONE
    options = {"connector": "filesystem", "format": kind, "path": str(path)}
    plain = table({"k": "INT", "s": "STRING"}, options)
    sink(spark, plain, tmp_path / "job").write(frame_of(spark, "(1, 'a', 0Y)", "k, s, rk_kind"), 0)
    for batch in False, True:
        assert read(spark, plain, tmp_path / f"look {batch}", batch=batch) == [(1, "a")]


def test_partitions_by_hostile_values_and_names(spark: SparkSession, tmp_path: Path) -> None:
    values = [name for name in NAMES if len(name.encode()) < 200]
    path = tmp_path / "p q=9" / "t"
    options = {"connector": "filesystem", "format": "json", "path": str(path)}
    given = table({"k": "INT", "p q": "STRING", "r%[s]": "STRING"}, options, partitions=("p q", "r%[s]"))
    rows = [(number, value, value[::-1], 0) for number, value in enumerate(values)]
    frame = spark.createDataFrame(rows, "k INT, a STRING, b STRING, c INT")
    named = frame.coalesce(1).selectExpr("k", "a AS `p q`", "b AS `r%[s]`", "CAST(c AS TINYINT) AS rk_kind")
    sink(spark, given, tmp_path / "job").write(named, 0)
    found = read(spark, given, tmp_path / "look", batch=True)
    assert sorted(found) == [(n, v, v[::-1]) for n, v in enumerate(values)]


def test_a_name_that_is_no_pattern(spark: SparkSession, tmp_path: Path) -> None:
    neighbours(tmp_path)
    for name in ALL_IN_ONE, "[!a]":
        folder = tmp_path / name
        folder.mkdir()
        (folder / "x[1].json").write_text('{"k": 1}\n')
        (folder / "x1.json").write_text('{"k": 2}\n')
        one = table({"k": "INT"}, {"connector": "filesystem", "format": "json", "path": str(folder / "x[1].json")})
        assert read(spark, one, tmp_path / f"look{len(name)}") == [(1,)]
