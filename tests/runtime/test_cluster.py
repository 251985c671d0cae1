"""Jobs on a cluster that fails them: each ends by name, goes on, or is ended; none waits without a word."""

from __future__ import annotations

import json
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
from rekindle.jobs.home import job_info
from rekindle.jobs.status import State, read_progress, read_status
from tests.runtime.cluster import HIDES, cluster, until

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.xdist_group("commands")]
SQL = """
CREATE TABLE numbers (a BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '20', 'fields.a.kind' = 'random');
CREATE TABLE copies (a BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
CREATE TABLE counts (c BIGINT) WITH ('connector' = 'blackhole');
EXECUTE STATEMENT SET BEGIN
INSERT INTO copies SELECT a FROM numbers;
INSERT INTO counts SELECT COUNT(*) FROM numbers;
END;
"""
Run = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs the job in the folder ``job``."""
    monkeypatch.chdir(tmp_path)
    TableEnvironment.create().compile_script(SQL).write_to_file(tmp_path / "plan.json")
    started: list[subprocess.Popen[str]] = []

    def start(master: str, **more: str) -> subprocess.Popen[str]:
        options = {"spark.master": master, "spark.executor.memory": "512m", "spark.executor.cores": "1", **more}
        words = [word for key, value in options.items() for word in ("-D", f"{key}={value}")]
        started.append(subprocess.Popen(
            [sys.executable, "-m", "rekindle", "run", "plan.json", "--job-dir", "job", *words],
            env={**os.environ, "REKINDLE_HOME": str(tmp_path / "home")}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        ))  # fmt: skip
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def committed() -> int:
    found = JobFolder(Path("job")).committed_batch()
    return -1 if found is None else found


def is_past(process: subprocess.Popen[str], check: Callable[[], object]) -> None:
    until(lambda: process.poll() is not None or check())
    assert process.poll() is None, process.communicate()


def test_a_master_that_nobody_hears(run: Run) -> None:
    began = time.monotonic()
    process = run("spark://127.0.0.1:1")
    _, said = process.communicate(timeout=120)
    assert process.returncode == TRY_AGAIN
    assert "error: Spark's master cannot be reached: Connection refused\n  at spark://127.0.0.1:1" in said
    assert time.monotonic() - began < 60


def test_a_master_that_has_forgotten_the_application(run: Run, tmp_path: Path) -> None:
    """The job goes on by a session of its own with the master that is there now."""
    with cluster(tmp_path / "cluster", 1) as spark:
        timeout = {"slot.request.timeout": "10 s", "restart-strategy.exponential-delay.initial-backoff": "1 s"}
        process = run(spark.url, **timeout)
        is_past(process, lambda: committed() >= 1)
        spark.restart_master()
        for each in spark.executors():
            os.kill(each, signal.SIGKILL)
        is_past(process, restarts)
        reached = committed()
        is_past(process, lambda: committed() > reached + 1)
        process.terminate()
        _, said = process.communicate(timeout=120)
    assert process.returncode == 143, said
    assert job_info(Path("job")).state is State.STOPPED
    assert "Traceback" not in said


def restarts() -> int:
    status = read_status(Path("job"))
    return 0 if status is None else status.restarts


def test_a_cluster_without_executors(run: Run, tmp_path: Path) -> None:
    """It is listed, says what it waits for, fails by name, and a second signal ends it."""
    listed = [sys.executable, "-m", "rekindle", "list", "--json"]
    given = {**os.environ, "REKINDLE_HOME": str(tmp_path / "home")}
    with cluster(tmp_path / "cluster", 1) as spark:
        process = run(spark.url)
        is_past(process, lambda: committed() >= 1)
        os.killpg(spark.workers[0], signal.SIGKILL)
        is_past(process, lambda: read_progress(Path("job")).get("activity") == "executors")
        (job,) = json.loads(subprocess.run(listed, env=given, text=True, capture_output=True, check=True).stdout)
        assert (job["state"], job["activity"], job["folder"]) == ("RUNNING", "executors", str(tmp_path / "job"))
        process.terminate()
        time.sleep(1)
        assert process.poll() is None
        process.terminate()
        process.wait(20)
        assert process.returncode == 143
        again = run(spark.url, **{"slot.request.timeout": "3 s", "restart-strategy.type": "none"})
        _, said = again.communicate(timeout=200)
    assert again.returncode == TRY_AGAIN, said
    assert "error: Spark has had no executor for " in said
    assert "slot.request.timeout" in said


def can_hide() -> bool:
    done = subprocess.run([*HIDES, "/mnt", "true"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.skipif(not can_hide(), reason="only root can give a process another folder in the place of one")
@pytest.mark.parametrize(("folder", "what"), [("job", "job folder"), ("out", "folder of a sink")])
def test_a_folder_that_executors_do_not_share(run: Run, tmp_path: Path, folder: str, what: str) -> None:
    (tmp_path / folder).mkdir()
    with cluster(tmp_path / "cluster", 1, hidden=tmp_path / folder) as spark:
        process = run(spark.url)
        _, said = process.communicate(timeout=200)
    assert process.returncode == 1, said
    assert f"error: the {what} is not shared with the executor on host " in said
    assert f"  at {tmp_path / folder}" in said
    assert committed() == -1
    assert not list((tmp_path / "out").glob("part-*"))
