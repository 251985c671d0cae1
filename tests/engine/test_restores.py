"""Jobs in micro-batches over segments go on: from their own savepoints, and after failures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from execnodes.core.errors import JobError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.duckdb_write import DuckdbWriter
from rekindle.connectors.file_sink import FileWriter
from rekindle.engine.log import Log, newest_entry
from rekindle.engine.store.disk import LocalDisk
from rekindle.engine.store.segment_file import all_files
from rekindle.runtime.stream_job import StreamJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE ticks (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/input', 'format' = 'csv');
CREATE TABLE totals (k INT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '{folder}/totals.duckdb', 'table' = 'totals');
CREATE TABLE windows (ws TIMESTAMP(3), k INT, n BIGINT)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/windows', 'format' = 'json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO totals SELECT k, SUM(v) FROM ticks GROUP BY k;
INSERT INTO windows SELECT window_start, k, COUNT(*)
  FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k;
END;
"""
FILES, ROWS, KEYS = 4, 20, 3


class Killed(JobError):
    """In place of a signal."""


@pytest.mark.spark
@pytest.mark.parametrize("seed", [1, *(pytest.param(each, marks=pytest.mark.long) for each in range(2, 20))])
def test_nothing_is_lost_or_doubled_after_failures(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Before, in and behind each sink, and around the commit; sinks hold what the committed rows give, once."""
    _write_input(tmp_path / "input")
    random = Random(seed)
    for owner, name in ((DuckdbWriter, "write"), (FileWriter, "write"), (Log, "commit"), (Log, "plan")):
        monkeypatch.setattr(owner, name, _failing(getattr(owner, name), random))
    failures = 0
    while True:
        try:
            _job(spark, tmp_path).start().wait()
            break
        except Killed:
            failures += 1
    assert failures
    totals, windows = _landed(tmp_path)
    expected_totals, expected_windows = _expected()
    assert totals == expected_totals
    assert windows == expected_windows
    disk = LocalDisk(str(tmp_path / "job" / "engine"))
    entry = newest_entry(disk)
    assert entry is not None
    assert entry.ended == ("1_source",)
    # What attempts have left was swept at a start, or is not there yet.
    assert {*entry.newest().values()} <= all_files(disk)


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


def _job(spark: SparkSession, folder: Path) -> StreamJob:
    options = {
        "execution.job-dir": str(folder / "job"),
        "execution.micro-batch.max-files": "1",
        "parallelism.default": "2",
    }
    environment = TableEnvironment.create(options, spark=spark)
    plan = environment.compile_script(SCRIPT.format(folder=folder))
    return StreamJob(plan.graph, plan.as_json_string(), environment.configuration, spark=spark)


def _rows() -> list[list[tuple[int, int, int]]]:
    """(key, value, second) of each file."""
    random = Random(0)
    return [
        [(random.randrange(KEYS), random.randrange(10), 30 * number + random.randrange(30)) for _ in range(ROWS)]
        for number in range(FILES)
    ]


def _write_input(folder: Path) -> None:
    folder.mkdir()
    for number, rows in enumerate(_rows()):
        lines = (f"{k},{v},2024-01-01 00:{at // 60:02}:{at % 60:02}\n" for k, v, at in sorted(rows, key=lambda r: r[2]))
        (folder / f"{number:02}.csv").write_text("".join(lines))


def _expected() -> tuple[list[tuple[int, int]], list[tuple[str, int, int]]]:
    totals, windows = dict[int, int](), dict[tuple[str, int], int]()
    for k, v, at in (row for rows in _rows() for row in rows):
        totals[k] = totals.get(k, 0) + v
        window = f"2024-01-01 00:{at // 60:02}:00", k
        windows[window] = windows.get(window, 0) + 1
    return sorted(totals.items()), sorted((*window, n) for window, n in windows.items())


def _landed(folder: Path) -> tuple[list[tuple[int, int]], list[tuple[str, int, int]]]:
    with duckdb.connect(folder / "totals.duckdb", read_only=True) as database:
        totals = database.execute("SELECT k, s FROM totals ORDER BY k").fetchall()
    rows = [json.loads(line) for each in (folder / "windows").glob("part-*") for line in each.read_text().splitlines()]
    return totals, sorted((row["ws"].replace("T", " ")[:19], row["k"], row["n"]) for row in rows)
