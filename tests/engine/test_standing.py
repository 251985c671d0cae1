"""Programs that are built once: what tasks read is what Spark reads, and what cannot stand is built anew."""

from __future__ import annotations

import datetime as dt
import gc
import gzip
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execnodes.core.errors import ConnectorError, RekindleError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.collect import results
from rekindle.connectors.file_positions import FilePositions
from rekindle.engine import standing
from rekindle.engine.standing import Standing, Standings
from rekindle.runtime.stream_job import StreamJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
JSON_FACTS = "`file.path` STRING METADATA, `file.name` STRING METADATA, `file.size` BIGINT METADATA"
MODIFIED = "`file.modification-time` TIMESTAMP_LTZ(3) METADATA"


class Watch:
    """Counts programs that are built, and steps that one of them ran."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.built = self.ran = self.steps = 0
        init, run, of = standing._StandingFrames.__init__, Standing.run, Standings.of

        def building(frames: Any, *given: Any) -> None:
            init(frames, *given)
            self.built += 1

        def running(program: Standing) -> Any:
            self.ran += 1
            return run(program)

        def asking(standings: Standings, *given: Any) -> Standing | None:
            self.steps += 1
            return of(standings, *given)

        monkeypatch.setattr(standing._StandingFrames, "__init__", building)
        monkeypatch.setattr(Standing, "run", running)
        monkeypatch.setattr(Standings, "of", asking)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


class Jobs:
    """Runs scripts over a folder, whose sinks are collected under names of their own."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.number = spark, folder, 0

    def run(self, script: str, sinks: str = "o", **options: str) -> list[list[tuple[int, tuple[Any, ...]]]]:
        """What each sink was given. `{folder}` and `{collected}` of the script are filled in."""
        self.number += 1
        settings = {"execution.job-dir": str(self.folder / f"job{self.number}"), "parallelism.default": "2", **options}
        environment = TableEnvironment.create(settings, spark=self.spark)
        name = f"{self.folder}/{self.number}"
        text = script.replace("{folder}", str(self.folder)).replace("{collected}", f"'collect', 'name' = '{name}")
        plan = environment.compile_script(text)
        StreamJob(plan.graph, plan.as_json_string(), environment.configuration, spark=self.spark).start().wait()
        return [results(f"{name}{sink}") for sink in sinks.split()]


@pytest.fixture
def jobs(spark: SparkSession, tmp_path: Path) -> Jobs:
    (tmp_path / "t").mkdir()
    return Jobs(spark, tmp_path)


def by_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FilePositions, "told", lambda *given: None)


FORMATS: dict[str, tuple[str, bytes | pa.Table]] = {
    "json": ("a BIGINT, s STRING", b'\xef\xbb\xbf{"a": 1, "s": "x"}\r\n{"a": 2, "s": "\xc3\xa4"}\r\n{"s": "last"}'),
    "json, not plain": (
        "a BIGINT, s STRING",
        b'\xef\xbb\xbf{"a": 1, "s": "x"}\r\n{"a": 2, "s": "\xc3\xa4"}\r{"a": 3}\n{"s": "last"}',
    ),
    "csv": ("a BIGINT, s STRING", b'1,x\n2,\xc3\xa4\n3,"q""r"\n'),
    "debezium-json": (
        "a BIGINT, s STRING",
        b'{"op": "c", "after": {"a": 1}}\n{"op": "u", "before": {"a": 1}, "after": {"a": 2, "s": "x"}}\n',
    ),
    "debezium-json, not plain": (
        "a BIGINT, s STRING",
        b'{"op": "c", "after": {"a": 1}}\n\n{"op": "u", "before": {"a": 1}, "after": {"a": 2, "s": "x"}}\n',
    ),
    "json, nested": (
        "a ROW<b DECIMAL(5, 2), c ARRAY<ROW<d TIMESTAMP(3)>>>",
        b'{"a": {"b": "1.50", "c": [{"d": "2024-01-01 00:00:00"}, null]}}\n{"a": null}\n{"a": {"c": []}}\n',
    ),
    "parquet": (
        "a BIGINT, s STRING, i INT, d DOUBLE, b BOOLEAN, m DECIMAL(20, 3), day DATE, ts TIMESTAMP(6), y VARBINARY(9)",
        pa.table(
            {
                "y": pa.array([b"\xff", None]),
                "a": pa.array([1, None], pa.int64()),
                "s": pa.array(["ä", None], pa.large_string()),
                "i": pa.array([None, 7], pa.int32()),
                "d": [1.5, float("nan")],
                "b": [True, None],
                "m": pa.array([Decimal("1.250"), None], pa.decimal128(20, 3)),
                "day": [dt.date(1066, 10, 14), None],
                "ts": pa.array([dt.datetime(2024, 1, 1, 0, 0, 0, 5), None], pa.timestamp("us")),
                "unasked": ["z", "z"],
            }
        ),
    ),
}


