"""Inner join with 1 million rows (100-byte payload) of state on each side: 400,000-row and 4,000-row batches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.common import Batches, files, in_turns, median, run_rekindle, run_spark, spark

LARGE, SMALL = 200_000, 2_000


def data(side: str) -> str:
    def frames(rng: np.random.Generator) -> Sequence[pl.DataFrame]:
        rng = np.random.default_rng(sum(map(ord, side)))
        sizes = [LARGE] * 7 + [SMALL] * 6
        return [
            pl.DataFrame({"k": rng.integers(0, 1_000_000, n), "p": [f"{x:0100d}" for x in rng.integers(0, 10**9, n)]})
            for n in sizes
        ]

    return str(files(f"join-{side}", frames))


def script(left: str, right: str) -> str:
    def table(name: str, folder: str) -> str:
        options = f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet'"
        return f"CREATE TABLE {name} (k BIGINT, p STRING) WITH ({options});"

    return f"""
        {table("a", left)} {table("b", right)}
        CREATE TABLE joined (k BIGINT, p STRING, q STRING) WITH ('connector' = 'blackhole');
        INSERT INTO joined SELECT a.k, a.p, b.p FROM a JOIN b ON a.k = b.k;
    """


def plain(left: str, right: str) -> Batches:
    def side(name: str, folder: str):  # type: ignore[no-untyped-def]
        reader = spark().readStream.name(name).schema("k bigint, p string").option("maxFilesPerTrigger", 1)
        return reader.parquet(folder)

    b = side("b", right).select("k", F.col("p").alias("q"))
    return run_spark(side("a", left).join(b, "k"), "append")


def figures(rounds: int = 3) -> dict[str, float]:
    """Speed of large batches and time of small ones, as multiples of plain Spark's, onto 1M rows of state a side."""
    left, right = data("a"), data("b")
    sides = {"spark": partial(plain, left, right), "rekindle": partial(run_rekindle, script(left, right))}
    theirs, ours = in_turns(rounds, sides).values()
    return {
        f"{2 * LARGE}-row batches, speed": _time(theirs, 2 * LARGE) / _time(ours, 2 * LARGE),
        f"{2 * SMALL}-row batches, time": _time(ours, 2 * SMALL) / _time(theirs, 2 * SMALL),
    }


def _time(runs: list[Batches], rows: int) -> float:
    """Median of the batches behind the first five, which fill the state."""
    return median([ms for batches in runs for n, ms in batches[5:] if n == rows])
