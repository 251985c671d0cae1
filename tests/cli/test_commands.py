"""Commands end to end, each in a process of its own: a job runs, is stopped by Ctrl-C, and goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rekindle.files.job_folder import JobFolder

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.xdist_group("commands")]
REKINDLE = [sys.executable, "-m", "rekindle.cli.main"]
TABLES = """
CREATE TABLE orders (region STRING, pieces INT) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
CREATE TABLE sales (region STRING, pieces INT) WITH ('connector' = 'filesystem', 'path' = 'sales', 'format' = 'json');
CREATE TABLE printed (region STRING, pieces INT) WITH ('connector' = 'print');
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "orders").mkdir()
    rows = [{"region": "north", "pieces": 3}, {"region": "south", "pieces": 1}, {"region": "north", "pieces": 2}]
    (tmp_path / "orders" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tables = TABLES.replace("'orders'", f"'{tmp_path}/orders'").replace("'sales'", f"'{tmp_path}/sales'")
    (tmp_path / "tables.sql").write_text(tables)
    return tmp_path


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*REKINDLE, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def test_a_script_shows_its_results(folder: Path) -> None:
    done = call(
        folder, "sql", "-i", "tables.sql", "-e", "SHOW TABLES; SELECT region, pieces FROM orders WHERE pieces > 1;"
    )
    assert done.returncode == 0, done.stderr
    assert "3 rows in set" in done.stdout
    assert "| +I | north  |      3 |\n| +I | north  |      2 |\n" in done.stdout
    assert "Received a total of 2 rows" in done.stdout
    assert not [line for line in done.stderr.splitlines() if not line.startswith("batch ")]


def test_errors_of_the_data_name_the_file_and_show_no_traceback(folder: Path) -> None:
    (folder / "orders" / "b.jsonl").write_text("{broken\n")
    done = call(folder, "sql", "-i", "tables.sql", "-e", "SELECT * FROM orders;")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "b.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_compile_and_run(folder: Path) -> None:
    (folder / "job.sql").write_text((folder / "tables.sql").read_text() + "INSERT INTO printed SELECT * FROM orders;")
    assert call(folder, "compile", "-f", "job.sql", "-o", "plan.json").returncode == 0
    again = call(folder, "compile", "-f", "job.sql", "-o", "plan.json")
    assert again.returncode == 1
    assert "the plan file exists already" in again.stderr
    done = call(folder, "run", "plan.json", "--job-dir", "job")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["+I[north, 2]", "+I[north, 3]", "+I[south, 1]"]
    assert "plan.json: finished, 3 rows in 1 micro-batches" in done.stderr
    (folder / "orders" / "b.jsonl").write_text('{"region": "east", "pieces": 7}\n')
    assert call(folder, "lint", "plan.json").returncode == 0


ENDLESS = """
CREATE TABLE numbers (id BIGINT, k INT) WITH ('connector' = 'datagen', 'rows-per-second' = '100');
CREATE TABLE away (id BIGINT, k INT) WITH ('connector' = 'blackhole');
INSERT INTO away SELECT id, k FROM numbers;
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_job_goes_on_from_its_folder(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "job.sql").write_text(ENDLESS)
    assert call(tmp_path, "compile", "-f", "job.sql", "-o", "plan.json").returncode == 0
    first = stopped_after_two_batches(tmp_path, number)
    second = stopped_after_two_batches(tmp_path, number)
    assert second > first


def stopped_after_two_batches(folder: Path, number: signal.Signals) -> int:
    """Run, interrupt, and tell the last committed micro-batch."""
    before = last(folder / "job")
    command = [*REKINDLE, "run", "plan.json", "--job-dir", "job"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 200
        while last(folder / "job") < before + 2 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        process.send_signal(number)
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 128 + number, errors
    assert "Go on with: rekindle run plan.json --job-dir job" in errors
    assert "Traceback" not in errors
    return last(folder / "job")


def last(job: Path) -> int:
    found = JobFolder(job).committed_batch()
    return -1 if found is None else found
