"""Streams of Spark that are fed to jobs in micro-batches: beside other sources, after failures, to their end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import execnodes.connectors
from execnodes.core.connectors import ConnectorDeclaration, SourceAbilities
from execnodes.core.errors import ConnectorError, JobError, RekindleError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors import registry
from rekindle.connectors.base import SourceConnector, SourceFrame, SourceRequest
from rekindle.connectors.duckdb_write import DuckdbWriter
from rekindle.connectors.line_text import stream_name
from rekindle.engine.fed import Feed
from rekindle.engine.log import Entry, Log, newest_entry
from rekindle.engine.store.disk import LocalDisk
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.contents import read
from tests.streams.number_reader import Numbers
from tests.streams.numbers import number_stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE a (k INT, v INT) WITH ('connector' = 'spark', 'spark.format' = 'json', 'spark.schema' = 'true',
  'spark.options.path' = '{folder}/a', 'spark.options.maxFilesPerTrigger' = '1', 'spark.bounded' = '{bounded}');
CREATE TABLE b WITH ('spark.options.path' = '{folder}/b') LIKE a (OVERWRITING OPTIONS);
CREATE TABLE c (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/c', 'format' = 'json');
CREATE TABLE totals (k INT, s BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '{folder}/totals.duckdb', 'table' = 'totals');
CREATE TABLE kept (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/kept', 'format' = 'json');
"""
ALL = """
EXECUTE STATEMENT SET BEGIN
INSERT INTO totals SELECT k, SUM(v), COUNT(*) FROM
  (SELECT * FROM a UNION ALL SELECT * FROM b UNION ALL SELECT * FROM c) GROUP BY k;
INSERT INTO kept SELECT k, v FROM a WHERE v > 4;
END;
"""
ONE = "INSERT INTO kept SELECT k, v FROM a;"
_PATIENCE = 60.0


class Jobs:
    """Starts jobs over one folder of input, and sees what has landed."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.started: list[StreamJob] = []
        for name in "abc":
            (folder / name).mkdir()

    def start(
        self, script: str, *, bounded: bool = True, name: str = "job", savepoint: Path | None = None
    ) -> StreamJob:
        settings = {
            "execution.job-dir": str(self.folder / name),
            "execution.micro-batch.max-files": "1",
            "restart-strategy.type": "none",
            "execution.state-recovery.path": str(savepoint or ""),
        }
        environment = TableEnvironment.create(settings, spark=self.spark)
        text = (TABLES + script).replace("{folder}", str(self.folder)).replace("{bounded}", str(bounded).lower())
        plan = environment.compile_script(text)
        job = StreamJob(plan.graph, plan.as_json_string(), environment.configuration, spark=self.spark)
        self.started.append(job.start())
        return job

    def put(self, table: str, name: str, *rows: tuple[int, int]) -> None:
        hidden = self.folder / table / f".{name}"
        hidden.write_text("".join(json.dumps({"k": k, "v": v}) + "\n" for k, v in rows))
        hidden.rename(self.folder / table / f"{name}.json")

    def kept(self) -> list[tuple[int, int]]:
        found = (self.folder / "kept").glob("part-*")
        rows = [json.loads(line) for each in found for line in each.read_text().splitlines()]
        return sorted((row["k"], row["v"]) for row in rows)

    def totals(self) -> list[tuple[int, int, int]]:
        with duckdb.connect(self.folder / "totals.duckdb", read_only=True) as database:
            return database.execute("SELECT * FROM totals ORDER BY k").fetchall()

    def entry(self, name: str = "job") -> Entry:
        entry = newest_entry(LocalDisk(str(self.folder / name / "engine")))
        assert entry is not None
        return entry


@pytest.fixture
def jobs(spark: SparkSession, tmp_path: Path) -> Iterator[Jobs]:
    made = Jobs(spark, tmp_path)
    yield made
    for each in made.started:
        if not each.has_ended:
            each.stop()
    assert not spark.streams.active


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def expected(rows: dict[str, list[tuple[int, int]]]) -> list[tuple[int, int, int]]:
    totals = dict[int, tuple[int, int]]()
    for k, v in (row for each in rows.values() for row in each):
        before = totals.get(k, (0, 0))
        totals[k] = before[0] + v, before[1] + 1
    return sorted((k, *total) for k, total in totals.items())


class Killed(JobError):
    """In place of a signal."""


@pytest.mark.spark
@pytest.mark.parametrize("seed", [1, *(pytest.param(each, marks=pytest.mark.long) for each in range(2, 20))])
def test_two_fed_sources_and_files_after_failures(jobs: Jobs, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Around the plan, a sink and the commit: a batch that comes again is read once, whatever was between."""
    random = Random(seed)
    rows: dict[str, list[tuple[int, int]]] = {name: [] for name in "abc"}
    for name, found in rows.items():
        for number in range(3):
            some = [(random.randrange(3), random.randrange(10)) for _ in range(5)]
            jobs.put(name, str(number), *some)
            found += some
    for owner, name in ((DuckdbWriter, "write_rows"), (Log, "commit"), (Log, "plan")):
        monkeypatch.setattr(owner, name, _failing(getattr(owner, name), random))
    failures = 0
    while True:
        try:
            jobs.start(ALL).wait()
            break
        except Killed:
            failures += 1
    assert failures
    assert jobs.totals() == expected(rows)
    assert jobs.kept() == sorted(row for row in rows["a"] if row[1] > 4)
    assert len(jobs.entry().ended) == 3


