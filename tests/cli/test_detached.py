"""A job in a process of its own: run -d, list, savepoint, stop, and run -s from the savepoint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.jobs.status import State, is_alive, read_status

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("commands")]
SQL = """
CREATE TABLE orders (region STRING, pieces INT)
WITH ('connector' = 'filesystem', 'path' = '{dir}/orders', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE sales (region STRING, pieces INT, PRIMARY KEY (region) NOT ENFORCED) WITH ('connector' = 'print');
INSERT INTO sales SELECT region, SUM(pieces) FROM orders GROUP BY region;
"""
Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Call]:
    environment = {**os.environ, "REKINDLE_HOME": str(tmp_path / "home")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "rekindle", *arguments],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=200,
        )  # fmt: skip

    yield run
    for folder in (tmp_path / "home" / "jobs").glob("*"):
        status = read_status(folder)
        if is_alive(folder) and status is not None:
            os.kill(status.pid, 9)


def add(folder: Path, name: str, **pieces: int) -> None:
    rows = "".join(json.dumps({"region": region, "pieces": count}) + "\n" for region, count in pieces.items())
    (folder / "orders").mkdir(exist_ok=True)
    (folder / f".{name}").write_text(rows)
    (folder / f".{name}").rename(folder / "orders" / name)


def until(check: Callable[[], object], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def listed(call: Call) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(call("list", "--json").stdout)
    return found


def test_life_cycle(call: Call, tmp_path: Path) -> None:
    add(tmp_path, "a.json", north=3, south=1)
    TableEnvironment.create().compile_script(SQL.replace("{dir}", str(tmp_path))).write_to_file(tmp_path / "plan.json")

    started = call("run", "-d", "plan.json")
    assert started.returncode == 0, started.stderr
    [job] = listed(call)
    folder = Path(job["folder"])
    assert job["state"] == "RUNNING"
    assert started.stdout.startswith(f"Job {job['job_id']} (insert-into_sales) runs in process ")
    assert started.stdout.endswith(f"Folder {folder}\n")
    second = call("run", "plan.json", "--job-dir", str(folder))
    assert second.returncode == 1
    assert f"the job runs already, in process {(folder / 'lock').read_text()}" in second.stderr

    until(lambda: listed(call)[0]["rows"])
    saved = call("savepoint", job["job_id"][:8], "--to", "first")
    assert saved.returncode == 0, saved.stderr
    assert "2 rows" in saved.stdout
    stopped = call("stop", "insert-into_sales", "--savepoint", "last")
    assert stopped.returncode == 0, stopped.stderr
    [job] = listed(call)
    assert (job["state"], job["savepoint"], job["rows"]) == ("STOPPED", str(tmp_path / "last"), 2)

    add(tmp_path, "b.json", north=4)
    moved = call("run", "-d", "plan.json", "-s", "last", "--job-dir", "moved")
    assert moved.returncode == 0, moved.stderr
    until(lambda: "+U[north, 7]" in (tmp_path / "moved" / "job.log").read_text())
    assert "south" not in (tmp_path / "moved" / "job.log").read_text()
    canceled = call("cancel", "moved")
    assert canceled.returncode == 0, canceled.stderr
    assert {each["state"] for each in listed(call)} == {"STOPPED", "CANCELED"}
    status = read_status(tmp_path / "moved")
    assert status is not None
    assert status.state is State.CANCELED


@pytest.mark.long
def test_a_job_that_cannot_start_says_why_and_is_remembered_as_failed(call: Call, tmp_path: Path) -> None:
    TableEnvironment.create().compile_script(SQL.replace("{dir}", str(tmp_path))).write_to_file(tmp_path / "plan.json")
    (tmp_path / "job").mkdir()
    failed = call("run", "-d", "plan.json", "-s", "nowhere", "--job-dir", "job")
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: this is no savepoint")
    assert "Traceback" not in failed.stderr
    status = read_status(tmp_path / "job")
    assert status is not None
    assert status.state is State.FAILED
    assert status.error is not None
    assert "this is no savepoint" in status.error.message


def test_a_plan_that_is_none_starts_no_process(call: Call, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    failed = call("run", "-d", "plan.json")
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: ")
    assert not (tmp_path / "home").exists()


@pytest.mark.long
def test_a_script_waits_for_its_background_jobs(call: Call, tmp_path: Path) -> None:
    add(tmp_path, "a.json", north=3, south=1)
    sql = SQL.replace("{dir}", str(tmp_path)).replace(", 'source.monitor-interval' = '100 ms'", "")
    done = call("sql", "-D", "table.dml-sync=false", "-e", f"{sql} SHOW JOBS;")
    assert done.returncode == 0, done.stderr
    assert "runs in the background" in done.stdout
    assert "| insert-into_sales | " in done.stdout
    assert "Waiting for 1 job in the background." in done.stderr
    [job] = listed(call)
    assert (job["state"], job["rows"]) == ("FINISHED", 2)
