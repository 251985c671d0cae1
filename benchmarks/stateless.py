"""A projection and a filter, 500,000-row batches."""

from __future__ import annotations

from functools import partial

from benchmarks.aggregate import LARGE, data
from benchmarks.common import Batches, batch_ms, in_turns, run_rekindle, run_spark, spark


def figures(rounds: int = 3) -> dict[str, float]:
    """Speed as a multiple of plain Spark's."""
    folder = data(1_000_000)
    script = f"""
        CREATE TABLE events (k BIGINT, v BIGINT)
          WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet');
        CREATE TABLE kept (k BIGINT, w BIGINT) WITH ('connector' = 'blackhole');
        INSERT INTO kept SELECT k + 1, v * 2 FROM events WHERE v > 10;
    """
    sides = {"spark": partial(plain, folder), "rekindle": partial(run_rekindle, script)}
    theirs, ours = (batch_ms(runs, LARGE) for runs in in_turns(rounds, sides).values())
    return {f"{LARGE}-row batches, speed": theirs / ours}


def plain(folder: str) -> Batches:
    events = spark().readStream.name("events").schema("k bigint, v bigint").option("maxFilesPerTrigger", 1)
    return run_spark(events.parquet(folder).where("v > 10").selectExpr("k + 1", "v * 2"), "append")
