"""Jobs start again after failures that may pass: when, how often, and without losing or doubling a row."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import JobError, OptionError
from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli.list import listing
from rekindle.connectors.file_sink import FileWriter
from rekindle.engine.program import STEPS
from rekindle.jobs.home import job_info
from rekindle.jobs.status import State, read_status
from rekindle.runtime.restarts import ExponentialDelay, FixedDelay, NoRestart, strategy_of
from tests.runtime.cluster import below
from tests.runtime.written import written_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EXPONENTIAL = "restart-strategy.exponential-delay"


def options(kind: str, **more: str) -> Configuration:
    prefix = f"restart-strategy.{kind}"
    return Configuration({"restart-strategy.type": kind, **{f"{prefix}.{key}": more[key] for key in more}})


def test_none() -> None:
    assert isinstance(strategy_of(options("none")), NoRestart)
    assert strategy_of(options("off")).delay() is None


def test_fixed_delay() -> None:
    strategy = strategy_of(options("fixed-delay", attempts="2", delay="5 s"))
    assert isinstance(strategy, FixedDelay)
    assert [strategy.delay() for _ in range(3)] == [5.0, 5.0, None]
    assert strategy_of(options("fixed-delay", attempts="0")).delay() is None


def test_exponential_delay_is_the_default_and_bounded() -> None:
    strategy = strategy_of(Configuration())
    assert isinstance(strategy, ExponentialDelay)
    assert (strategy.initial, strategy.longest, strategy.multiplier, strategy.threshold) == (1, 60, 1.5, 3600)
    strategy.jitter = 0
    delays = [strategy.delay() for _ in range(11)]
    assert delays[:3] == [1, 1.5, 2.25]
    assert max(each for each in delays[:10] if each is not None) <= 60
    assert delays[10] is None


def test_exponential_delay_begins_anew_after_a_good_while() -> None:
    now = 0.0
    strategy = ExponentialDelay(1, 4, 2, 100, 0, 3, clock=lambda: now)
    assert [strategy.delay(), strategy.delay(), strategy.delay()] == [1, 2, 4]
    now = 103.9
    assert strategy.delay() is None
    strategy = ExponentialDelay(1, 4, 2, 100, 0, 3, clock=lambda: now)
    strategy.delay()
    now += 101
    assert strategy.delay() == 1


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 9.0), (0.5, 10.0), (1.0, 11.0)])
def test_jitter(chance: float, seconds: float) -> None:
    assert ExponentialDelay(10, 60, 2, 100, 0.1, 3, chance=lambda: chance).delay() == pytest.approx(seconds)


@pytest.mark.parametrize("key", ["backoff-multiplier", "jitter-factor"])
@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf"])
def test_fractions_are_checked(key: str, text: str) -> None:
    with pytest.raises(OptionError, match=key):
        strategy_of(Configuration({f"{EXPONENTIAL}.{key}": text}))


QUERY = "SELECT k, s FROM (SELECT k, v AS s FROM pieces) WHERE s >= 0"
SQL = f"""
CREATE TABLE pieces (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{{dir}}/in', 'format' = 'json');
CREATE TABLE sums (k STRING, s INT) WITH ('connector' = 'filesystem', 'path' = '{{dir}}/out', 'format' = 'json');
INSERT INTO sums {QUERY};
"""


def environment(spark: SparkSession, folder: Path, files: int, **more: str) -> TableEnvironment:
    (folder / "in").mkdir()
    for number in range(files):
        path = folder / "in" / f"{number}.json"
        path.write_text("".join(json.dumps({"k": f"k{i % 3}", "v": number * 10 + i}) + "\n" for i in range(10)))
        os.utime(path, (1e9 + number, 1e9 + number))
    settings = {"execution.job-dir": str(folder / "job"), "execution.micro-batch.max-files": "1", **more}
    return TableEnvironment.create(settings, spark=spark)


class Failing:
    """Writes micro-batches, but the second one only after some failures."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int, text: str) -> None:
        self.left, self._text, self._write = times, text, FileWriter.write
        monkeypatch.setattr(FileWriter, "write", lambda writer, batch, number: self(writer, batch, number))

    def __call__(self, writer: FileWriter, batch: DataFrame, number: int) -> None:
        self._write(writer, batch, number)
        if number // STEPS == 1 and self.left:
            self.left -= 1
            raise RuntimeError(self._text)


def written(folder: Path) -> list[int]:
    return sorted(each["s"] for each in written_rows(folder / "out"))


@pytest.mark.spark
def test_a_job_goes_on_from_its_last_micro_batch(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Failing(monkeypatch, 2, "Python worker exited unexpectedly (crashed)")
    session = environment(spark, tmp_path, 3, **{f"{EXPONENTIAL}.initial-backoff": "100 ms"})
    session.execute_script(SQL.replace("{dir}", str(tmp_path)))
    assert written(tmp_path) == list(range(30))
    job = job_info(tmp_path / "job")
    assert (job.state, job.restarts) == (State.FINISHED, 2)
    *_, last = listing([job])
    assert last.endswith("restarted 2 times, last after: a Python worker of Spark was killed, or has crashed")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("strategy", "text"),
    [("none", "Python worker exited unexpectedly (crashed)"), ("exponential-delay", "a row that is bad")],
)
def test_what_comes_again_or_is_not_to_be_tried_again_ends_the_job(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, text: str
) -> None:
    failing = Failing(monkeypatch, 5, text)
    session = environment(spark, tmp_path, 2, **{"restart-strategy.type": strategy})
    with pytest.raises(JobError):
        session.execute_script(SQL.replace("{dir}", str(tmp_path)))
    assert failing.left == 4
    status = read_status(tmp_path / "job")
    assert status is not None
    assert (status.state, status.restarts) == (State.FAILED, 0)


@pytest.mark.spark
@pytest.mark.long
def test_killed_python_workers_cost_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    sql = SQL.replace(QUERY, "SELECT 'all', CAST(COUNT(*) AS INT) FROM pieces")
    sql = sql.replace("'{dir}/out', 'format' = 'json'", "'{dir}/out', 'format' = 'debezium-json'")
    session = environment(spark, tmp_path, 12, **{f"{EXPONENTIAL}.initial-backoff": "100 ms"})
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    java, ended, killed = gateway.proc.pid, threading.Event(), list[int]()

    def kill() -> None:
        while not ended.wait(0.7) and len(killed) < 12:
            for each in below(java, "pyspark"):
                killed.append(each)
                os.kill(each, signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    try:
        session.execute_script(sql.replace("{dir}", str(tmp_path)))
    finally:
        ended.set()
    assert killed
    files = (tmp_path / "out").glob("[!._]*")
    changes = [json.loads(line) for each in files for line in each.read_text().splitlines()]
    assert max(change["after"]["s"] for change in changes if change["after"]) == 120
