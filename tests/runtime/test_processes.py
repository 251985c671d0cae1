"""The processes behind a job are killed, or get signals: the job never ends as if all had been well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from execnodes.core.errors import TRY_AGAIN
from rekindle.api.table_environment import TableEnvironment
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.status import State, is_alive, read_status

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("commands")]
SQL = """
CREATE TABLE numbers (a BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '100', 'fields.a.kind' = 'random');
CREATE TABLE counts (c BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO counts SELECT COUNT(*) FROM numbers;
"""
ENDLESS = """
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE g (a BIGINT) WITH ('connector' = 'datagen', 'fields.a.kind' = 'sequence', 'fields.a.start' = '1',
  'fields.a.end' = '100000');
SELECT SUM(x.a * y.a + z.a) FROM g x, g y, g z;
"""
ENDS = """
from py4j.protocol import Py4JError
from rekindle.spark.java import lost
from rekindle.spark.session import session

jvm = session(1, {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}).sparkContext._jvm
error = jvm.RuntimeException("deep", jvm.java.lang.StackOverflowError())
try:
    jvm.org.apache.spark.util.SparkUncaughtExceptionHandler(True).uncaughtException(jvm.Thread.currentThread(), error)
except (Py4JError, OSError) as broken:
    print(lost(str(broken)).message)
"""
"""A program whose Java process ends as it does for a fatal error of a task."""
Started = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Started]:
    processes: list[subprocess.Popen[str]] = []

    def run(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "rekindle", *arguments],
            cwd=tmp_path, env={**os.environ, "REKINDLE_HOME": str(tmp_path / "home")}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        processes.append(process)
        return process

    yield run
    for process in processes:
        for each in [*java_of(process.pid), process.pid]:
            if process.poll() is None or each != process.pid:
                os.kill(each, signal.SIGKILL)
        process.wait()


def java_of(pid: int) -> list[int]:
    """Java processes that a process has started."""
    found = subprocess.run(["pgrep", "-P", str(pid), "java"], capture_output=True, text=True, check=False)
    return [int(each) for each in found.stdout.split()]


def until(check: Callable[[], object], seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.fixture
def job(tmp_path: Path, start: Started) -> subprocess.Popen[str]:
    """A job that has committed a micro-batch, in the folder ``job``."""
    TableEnvironment.create().compile_script(SQL).write_to_file(tmp_path / "plan.json")
    process = start("run", "plan.json", "--job-dir", "job")
    until(lambda: process.poll() is not None or committed_batch(tmp_path / "job") >= 0)
    return process


def committed_batch(folder: Path) -> int:
    found = JobFolder(folder).committed_batch()
    return -1 if found is None else found


def state(folder: Path) -> State | None:
    status = read_status(folder)
    return None if status is None else status.state


def test_a_stream_whose_java_process_is_killed(job: subprocess.Popen[str], tmp_path: Path) -> None:
    [java] = java_of(job.pid)
    os.kill(java, signal.SIGKILL)
    _, said = job.communicate(timeout=60)
    assert job.returncode == TRY_AGAIN
    assert "error: Spark's Java process was killed (signal 9)" in said
    assert "hint: If nobody did it, the system was short of memory" in said
    assert "Traceback" not in said
    assert state(tmp_path / "job") is State.FAILED
    assert not is_alive(tmp_path / "job")


def test_a_batch_query_whose_java_process_is_killed(start: Started, tmp_path: Path) -> None:
    query = start("sql", "-D", "execution.job-dir=job", "-e", ENDLESS)
    until(lambda: query.poll() is not None or state(tmp_path / "job") is State.RUNNING)
    [java] = java_of(query.pid)
    os.kill(java, signal.SIGKILL)
    rows, said = query.communicate(timeout=60)
    assert query.returncode == TRY_AGAIN
    assert "error: Spark's Java process was killed (signal 9)" in said
    assert "Traceback" not in said
    assert "EXPR$0" not in rows


def test_a_java_process_that_ends_by_itself_says_why(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ENDS], cwd=tmp_path, text=True, capture_output=True, check=False)
    why = "java.lang.RuntimeException: deep, caused by: java.lang.StackOverflowError"
    assert done.stdout == f"Spark's Java process has ended with code 50: {why}\n", done.stderr


def children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(each) for each in found.stdout.split()]


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_a_signal_to_the_whole_group_is_a_stop(
    job: subprocess.Popen[str], tmp_path: Path, number: signal.Signals
) -> None:
    [java] = java_of(job.pid)
    os.killpg(job.pid, number)
    _, said = job.communicate(timeout=60)
    assert job.returncode == 128 + number
    assert "plan.json: stopped. Go on with: rekindle run plan.json --job-dir job" in said
    assert state(tmp_path / "job") is State.STOPPED
    until(lambda: not exists(java), 30)


@pytest.mark.long
def test_no_process_outlives_a_killed_driver(job: subprocess.Popen[str], tmp_path: Path) -> None:
    [java] = java_of(job.pid)
    others = [java, *children(java)]
    job.kill()
    until(lambda: not any(map(exists, others)), 30)
    assert not is_alive(tmp_path / "job")