def put(given: bytes | pa.Table, file: Path) -> None:
    if isinstance(given, bytes):
        file.write_bytes(given)
    else:
        pq.write_table(given, file)


@pytest.mark.parametrize("name", FORMATS)
def test_tasks_read_what_spark_reads(name: str, jobs: Jobs, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, given = FORMATS[name]
    for file in ("b", "a"):
        (jobs.folder / "t" / f"k={file}").mkdir()
        put(given, jobs.folder / "t" / f"k={file}" / "f.data")
    put(given.slice(0, 0) if isinstance(given, pa.Table) else b"", jobs.folder / "t" / "empty")
    script = f"""
    CREATE TABLE t ({columns}, {JSON_FACTS}, {MODIFIED})
      WITH ('connector' = 'filesystem', 'path' = '{{folder}}/t', 'format' = '{name.partition(",")[0]}');
    CREATE TABLE o WITH ('connector' = {{collected}}o') AS SELECT * FROM t;
    """
    (found,) = jobs.run(script)
    runs = 2 if name.endswith("not plain") else 1
    assert (watch.built, watch.ran) == (runs, runs)
    by_spark(monkeypatch)
    (wanted,) = jobs.run(script)
    assert watch.ran == runs
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    assert found


def test_it_is_built_once_for_many_micro_batches(jobs: Jobs, watch: Watch) -> None:
    """Once for rows, and once for the windows that they close."""
    for minute in range(5):
        (jobs.folder / "t" / f"{minute}.csv").write_text(f"1,2024-01-01 00:0{minute}:00\n" * 3)
    (rows,) = jobs.run(
        """
        CREATE TABLE t (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
          WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'csv');
        CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = {collected}o');
        INSERT INTO o SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
          WHERE k < 2 GROUP BY window_start, window_end, k;
        """,
        **{"execution.micro-batch.max-files": "1"},
    )
    assert rows == [(0, (1, 3))] * 5
    assert watch.built == 2
    assert watch.ran == watch.steps == 9


def test_rows_that_no_way_takes_move_time(jobs: Jobs, watch: Watch) -> None:
    (jobs.folder / "t" / "0.csv").write_text("1,2024-01-01 00:00:00\n9,2024-01-01 00:05:00\n")
    (jobs.folder / "t" / "1.csv").write_text("1,2024-01-01 00:00:30\n")
    (rows,) = jobs.run(
        """
        CREATE TABLE t (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
          WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'csv');
        CREATE TABLE o (n BIGINT) WITH ('connector' = {collected}o');
        INSERT INTO o SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
          WHERE k < 2 GROUP BY window_start, window_end;
        """,
        **{"execution.micro-batch.max-files": "1"},
    )
    assert rows == [(0, (1,))]
    assert watch.ran == watch.steps


def test_several_sinks_are_one_job_of_spark(jobs: Jobs, watch: Watch) -> None:
    """A source that goes to a sink and to an operator is read twice, as nothing is computed of it."""
    for number in range(2):
        (jobs.folder / "t" / f"{number}.csv").write_text("1,x\n2,y\n")
    raw, totals, twice = jobs.run(
        """
        CREATE TABLE t (k INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'csv');
        CREATE TABLE raw (k INT, s STRING) WITH ('connector' = {collected}raw');
        CREATE TABLE totals (k INT, n BIGINT) WITH ('connector' = {collected}totals');
        CREATE TABLE twice (n BIGINT) WITH ('connector' = {collected}twice');
        BEGIN STATEMENT SET;
        INSERT INTO raw SELECT k, s FROM t;
        INSERT INTO totals SELECT k, COUNT(*) FROM t GROUP BY k;
        INSERT INTO twice SELECT n FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) WHERE n > 1;
        END;
        """,
        "raw totals twice",
        **{"execution.micro-batch.max-files": "1"},
    )
    assert sorted(raw) == [(0, (1, "x"))] * 2 + [(0, (2, "y"))] * 2
    assert sorted(totals) == [(0, (1, 1)), (0, (2, 1)), (1, (1, 1)), (1, (2, 1)), (2, (1, 2)), (2, (2, 2))]
    assert [values for _, values in twice] == [(2,), (2,)]
    assert (watch.built, watch.ran, watch.steps) == (1, 2, 2)


@pytest.mark.parametrize(
    ("query", "stands"),
    [
        ("SELECT k, CAST(RAND() * 0 AS INT) FROM t", False),
        ("SELECT k, CHAR_LENGTH(UUID()) FROM t", False),
        ("SELECT k, EXTRACT(YEAR FROM CURRENT_TIMESTAMP) * 0 FROM t", False),
        ("SELECT k, CHAR_LENGTH('rand() now() current_date()') FROM t", True),
        ("SELECT `rand`, `rand` FROM (SELECT k AS `rand` FROM t)", True),
        ("SELECT a.k, b.k FROM t AS a JOIN t AS b ON a.k = b.k", True),
        ("SELECT a.k, b.n FROM t AS a JOIN (SELECT k, COUNT(*) AS n FROM t GROUP BY k) AS b ON a.k = b.k", True),
    ],
)
def test_what_is_settled_by_planning_does_not_stand(query: str, stands: bool, jobs: Jobs, watch: Watch) -> None:
    (jobs.folder / "t" / "0.csv").write_text("1\n2\n")
    (rows,) = jobs.run(
        f"""
        CREATE TABLE t (k INT) WITH ('connector' = 'filesystem', 'path' = '{{folder}}/t', 'format' = 'csv');
        CREATE TABLE o (a BIGINT, b BIGINT) WITH ('connector' = {{collected}}o');
        INSERT INTO o {query};
        """
    )
    assert len(rows) == 2
    assert watch.ran == int(stands)


def test_what_gives_many_rows_is_built(jobs: Jobs, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "_MOST_BYTES", 1000)
    for number, many in enumerate((1, 1, 100, 1)):
        (jobs.folder / "t" / f"{number}.csv").write_text("1\n" * many)
    (rows,) = jobs.run(
        """
        CREATE TABLE t (k INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'csv');
        CREATE TABLE o (k INT) WITH ('connector' = {collected}o');
        INSERT INTO o SELECT k FROM t;
        """,
        **{"execution.micro-batch.max-files": "1"},
    )
    assert rows == [(0, (1,))] * 103
    assert (watch.ran, watch.steps) == (3, 4)


def test_files_that_are_left_to_spark(jobs: Jobs, watch: Watch) -> None:
    """Compressed ones, and those whose address is written otherwise."""
    (jobs.folder / "t" / "0.csv.gz").write_bytes(gzip.compress(b"1\n"))
    (jobs.folder / "t" / "1 ä.csv").write_text("2\n")
    (jobs.folder / "t" / "2.csv").write_text("3\n")
    (rows,) = jobs.run(
        """
        CREATE TABLE t (k INT, `file.name` STRING METADATA)
          WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'csv');
        CREATE TABLE o (a INT, n STRING) WITH ('connector' = {collected}o');
        INSERT INTO o SELECT * FROM t;
        """,
        **{"execution.micro-batch.max-files": "1"},
    )
    assert sorted(rows) == [(0, (1, "0.csv.gz")), (0, (2, "1 ä.csv")), (0, (3, "2.csv"))]
    assert (watch.ran, watch.steps) == (1, 3)


def test_rows_are_counted_of_which_no_column_is_read(jobs: Jobs, watch: Watch) -> None:
    pq.write_table(pa.table({"a": pa.array([1, 2, 3], pa.int64())}), jobs.folder / "t" / "f")
    (rows,) = jobs.run(
        """
        CREATE TABLE t (a BIGINT) WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'parquet');
        CREATE TABLE o (n BIGINT) WITH ('connector' = {collected}o');
        INSERT INTO o SELECT COUNT(*) FROM t;
        """
    )
    assert rows == [(0, (3,))]
    assert watch.ran == 1


@pytest.mark.parametrize("column", ["a INT", "b BIGINT", "A BIGINT", "_metadata BIGINT", "a TIMESTAMP(3)"])
def test_parquet_of_other_columns_is_left_to_spark(
    column: str, jobs: Jobs, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"a": pa.array([1], pa.int64())}), jobs.folder / "t" / "f")
    script = f"""
    CREATE TABLE t ({column}) WITH ('connector' = 'filesystem', 'path' = '{{folder}}/t', 'format' = 'parquet');
    CREATE TABLE o WITH ('connector' = {{collected}}o') AS SELECT * FROM t;
    """
    found = outcome(jobs, script)
    by_spark(monkeypatch)
    assert outcome(jobs, script) == found
    assert watch.ran == 0


