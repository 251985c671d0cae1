"""The nexmark generator alone, all columns: how many events a core makes in a second."""

from __future__ import annotations

import time

from benchmarks.common import PARALLELISM, median, spark
from rekindle.api.table_environment import TableEnvironment

EVENTS = 10_000_000
COLUMNS = """
  kind INT,
  person ROW<id BIGINT, name STRING, email STRING, card STRING, city STRING, state STRING, ts TIMESTAMP(3),
    extra STRING>,
  auction ROW<id BIGINT, item STRING, descr STRING, start_price BIGINT, reserve BIGINT, ts TIMESTAMP(3),
    expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING>,
  bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, ts TIMESTAMP(3), extra STRING>
"""
SCRIPT = f"""
CREATE TABLE events ({COLUMNS}) WITH ('connector' = 'nexmark', 'events.num' = '{EVENTS}');
CREATE TABLE nothing ({COLUMNS}) WITH ('connector' = 'blackhole');
INSERT INTO nothing SELECT * FROM events;
"""


def figures(rounds: int = 3) -> dict[str, float]:
    """Thousands of events a second and core, median of the runs after the first."""
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark())
    plan = environment.compile_script(SCRIPT)
    times = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        environment.execute_plan(plan).await_()
        times.append(time.perf_counter() - started)
    return {"all columns, thousand events a second and core": EVENTS / 1000 / median(times[1:]) / PARALLELISM}
