"""A row that Java's heap has no room for ends the program with an error that says so: no hang, no empty result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rekindle.jobs.status import State, read_status

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("commands")]
TABLE = "CREATE TABLE t (k STRING, v STRING) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');"
BATCH = f"{TABLE} SET 'execution.runtime-mode' = 'batch'; SELECT k, v FROM t;"
STREAM = f"""{TABLE}
CREATE TABLE s (k STRING, v STRING) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'debezium-json');
INSERT INTO s SELECT k, MAX(v) FROM t GROUP BY k;
"""


def rekindle(folder: Path, sql: str, memory: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rekindle", "sql", "-D", f"spark.driver.memory={memory}", "-e", sql],
        cwd=folder, env={**os.environ, "REKINDLE_HOME": str(folder / "home")},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("sql", [BATCH, pytest.param(STREAM, marks=pytest.mark.long)], ids=["batch", "stream"])
def test_a_row_that_is_too_large(tmp_path: Path, sql: str) -> None:
    (tmp_path / "in").mkdir()
    rows = ({"k": "small", "v": "x"}, {"k": "large", "v": "y" * 150_000_000})
    (tmp_path / "in/a.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended = rekindle(tmp_path, f"SET 'execution.job-dir' = 'job'; {sql}", "500m")
    assert ended.returncode == 1
    assert "error: Spark's Java process is out of memory" in ended.stderr
    assert "-D spark.driver.memory=4g" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "small" not in ended.stdout
    assert "0 rows" not in ended.stdout
    status = read_status(tmp_path / "job")
    assert status is not None
    assert status.state is State.FAILED
    assert not list((tmp_path / "out").glob("[!._]*"))


@pytest.mark.long
def test_a_heap_that_spark_does_not_start_with(tmp_path: Path) -> None:
    ended = rekindle(tmp_path, f"{TABLE} SELECT * FROM t;", "100m")
    assert ended.returncode == 1
    assert "error: Spark could not be started: " in ended.stderr
    assert "-D spark.driver.memory=4g" in ended.stderr
