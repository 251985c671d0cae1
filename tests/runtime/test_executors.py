"""Jobs on a cluster whose executors, workers and drivers are killed: every row is written once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.status import State, read_status
from tests.runtime.cluster import Cluster, cluster, until

FILES, ROWS, KEYS = 12, 50, 7
SQL = """
CREATE TABLE pieces (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = '{form}');
CREATE TABLE plain (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = 'plain', 'format' = 'json');
CREATE TABLE sums (k INT, c BIGINT, s BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'sums', 'format' = 'debezium-json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO plain SELECT k, v + 1 FROM pieces WHERE k >= 0;
INSERT INTO sums SELECT k, COUNT(*), SUM(v) FROM pieces GROUP BY k;
END;
"""


def changes(folder: Path) -> Iterator[dict[str, Any]]:
    """In the order in which they were written: files are called ``part-<job>-<batch>-<n>.json``."""
    files = [each for each in folder.iterdir() if each.name.startswith("part-")]
    for file in sorted(files, key=lambda each: [int(text) for text in each.stem.split("-")[2:]]):
        yield from map(json.loads, file.read_text().splitlines())


Given = list[tuple[int, int, int]]
"""Number of the file, key and value."""


def put(folder: Path, form: str) -> Given:
    """Files in the order of their times."""
    folder.mkdir()
    given = [(number, place % KEYS, number * ROWS + place) for number in range(FILES) for place in range(ROWS)]
    for number in range(FILES):
        path = folder / f"{number}.{form}"
        rows = pl.DataFrame([(k, v) for n, k, v in given if n == number], {"k": pl.Int32, "v": pl.Int32}, orient="row")
        (rows.write_parquet if form == "parquet" else rows.write_ndjson)(path)
        os.utime(path, (1e9 + number, 1e9 + number))
    return given


def start(spark: Cluster) -> subprocess.Popen[str]:
    """The folder of the job is relative, and executors have another working directory."""
    options = {"spark.master": spark.url, "spark.executor.memory": "512m", "execution.micro-batch.max-files": "1"}
    arguments = [text for key, value in options.items() for text in ("-D", f"{key}={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", "rekindle", "run", "plan.json", "--job-dir", "job", *arguments],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def committed() -> int:
    return JobFolder(Path("job")).committed_batch() or 0


def check(folder: Path, given: Given) -> None:
    """That the job has ended, and has written what it was given."""
    status = read_status(folder / "job")
    assert status is not None
    assert status.state is State.FINISHED
    rows = Counter((each["k"], each["v"]) for each in changes(folder / "plain"))
    assert rows == Counter((k, v + 1) for _, k, v in given)
    # Each change is made of the row that the one before has left.
    found: dict[int, dict[str, int]] = {}
    for change in changes(folder / "sums"):
        before, after = change["before"], change["after"]
        if before is not None:
            assert found.pop(before["k"]) == before
        if after is not None:
            assert after["k"] not in found
            found[after["k"]] = after
    wanted = {k: [v for _, key, v in given if key == k] for k in range(KEYS)}
    assert found == {k: {"k": k, "c": len(values), "s": sum(values)} for k, values in wanted.items()}


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.xdist_group("commands")
@pytest.mark.parametrize("form", ["json", "parquet"])
def test_killed_executors_cost_no_rows(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = put(tmp_path / "in", form)
    TableEnvironment.create().compile_script(SQL.format(form=form)).write_to_file(tmp_path / "plan.json")
    with cluster(tmp_path / "cluster") as spark:
        process, killed = start(spark), 0
        try:
            for batch in (1, 4, 7):
                until(lambda: process.poll() is not None or (committed() >= batch and spark.executors()))  # noqa: B023
                for each in spark.executors()[:1]:
                    os.kill(each, signal.SIGKILL)
                    killed += 1
            _, said = process.communicate(timeout=300)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, said
    assert killed == 3
    check(tmp_path, given)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.xdist_group("commands")
def test_a_killed_worker_and_a_killed_driver_cost_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a second driver that is started beside the one that runs."""
    monkeypatch.chdir(tmp_path)
    given = put(tmp_path / "in", "parquet")
    TableEnvironment.create().compile_script(SQL.format(form="parquet")).write_to_file(tmp_path / "plan.json")
    with cluster(tmp_path / "cluster") as spark:
        driver = start(spark)
        try:
            until(lambda: driver.poll() is not None or committed() >= 2)
            os.killpg(spark.workers[0], signal.SIGKILL)
            until(lambda: driver.poll() is not None or committed() >= 5)
            assert driver.poll() is None, driver.communicate()
            os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
            reached = committed()
            driver = start(spark)
            until(lambda: driver.poll() is not None or committed() > reached)
            second = start(spark)
            _, refused = second.communicate(timeout=300)
            _, said = driver.communicate(timeout=300)
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
    assert driver.returncode == 0, said
    assert second.returncode == 1, refused
    assert "the job runs already" in refused
    check(tmp_path, given)
