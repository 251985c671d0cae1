"""A job is killed with -9 again and again; started from its folder, it loses nothing and doubles nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl
import pytest

ROWS = 200

TABLES = """
CREATE TABLE orders (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/in', 'format' = '{form}');
CREATE TABLE totals (k STRING, s BIGINT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '{dir}/out.duckdb', 'table' = 'totals');
CREATE TABLE windows (w TIMESTAMP(3), c BIGINT) WITH ({windows});
CREATE TABLE copies (id INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{dir}/copies', 'format' = 'parquet');
"""
SUMS = "INSERT INTO totals SELECT k, SUM(v), COUNT(*) FROM orders GROUP BY k;"
WINDOWS = """INSERT INTO windows SELECT window_start, COUNT(*)
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;"""
COPIES = "INSERT INTO copies SELECT id, v FROM orders WHERE v > 10;"
IN_FILES = "'connector' = 'filesystem', 'path' = '{dir}/windows', 'format' = 'json'"
IN_DATABASE = "'connector' = 'duckdb', 'path' = '{dir}/out.duckdb', 'table' = 'windows'"


@dataclass(frozen=True)
class Job:
    """Reads files of a format, and writes into some sinks."""

    form: str
    windows: str
    inserts: tuple[str, ...]
    batches: int = 2
    """Micro-batches for each kill: more than there are in the time before it, so that it meets a job at work."""

    def script(self, folder: Path) -> str:
        """Its statements."""
        tables = TABLES.format(dir=folder, form=self.form, windows=self.windows.format(dir=folder))
        return f"{tables} EXECUTE STATEMENT SET BEGIN {' '.join(self.inserts)} END;"


JOBS = (
    Job("json", IN_FILES, (SUMS, WINDOWS, COPIES)),
    Job("parquet", IN_FILES, (SUMS, WINDOWS, COPIES)),
    # These two stand: they are built once. The last one's call reads the files.
    Job("json", IN_DATABASE, (SUMS, WINDOWS), 16),
    Job("parquet", IN_DATABASE, (SUMS, WINDOWS), 16),
)


def write_input(folder: Path, files: int, form: str) -> list[dict[str, object]]:
    (folder / "in").mkdir()
    rows: list[dict[str, object]] = []
    for number in range(files):
        part: list[dict[str, object]] = [
            {
                "id": i,
                "k": f"k{i % 7}",
                "v": i % 23,
                "ts": f"2024-01-01 {i // 3600:02d}:{i // 60 % 60:02d}:{i % 60:02d}.000",
            }
            for i in range(number * ROWS, (number + 1) * ROWS)
        ]
        path = folder / "in" / f"{number:03d}.{form}"
        if form == "json":
            path.write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
        else:
            times = pl.col("ts").str.to_datetime(time_unit="us")
            pl.DataFrame(part).with_columns(times, pl.col("id", "v").cast(pl.Int32)).write_parquet(path)
        # Spark reads files of one millisecond in any order; then rows of the earlier one could be late.
        os.utime(path, (1e9 + number, 1e9 + number))
        rows += part
    return rows


def rekindle(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "rekindle", *arguments]


def planned(folder: Path) -> int:
    """How many plans of micro-batches there are."""
    return len(list((folder / "job" / "engine" / "log").glob("*.planned")))


def kill_until_done(folder: Path, kills: int, seed: int) -> int:
    """Run the job; kill it at random moments `kills` times, then let it end. Returns how many kills hit."""
    command = rekindle(
        "run", str(folder / "plan.json"), "--job-dir", str(folder / "job"),
        "-D", "execution.micro-batch.max-files=1",
        "-D", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
    )  # fmt: skip
    chance, hits = random.Random(seed), 0
    for _ in range(kills):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        # Count from the first sign of work, so that kills meet batches and not only the start of Spark.
        seen = planned(folder)
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if planned(folder) > seen:
                break
            time.sleep(0.05)
        time.sleep(chance.uniform(0, 1.5))
        if process.poll() is None:
            hits += 1
        subprocess.run(["pkill", "-9", "-g", str(process.pid)], check=False)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return hits


def check_output(folder: Path, rows: list[dict[str, object]], job: Job) -> None:
    totals: dict[str, tuple[int, int]] = {}
    windows: dict[str, int] = {}
    for row in rows:
        s, c = totals.get(str(row["k"]), (0, 0))
        totals[str(row["k"])] = (s + int(str(row["v"])), c + 1)
        windows[f"{str(row['ts'])[:16]}:00"] = windows.get(f"{str(row['ts'])[:16]}:00", 0) + 1
    with duckdb.connect(str(folder / "out.duckdb"), read_only=True) as database:
        found = {k: (s, c) for k, s, c in database.sql("SELECT k, s, c FROM totals").fetchall()}
        if COPIES in job.inserts:
            copied = database.sql(f"SELECT id, v FROM read_parquet('{folder}/copies/*.parquet') ORDER BY id").fetchall()
            assert copied == [(row["id"], row["v"]) for row in rows if int(str(row["v"])) > 10]
        if job.windows == IN_DATABASE:
            fired = [(str(w), c) for w, c in database.sql("SELECT w, c FROM windows").fetchall()]
        else:
            lines = (line for file in (folder / "windows").glob("[!._]*") for line in file.read_text().splitlines())
            fired = [(row["w"][:19], row["c"]) for row in map(json.loads, lines)]
    assert found == totals
    assert sorted(fired) == sorted(windows.items())


def run(folder: Path, kills: int, seed: int) -> None:
    job = JOBS[seed % len(JOBS)]
    rows = write_input(folder, job.batches * kills + 6, job.form)
    (folder / "job.sql").write_text(job.script(folder), encoding="utf-8")
    compiled = subprocess.run(
        rekindle("compile", "-f", str(folder / "job.sql"), "-o", str(folder / "plan.json")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stdout + compiled.stderr
    hits = kill_until_done(folder, kills, seed)
    assert hits == kills
    check_output(folder, rows, job)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("seed", range(len(JOBS)))
def test_three_kills(tmp_path: Path, seed: int) -> None:
    run(tmp_path, kills=3, seed=seed)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("seed", range(15))
def test_twenty_kills(tmp_path: Path, seed: int) -> None:
    run(tmp_path, kills=20, seed=seed)
