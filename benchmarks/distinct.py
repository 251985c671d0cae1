"""COUNT(DISTINCT) of one hot key, 200,000-row batches: in parts, as a multiple of the speed without."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from benchmarks.common import Batches, files, in_turns, median, run_rekindle

ROWS, BATCHES, VALUES = 200_000, 8, 2_000_000
SPLIT = {"table.optimizer.distinct-agg.split.enabled": "true"}


def data() -> str:
    def frames(rng: np.random.Generator) -> Sequence[pl.DataFrame]:
        return [
            pl.DataFrame({"k": np.zeros(ROWS, np.int64), "v": rng.integers(0, VALUES, ROWS)}) for _ in range(BATCHES)
        ]

    return str(files("distinct", frames))


def script(folder: str) -> str:
    return f"""
        CREATE TABLE events (k BIGINT, v BIGINT)
          WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet');
        CREATE TABLE counts (k BIGINT, d BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
        INSERT INTO counts SELECT k, COUNT(DISTINCT v) FROM events GROUP BY k;
    """


def figures(rounds: int = 3) -> dict[str, float]:
    """Speed in parts as a multiple of that of one task for the key; the first batch compiles."""
    folder = data()
    sides = {"whole": partial(run_rekindle, script(folder)), "parts": partial(run_rekindle, script(folder), SPLIT)}
    whole, parts = in_turns(rounds, sides).values()
    return {f"one key, {ROWS}-row batches, speed in parts": _time(whole) / _time(parts)}


def _time(runs: list[Batches]) -> float:
    return median([ms for batches in runs for _, ms in batches[1:]])
