"""A projection and a filter, 500,000-row batches."""

from __future__ import annotations

from benchmarks.aggregate import LARGE, data
from benchmarks.common import median, run_rekindle, run_spark, spark


def figures(rounds: int = 3) -> dict[str, float]:
    """Speed as a multiple of plain Spark's."""
    folder = data(1_000_000)
    script = f"""
        CREATE TABLE events (k BIGINT, v BIGINT)
          WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet');
        CREATE TABLE kept (k BIGINT, w BIGINT) WITH ('connector' = 'blackhole');
        INSERT INTO kept SELECT k + 1, v * 2 FROM events WHERE v > 10;
    """
    ours, theirs = [], []
    for _ in range(rounds):
        events = spark().readStream.name("events").schema("k bigint, v bigint").option("maxFilesPerTrigger", 1)
        query = events.parquet(folder).where("v > 10").selectExpr("k + 1", "v * 2")
        theirs += run_spark(query, "append")
        ours += run_rekindle(script)
    times = [median([ms for n, ms in batches if n == LARGE]) for batches in (theirs, ours)]
    return {f"{LARGE}-row batches, speed": times[0] / times[1]}