def _failing(done: Callable[..., Any], random: Random) -> Callable[..., Any]:
    def called(*arguments: Any, **options: Any) -> Any:
        when = random.random()
        if when < 0.15:
            raise Killed("killed")
        result = done(*arguments, **options)
        if when > 0.85:
            raise Killed("killed")
        return result

    return called


@pytest.mark.spark
def test_a_job_that_was_killed_while_spark_noted_its_first_batch(jobs: Jobs) -> None:
    jobs.put("a", "0", (1, 1))
    noted = jobs.folder / "job" / "fed" / "1_source" / "offsets"
    noted.mkdir(parents=True)
    (noted / ".0.1b8f6f0c-0000-4000-8000-000000000000.tmp").write_text("v1\n{")
    jobs.start(ONE).wait()
    assert jobs.kept() == [(1, 1)]


@pytest.mark.spark
@pytest.mark.parametrize("committed", [False, True])
def test_a_batch_that_comes_again(jobs: Jobs, monkeypatch: pytest.MonkeyPatch, committed: bool) -> None:
    """Spark has noted no end of it: it is read if it was not committed, and left out if it was."""
    done = Log.commit

    def killed(self: Log, *arguments: Any) -> None:
        if committed:
            done(self, *arguments)
        raise Killed("killed")

    jobs.put("a", "0", (1, 1))
    handed_over: list[int] = []
    offer = Feed._offer

    def watched(self: Feed, frame: Any, batch: int) -> None:
        handed_over.append(batch)
        offer(self, frame, batch)

    monkeypatch.setattr(Feed, "_offer", watched)
    close = Feed.close
    with monkeypatch.context() as patched:
        patched.setattr(Log, "commit", killed)
        # A driver that is killed tells its queries nothing.
        patched.setattr(Feed, "close", lambda self, position: close(self, None))
        with pytest.raises(Killed):
            jobs.start(ONE).wait()
    jobs.put("a", "1", (2, 2))
    jobs.start(ONE).wait()
    assert jobs.kept() == [(1, 1), (2, 2)]
    assert handed_over == [0, 0, 1]
    ((position),) = jobs.entry().positions.values()
    assert position == {"batch": 1, "savepoint": '{"logOffset":1}'}


@pytest.mark.spark
def test_another_batch_than_was_planned_is_refused(jobs: Jobs) -> None:
    jobs.put("a", "0", (1, 1))
    jobs.put("a", "1", (1, 2))
    job = jobs.start(ONE, bounded=False)
    until(lambda: len(jobs.kept()) == 2)
    job.stop()
    (checkpoint,) = (jobs.folder / "job" / "fed").iterdir()
    checkpoint.rename(jobs.folder / "gone")
    with pytest.raises(JobError, match="not that of the job's log: batch 1 is committed, and batch 0 comes"):
        jobs.start(ONE, bounded=False).wait(_PATIENCE)
    assert len(jobs.kept()) == 2


@pytest.mark.spark
def test_stopped_gone_on_with_and_drained(jobs: Jobs) -> None:
    jobs.put("a", "0", (1, 1))
    job = jobs.start(ONE, bounded=False)
    assert not job.ends_by_itself
    until(lambda: jobs.kept() == [(1, 1)])
    job.stop()
    jobs.put("a", "1", (2, 2))
    job = jobs.start(ONE, bounded=False)
    until(lambda: jobs.kept() == [(1, 1), (2, 2)])
    job.stop(drain=True)
    assert jobs.kept() == [(1, 1), (2, 2)]
    assert len(jobs.entry().ended) == 1


