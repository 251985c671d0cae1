"""HOP of 60 slides against TUMBLE, and sessions of 100,000 keys against plain Spark's session_window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.common import Batches, files, in_turns, median, run_rekindle, run_spark, spark

ROWS, SECONDS = 500_000, 10
"""Of a batch."""
FEW, MANY = 100, 100_000
"""Keys."""
TUMBLE = "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '60' SECOND)"
HOP = "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '60' SECOND)"
SESSION = "SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)"
TWO_PHASE = {"table.optimizer.agg-phase-strategy": "TWO_PHASE"}


def data(keys: int) -> str:
    """Batches of ten seconds each, in order but for a second."""

    def frames(rng: np.random.Generator) -> Sequence[pl.DataFrame]:
        found = []
        for number in range(10):
            times = np.sort(rng.integers(0, SECONDS * 1000, ROWS)) + number * SECONDS * 1000
            times -= rng.integers(0, 1000, ROWS)
            stamps = pl.Series(times + 1_700_000_000_000).cast(pl.Datetime("ms"))
            found.append(
                pl.DataFrame({"k": rng.integers(0, keys, ROWS), "v": rng.integers(0, 100, ROWS), "ts": stamps})
            )
        return found

    return str(files(f"windows-{keys}", frames))


def script(folder: str, window: str) -> str:
    return f"""
        CREATE TABLE events (k BIGINT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
          WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet');
        CREATE TABLE totals (k BIGINT, s BIGINT, c BIGINT) WITH ('connector' = 'blackhole');
        INSERT INTO totals SELECT k, SUM(v), COUNT(*) FROM TABLE({window}) GROUP BY k, window_start, window_end;
    """


def plain_sessions(folder: str) -> Batches:
    stream = spark().readStream.name("events").schema("k bigint, v bigint, ts timestamp_ntz")
    events = stream.option("maxFilesPerTrigger", 1).parquet(folder).selectExpr("k", "v", "CAST(ts AS TIMESTAMP) AS ts")
    groups = events.withWatermark("ts", "1 second").groupBy("k", F.session_window("ts", "5 seconds"))
    return run_spark(groups.agg(F.sum("v"), F.count("*")), "append")


def figures(rounds: int = 3) -> dict[str, float]:
    """Times of HOP as multiples of TUMBLE's; speed of sessions as a multiple of plain Spark's."""
    few, many = data(FEW), data(MANY)
    sides = {
        "tumble": partial(run_rekindle, script(few, TUMBLE)),
        "hop": partial(run_rekindle, script(few, HOP)),
        "sliced": partial(run_rekindle, script(few, HOP), TWO_PHASE),
    }
    tumble, hop, sliced = in_turns(rounds, sides).values()
    sessions = {"spark": partial(plain_sessions, many), "rekindle": partial(run_rekindle, script(many, SESSION))}
    theirs, ours = in_turns(rounds, sessions).values()
    return {
        f"HOP of 60 slides, {FEW} keys, time against TUMBLE": _time(hop) / _time(tumble),
        f"HOP of 60 slides, {FEW} keys, TWO_PHASE, time against TUMBLE": _time(sliced) / _time(tumble),
        f"SESSION over {MANY} keys, speed": _time(theirs) / _time(ours),
    }


def _time(runs: list[Batches]) -> float:
    """Median of the batches but for the very first, which warms up."""
    return median([ms for batches in runs for _, ms in batches][1:])
