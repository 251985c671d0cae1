"""SUM and COUNT by key: 500,000-row batches over 10,000 and a million keys, and 2,000-row batches onto the latter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.common import Batches, batch_ms, files, in_turns, run_rekindle, run_spark, spark

LARGE, SMALL = 500_000, 2_000


def data(keys: int) -> str:
    def frames(rng: np.random.Generator) -> Sequence[pl.DataFrame]:
        fill = np.array_split(rng.permutation(keys), max(1, keys // LARGE)) if keys > LARGE else []
        batches = [
            *fill,
            *(rng.integers(0, keys, LARGE) for _ in range(5)),
            *(rng.integers(0, keys, SMALL) for _ in range(6)),
        ]
        return [pl.DataFrame({"k": k.astype(np.int64), "v": rng.integers(0, 100, len(k))}) for k in batches]

    return str(files(f"aggregate-{keys}", frames))


def script(folder: str) -> str:
    return f"""
        CREATE TABLE events (k BIGINT, v BIGINT)
          WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet');
        CREATE TABLE totals (k BIGINT, s BIGINT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED)
          WITH ('connector' = 'blackhole');
        INSERT INTO totals SELECT k, SUM(v), COUNT(*) FROM events GROUP BY k;
    """


def plain(folder: str) -> Batches:
    events = (
        spark().readStream.name("events").schema("k bigint, v bigint").option("maxFilesPerTrigger", 1).parquet(folder)
    )
    return run_spark(events.groupBy("k").agg(F.sum("v"), F.count("*")), "update")


def figures(rounds: int = 3) -> dict[str, float]:
    """Speed of Rekindle as a multiple of plain Spark's; for the small batches, time as a multiple."""
    result = {}
    for keys in (10_000, 1_000_000):
        folder = data(keys)
        sides = {"spark": partial(plain, folder), "rekindle": partial(run_rekindle, script(folder))}
        theirs, ours = in_turns(rounds, sides).values()
        result[f"{keys} keys, {LARGE}-row batches, speed"] = batch_ms(theirs, LARGE) / batch_ms(ours, LARGE)
        if keys == 1_000_000:
            result[f"{keys} keys, {SMALL}-row batches, time"] = batch_ms(ours, SMALL) / batch_ms(theirs, SMALL)
    return result