@pytest.mark.spark
def test_a_drain_takes_what_is_handed_over(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, hidden = Feed.plan, [True]

    def hides(self: Feed, position: Any) -> Any:
        return None if hidden[0] else plan(self, position)

    monkeypatch.setattr(Feed, "plan", hides)
    jobs.put("a", "0", (1, 1))
    job = jobs.start(ONE, bounded=False)
    (feed,) = job._feeds.values()
    until(lambda: feed._offered is not None)
    job._told_to_stop.wait(0.2)
    job._drains = job._stopping = True
    hidden[0] = False
    job.stop(drain=True)
    assert jobs.kept() == [(1, 1)]


@pytest.mark.spark
def test_a_query_that_fails(jobs: Jobs, spark: SparkSession) -> None:
    """Where its offsets are asked for, the query itself; where its rows are read, the micro-batch."""
    nobody = "'spark.format' = 'socket', 'spark.options.host' = '127.0.0.1', 'spark.options.port' = '1'"
    script = f"CREATE TABLE d (`value` STRING) WITH ('connector' = 'spark', {nobody});"
    script += "INSERT INTO kept SELECT 1, CAST(`value` AS INT) FROM d;"
    with pytest.raises(RekindleError, match="Connection refused"):
        jobs.start(script).wait(_PATIENCE)
    jobs.put("a", "0", (1, 1))
    (jobs.folder / "a" / "1.json").write_text("no JSON")
    script = ONE.replace("FROM a", "FROM a /*+ OPTIONS('spark.options.mode' = 'FAILFAST') */")
    with pytest.raises(RekindleError, match="cannot be read in the table's format"):
        jobs.start(script, name="other").wait(_PATIENCE)


class Counting(SourceConnector):
    """Gives a streaming frame alone, as connectors of others do, and goes on where a savepoint was."""

    declaration = ConnectorDeclaration("counting", source=SourceAbilities(bounded=lambda options: True))

    def declared(self, options: Any) -> tuple[()]:
        return ()

    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        start = json.loads(request.start)["n"] if request.start else 0
        numbers = Numbers(start, 10, max_rows=3)
        frame = number_stream(spark, stream_name(request.uid), numbers, request.name)
        return SourceFrame(frame.selectExpr("CAST(n AS INT) AS c0"), True)


@pytest.fixture
def _counting() -> Iterator[None]:
    registry.register(Counting)
    yield
    registry._registered.clear()
    execnodes.connectors._declared.clear()


COUNTED = """CREATE TABLE n (v INT) WITH ('connector' = 'counting');
INSERT INTO kept SELECT 0, v FROM n;"""


@pytest.mark.spark
@pytest.mark.usefixtures("_counting")
def test_a_savepoint_says_where_another_query_goes_on(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    done, target = Log.commit, jobs.folder / "savepoint"

    def saves(self: Log, *arguments: Any) -> None:
        done(self, *arguments)
        if self.last.micro_batch == 1:
            raise Killed("killed")

    monkeypatch.setattr(Log, "commit", saves)
    with pytest.raises(Killed):
        (job := jobs.start(COUNTED)).wait(_PATIENCE)
    monkeypatch.setattr(Log, "commit", done)
    job.savepoint(target)
    assert jobs.kept() == [(0, each) for each in range(6)]
    assert [json.loads(each) for each in read(target).positions.values()] == [{"n": 6}]
    # In the folder of the savepoint's job, and in a new one; there again after a crash before the first commit.
    jobs.start(COUNTED).wait(_PATIENCE)
    assert jobs.kept() == [(0, each) for each in range(10)]
    (jobs.folder / "kept").rename(jobs.folder / "kept before")
    with monkeypatch.context() as patched:
        patched.setattr(DuckdbWriter, "open", lambda self: None)
        patched.setattr(Feed, "start", _raising)
        with pytest.raises(Killed):
            jobs.start(COUNTED, name="other", savepoint=target)
    job = jobs.start(COUNTED, name="other", savepoint=target)
    job.wait(_PATIENCE)
    assert {each.fate for each in job.fates} <= {"restored"}
    assert jobs.kept() == [(0, each) for each in range(6, 10)]
    again = jobs.folder / "again"
    job.savepoint(again)
    assert [json.loads(each) for each in read(again).positions.values()] == [{"n": 10}]


def _raising(*arguments: Any, **options: Any) -> None:
    raise Killed("killed")


@pytest.mark.spark
def test_a_stream_that_cannot_go_on_from_a_savepoint_says_so(jobs: Jobs) -> None:
    jobs.put("a", "0", (1, 1))
    job = jobs.start(ONE)
    job.wait(_PATIENCE)
    job.savepoint(jobs.folder / "savepoint")
    with pytest.raises(ConnectorError, match="'json' cannot go on from the savepoint's position"):
        jobs.start(ONE, name="other", savepoint=jobs.folder / "savepoint")
