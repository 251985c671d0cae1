"""Top-N, OVER and sessions beside Flink, on the same files and cores.

``make bench-flink`` with REKINDLE_FLINK_PYTHON: PyFlink has a Python of its own, since it needs another py4j than
PySpark does. Both sides read JSON, because Flink's Parquet needs a jar that PyFlink lacks, and write to a black hole.
Times are those of jobs from start to end, in turns and both orders, after one of each that warms up. What a job takes
to start is left out by the difference between one of few files and one of many.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.common import PARALLELISM, files, in_turns, median, run_rekindle

KEYS, ROWS = 100_000, 500_000
FEW, MANY = 1, 4
"""Files of so many rows."""
MISSING = (
    "skipped: REKINDLE_FLINK_PYTHON names no Python that has PyFlink "
    "(python -m venv flink && flink/bin/pip install 'apache-flink>=2.3,<2.4'; REKINDLE_FLINK_PYTHON=flink/bin/python)"
)
QUERIES = {
    "Top-10": (
        "k BIGINT, v BIGINT, n BIGINT",
        "SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM events)"
        " WHERE n <= 10",
    ),
    "OVER ROWS 10": (
        "k BIGINT, s BIGINT",
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) FROM events",
    ),
    "SESSION": (
        "k BIGINT, s TIMESTAMP(3), e TIMESTAMP(3), c BIGINT",
        "SELECT k, window_start, window_end, COUNT(*)"
        " FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' SECOND))"
        " GROUP BY k, window_start, window_end",
    ),
    "SUM and COUNT": ("k BIGINT, s BIGINT, c BIGINT", "SELECT k, SUM(v), COUNT(*) FROM events GROUP BY k"),
}
"""Name to the columns of the sink and the query."""


def data(count: int) -> str:
    """Rows of keys at random in so many files, whose times go forward by a tenth of a second a thousand rows."""

    def frames(rng: np.random.Generator) -> Sequence[pl.DataFrame]:
        found = []
        for file in range(count):
            at = np.arange(file * ROWS, (file + 1) * ROWS)
            time = pl.Series(1_700_000_000_000 + at // 10).cast(pl.Datetime("ms")).dt.strftime("%Y-%m-%d %H:%M:%S%.3f")
            columns = {"k": rng.integers(0, KEYS, ROWS), "v": rng.integers(0, 1_000_000, ROWS), "ts": time}
            found.append(pl.DataFrame(columns))
        return found

    return str(files(f"events-{KEYS}-{count}", frames, pl.DataFrame.write_ndjson))


def statements(folder: str, sink: str, query: str) -> tuple[list[str], str]:
    """DDL, and what is run, for both."""
    events = f"""CREATE TABLE events (k BIGINT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
        WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json')"""
    return [events, f"CREATE TABLE sink ({sink}) WITH ('connector' = 'blackhole')"], f"INSERT INTO sink {query}"


def ours(tables: list[str], insert: str) -> float:
    """Seconds."""
    began = time.perf_counter()
    run_rekindle(";\n".join((*tables, f"{insert};")))
    return time.perf_counter() - began


@contextmanager
def theirs(python: str) -> Iterator[Callable[[list[str], str], float]]:
    """The seconds of what one process of PyFlink runs."""
    command = [python, str(Path(__file__).with_name("flink_side.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        told, answers = process.stdin, process.stdout

        def run(tables: list[str], insert: str) -> float:
            line = json.dumps({"tables": tables, "insert": insert, "parallelism": str(PARALLELISM)})
            print(line, file=told, flush=True)
            return float(answers.readline())

        yield run


def figures(rounds: int = 3) -> dict[str, float]:
    """Speed of Rekindle as a multiple of Flink's."""
    python = os.environ.get("REKINDLE_FLINK_PYTHON", "")
    if not python:
        sys.exit(MISSING)
    found = dict[str, float]()
    folders = {count: data(count) for count in (FEW, MANY)}
    for name, (sink, query) in QUERIES.items():
        with theirs(python) as flink:
            sides: dict[str, Callable[[], float]] = {}
            for count, folder in folders.items():
                asked = statements(folder, sink, query)
                sides |= {f"flink {count}": partial(flink, *asked), f"rekindle {count}": partial(ours, *asked)}
            in_turns(1, sides)
            took = {side: median(seconds) for side, seconds in in_turns(rounds, sides).items()}
        work = f"{name} of {KEYS} keys, {MANY * ROWS} rows, speed against Flink"
        found[work] = took[f"flink {MANY}"] / took[f"rekindle {MANY}"]
        more = (took[f"{side} {MANY}"] - took[f"{side} {FEW}"] for side in ("flink", "rekindle"))
        found[f"{work}, start left out"] = next(more) / next(more)
    return found
