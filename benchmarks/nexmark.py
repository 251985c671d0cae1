"""The nexmark generator alone, all columns: how many events a core makes in a second."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.common import PARALLELISM, median, spark
from execnodes.core.options import Configuration
from execnodes.core.tables import ResolvedTable
from rekindle.connectors.base import SourceRequest
from rekindle.connectors.registry import find_source
from rekindle.table_environment import TableEnvironment

EVENTS = 4_000_000
TABLE = f"""
CREATE TABLE events (
  kind INT,
  person ROW<id BIGINT, name STRING, email STRING, card STRING, city STRING, state STRING, ts TIMESTAMP(3),
    extra STRING>,
  auction ROW<id BIGINT, item STRING, descr STRING, start_price BIGINT, reserve BIGINT, ts TIMESTAMP(3),
    expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING>,
  bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, ts TIMESTAMP(3), extra STRING>
) WITH ('connector' = 'nexmark', 'events.num' = '{EVENTS}')
"""


def figures(rounds: int = 5) -> dict[str, float]:
    """Thousands of events a second and core, median of the runs after the first."""
    with tempfile.TemporaryDirectory() as folder:
        columns = _table().table_schema.columns
        request = SourceRequest(
            _table(), "events", columns, "1_source", batch=True, ordered=False, configuration=Configuration(),
            job_dir=Path(folder),
        )  # fmt: skip
        frame = find_source("nexmark", "events").read(spark(), request).frame
        times = []
        for _ in range(rounds + 1):
            started = time.perf_counter()
            frame.write.format("noop").mode("overwrite").save()
            times.append(time.perf_counter() - started)
    return {"all columns, thousand events a second and core": EVENTS / 1000 / median(times[1:]) / PARALLELISM}


def _table() -> ResolvedTable:
    environment = TableEnvironment.create(spark=spark())
    environment.execute_sql(TABLE)
    found = environment.tables.lookup(("default_catalog", "default_database", "events"))
    assert found is not None
    return found.table