def outcome(jobs: Jobs, script: str) -> object:
    try:
        return jobs.run(script)
    except RekindleError as error:
        return str(error)


def test_a_file_that_cannot_be_read_is_named(jobs: Jobs, watch: Watch) -> None:
    file = jobs.folder / "t" / "f.parquet"
    pq.write_table(pa.table({"a": pa.array(range(1000), pa.int64())}), file, compression="NONE", use_dictionary=False)
    whole = bytearray(file.read_bytes())
    whole[4:40] = b"\xff" * 36
    file.write_bytes(whole)
    with pytest.raises(ConnectorError, match="cannot be read in the table's format") as caught:
        jobs.run(
            """
            CREATE TABLE t (a BIGINT) WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'parquet');
            CREATE TABLE o WITH ('connector' = {collected}o') AS SELECT * FROM t;
            """
        )
    assert str(caught.value.where) == str(file)
    assert watch.ran == 1


@pytest.mark.parametrize("ignored", ["true", "false"])
def test_a_file_that_goes_before_it_is_read(ignored: str, jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    (jobs.folder / "t" / "0.csv").write_text("1\n")
    (jobs.folder / "t" / "1.csv").write_text("2\n")
    plan = FilePositions.plan

    def planning(self: FilePositions, position: object) -> object:
        news = plan(self, position)
        (jobs.folder / "t" / "0.csv").unlink(missing_ok=True)
        return news

    monkeypatch.setattr(FilePositions, "plan", planning)
    script = f"""
    CREATE TABLE t (k INT) WITH ('connector' = 'filesystem', 'path' = '{{folder}}/t', 'format' = 'csv',
      'source.ignore-missing-files' = '{ignored}');
    CREATE TABLE o WITH ('connector' = {{collected}}o') AS SELECT * FROM t;
    """
    if ignored == "true":
        assert jobs.run(script) == [[(0, (2,))]]
    else:
        with pytest.raises(ConnectorError, match="is to read is gone"):
            jobs.run(script)


def test_generated_rows(jobs: Jobs, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """
    CREATE TABLE t (n BIGINT, s STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '25', 'fields.n.kind' =
      'sequence', 'fields.n.start' = '5', 'fields.n.end' = '29');
    CREATE TABLE o (n BIGINT, s STRING) WITH ('connector' = {collected}o');
    INSERT INTO o SELECT * FROM t WHERE n <> 7;
    """
    (found,) = jobs.run(script, **{"execution.micro-batch.max-rows": "10"})
    assert [row[0] for _, row in found] == [n for n in range(5, 30) if n != 7]
    assert (watch.built, watch.ran) == (1, 3)
    monkeypatch.setattr(Standings, "of", lambda *given: None)
    (wanted,) = jobs.run(script, **{"execution.micro-batch.max-rows": "10"})
    assert sorted(found) == sorted(wanted)


def test_workers_leave_what_they_have_loaded_out_of_garbage_collection(jobs: Jobs, spark: SparkSession) -> None:
    (jobs.folder / "t" / "0.csv").write_text("1\n")
    jobs.run(
        """
        CREATE TABLE t (k INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'csv');
        CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = {collected}o');
        INSERT INTO o SELECT k, COUNT(*) FROM t GROUP BY k;
        """
    )

    def frozen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"n": [gc.get_freeze_count()]})

    assert [row.n > 0 for row in spark.range(0, 1, 1, 1).mapInArrow(frozen, "n BIGINT").collect()] == [True]
