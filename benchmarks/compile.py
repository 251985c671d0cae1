"""Compiling: a statement the size of Nexmark's q5, warm; `rekindle compile` from a cold start; loading a large plan."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import median
from planner.parse import parse
from planner.statements import Insert
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.statements.compile import compile_graph

TABLES = """
CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '4' SECOND
) WITH ('connector' = 'nexmark', 'events.num' = '1000');
CREATE TABLE hot (auction BIGINT, num BIGINT, max_n BIGINT) WITH ('connector' = 'print');
"""
INSERT = """
INSERT INTO hot
SELECT c.auction, c.num, m.max_n FROM (
  SELECT auction, COUNT(*) AS num, MAX(price) AS top, window_end AS e
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
  GROUP BY auction, window_start, window_end
) AS c JOIN (
  SELECT MAX(n) AS max_n, e FROM (
    SELECT COUNT(*) AS n, window_end AS e
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    GROUP BY auction, window_start, window_end
  ) GROUP BY e
) AS m ON c.e = m.e AND c.num >= m.max_n
"""
"""q5 with a regular join, as figures of earlier releases are of: as many operators, expressions and columns."""

ROWS = ", ".join(f"({at}, 'x', {at}.5)" for at in range(10_000))
VALUES = f"SELECT * FROM (VALUES {ROWS}) AS v (a, b, c)"
AGGREGATES = f"{TABLES} SELECT bidder, {', '.join(f'SUM(price + {i})' for i in range(2000))} FROM bid GROUP BY bidder"


class Spent(NamedTuple):
    """Seconds."""

    elapsed: float
    processor: float
    """Of the processor; less than a busy machine takes."""


def figures(rounds: int = 30) -> dict[str, float]:
    """Milliseconds and seconds, medians."""
    return {
        "q5-size statement, warm, ms": _warm(rounds),
        "rekindle compile, cold, s": _cold(5, TABLES + INSERT).elapsed,
        "rekindle compile of 10,000 rows of VALUES, cold, s of processor time": _cold(5, VALUES).processor,
        "rekindle compile of 2,000 aggregates, cold, s of processor time": _cold(5, AGGREGATES).processor,
        "load and lower a plan of 50 nodes, s": _load(5),
    }


def _warm(rounds: int) -> float:
    environment = TableEnvironment.create()
    environment.execute_script(TABLES)
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        (statement,) = parse(INSERT)
        assert isinstance(statement, Insert)
        load(encode(compile_graph(statement, environment.catalog, environment.configuration)))
        times.append((time.perf_counter() - started) * 1000)
    return median(times)


def _cold(rounds: int, statements: str) -> Spent:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.sql"
        script.write_text(statements, encoding="utf-8")
        target = f"{folder}/plan.json"
        command = [sys.executable, "-m", "rekindle", "compile", "-f", str(script), "-o", target, "--force"]
        elapsed, processor = [], []
        for _ in range(rounds):
            started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            elapsed.append(time.perf_counter() - started)
            processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return Spent(median(elapsed), median(processor))


def _load(rounds: int) -> float:
    from rekindle.pipeline.record import record
    from rekindle.pipeline.ways import plan_ways

    environment = TableEnvironment.create()
    sinks = "".join(f"CREATE TABLE s{i} (k BIGINT, c BIGINT) WITH ('connector' = 'print');" for i in range(10))
    environment.execute_script(TABLES + sinks)
    inserts = "".join(
        f"INSERT INTO s{i} SELECT auction + {i}, COUNT(*) FROM bid WHERE price > {i} GROUP BY auction + {i};"
        for i in range(10)
    )
    text = environment.compile_plan_sql(f"EXECUTE STATEMENT SET BEGIN {inserts} END").as_json_string()
    assert len(load(text).nodes) >= 50
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        plan_ways(record(load(text)))
        times.append(time.perf_counter() - started)
    return median(times)
