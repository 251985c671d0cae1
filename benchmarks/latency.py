"""From the renaming of a file to its rows' result in a DuckDB sink: 1,000 rows a second, in files of 100 rows.

Two queries in one job: a count by key, and a window by event time whose rows come when the first row behind it does.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from benchmarks.common import PARALLELISM
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.duckdb_write import DuckdbWriter
from rekindle.spark.session import session

ROWS, BETWEEN = 100, 0.1
"""Of a file; seconds between two."""
WARMING, MEASURED = 150, 600
"""Files that are not measured, and files that are."""
_SCRIPT = """
CREATE TABLE events (k INT, file INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'csv', 'source.monitor-interval' = '20 ms');
CREATE TABLE counts (k INT, n BIGINT, file INT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '{folder}/out.duckdb', 'table' = 'counts');
CREATE TABLE windows (w TIMESTAMP(3), n BIGINT, file INT)
  WITH ('connector' = 'duckdb', 'path' = '{folder}/out.duckdb', 'table' = 'windows');
EXECUTE STATEMENT SET BEGIN
INSERT INTO counts SELECT k, COUNT(*), MAX(file) FROM events GROUP BY k;
INSERT INTO windows SELECT window_end, COUNT(*), MAX(file)
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
END;
"""


def figures() -> dict[str, float]:
    """Milliseconds: median and 99th percentile."""
    with tempfile.TemporaryDirectory(prefix="bench-latency-") as name:
        counted, closed = _measured(Path(name))
    found: dict[str, float] = {}
    for what, taken in (("count by key", counted), ("window, behind the file that closes it", closed)):
        found |= {f"{what}, p{at}, ms": float(np.percentile(taken, at)) for at in (50, 99)}
    return found


def _measured(folder: Path) -> tuple[list[float], list[float]]:
    (folder / "in").mkdir()
    options = {"parallelism.default": str(PARALLELISM), "execution.job-dir": str(folder / "job")}
    environment = TableEnvironment.create(options, spark=session(PARALLELISM))
    landed: dict[str, list[tuple[float, int]]] = {"counts": [], "windows": []}
    with _watched(landed, folder / "out.duckdb"):
        (folder / "in" / "begin.csv").write_text("0,-1,2024-01-01 00:00:00\n")
        job = environment.execute_plan(environment.compile_script(_SCRIPT.format(folder=folder))).job
        assert job is not None
        while not landed["counts"]:
            time.sleep(0.05)
        renamed = _feed(folder / "in")
        time.sleep(3)
        job.stop()
    files = range(WARMING, WARMING + MEASURED)
    counted = [_first(landed["counts"], number) - renamed[number] for number in files]
    # A window of a second ends with every tenth file, and is closed by the one behind it.
    ends = [number for number in files if number % 10 == 9 and number + 1 in files]
    closed = [_first(landed["windows"], number) - renamed[number + 1] for number in ends]
    return [1000 * each for each in counted], [1000 * each for each in closed]


def _feed(folder: Path) -> list[float]:
    renamed, begun = [], time.perf_counter()
    for number in range(WARMING + MEASURED):
        at = np.datetime64("2024-01-01T00:00:00") + np.timedelta64(number * 100, "ms")
        hidden = folder / f".{number}"
        hidden.write_text("".join(f"{k},{number},{str(at).replace('T', ' ')}\n" for k in range(ROWS)))
        time.sleep(max(0.0, begun + number * BETWEEN - time.perf_counter()))
        hidden.rename(folder / f"{number:06d}.csv")
        renamed.append(time.perf_counter())
    return renamed


def _first(landed: list[tuple[float, int]], number: int) -> float:
    return next(at for at, newest in landed if newest >= number)


@contextmanager
def _watched(landed: dict[str, list[tuple[float, int]]], path: Path) -> Iterator[None]:
    """Note when a write has ended, and which file's rows the table then has the result of."""
    write, lock = DuckdbWriter.write_rows, threading.Lock()

    def noting(self: DuckdbWriter, batch: Any, batch_id: int) -> None:
        write(self, batch, batch_id)
        at = time.perf_counter()
        with lock, duckdb.connect(path) as database:
            for table, seen in landed.items():
                newest = database.execute(f"SELECT max(file) FROM {table}").fetchone()
                if newest is not None and newest[0] is not None and (not seen or newest[0] > seen[-1][1]):
                    seen.append((at, newest[0]))

    DuckdbWriter.write_rows = noting  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        DuckdbWriter.write_rows = write  # type: ignore[method-assign]
