"""What a micro-batch of 2,000 and of 500,000 rows costs against the keys in the state: 10,000 to 5 million.

Draws docs/pictures/state-size.svg.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.common import Batches, files, median, run_rekindle

KEYS = (10_000, 100_000, 1_000_000, 5_000_000)
LARGE, SMALL = 500_000, 2_000
_SECONDS = (0.2, 0.5, 1, 2, 5)
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "state-size.svg"
_TABLE = "(k BIGINT, v BIGINT) WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{}');"


def data(keys: int) -> str:
    """Files that fill the state, then ones of `LARGE` rows, then ones of `SMALL` rows."""

    def frames(rng: np.random.Generator) -> Sequence[pl.DataFrame]:
        drawn = [rng.integers(0, keys, rows) for rows in [LARGE] * 4 + [SMALL] * 7]
        return [_frame(rng, k) for k in (*_filling(rng, keys), *drawn)]

    return str(files(f"state-{keys}", frames))


def other(keys: int) -> str:
    """The other side of a join: each key once while the state is filled, then a new one in each file."""

    def frames(rng: np.random.Generator) -> Sequence[pl.DataFrame]:
        return [_frame(rng, k) for k in (*_filling(rng, keys), *(np.array([keys + i]) for i in range(11)))]

    return str(files(f"state-{keys}-other", frames))


def _filling(rng: np.random.Generator, keys: int) -> list[NDArray[np.int64]]:
    return np.array_split(rng.permutation(keys), max(1, keys // LARGE))


def _frame(rng: np.random.Generator, keys: NDArray[np.int64]) -> pl.DataFrame:
    return pl.DataFrame({"k": keys, "v": rng.integers(0, 10**6, len(keys))})


def aggregate(keys: int) -> str:
    return f"""
        CREATE TABLE events {_TABLE.format(data(keys))}
        CREATE TABLE totals (k BIGINT, s BIGINT, c BIGINT) WITH ('connector' = 'blackhole');
        INSERT INTO totals SELECT k, SUM(v), COUNT(*) FROM events GROUP BY k;
    """


def rank(keys: int) -> str:
    return f"""
        CREATE TABLE events {_TABLE.format(data(keys))}
        CREATE TABLE best (k BIGINT, v BIGINT, n BIGINT) WITH ('connector' = 'blackhole');
        INSERT INTO best SELECT k, v, n
        FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM events) WHERE n <= 3;
    """


def join(keys: int) -> str:
    return f"""
        CREATE TABLE a {_TABLE.format(data(keys))}
        CREATE TABLE b {_TABLE.format(other(keys))}
        CREATE TABLE joined (k BIGINT, v BIGINT, w BIGINT) WITH ('connector' = 'blackhole');
        INSERT INTO joined SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k;
    """


QUERIES: dict[str, Callable[[int], str]] = {
    "SUM and COUNT by key": aggregate,
    "Top-3 of each key": rank,
    "join of two streams": join,
}


def figures(keys: Sequence[int] = KEYS) -> dict[str, float]:
    """Milliseconds of a batch."""
    found = {}
    for (name, script), number in product(QUERIES.items(), keys):
        batches = run_rekindle(script(number))
        for rows in (LARGE, SMALL):
            # The first of a size warms up; the one before it fills the state, and may have as many rows.
            found[name, number, rows] = median([ms for _, ms in _behind_fill(batches, rows)[1:]])
    draw(found)
    return {f"{name}, {number:,} keys, {rows:,}-row batches, ms": ms for (name, number, rows), ms in found.items()}


def _behind_fill(batches: Batches, rows: int) -> Batches:
    return batches[-11:-7] if rows == LARGE else batches[-7:]


def draw(found: dict[tuple[str, int, int], float]) -> None:
    """Two panels, one for each size of batch; both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "rekindle", "font.size": 11})
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
    for panel, rows in zip(panels, (SMALL, LARGE), strict=True):
        for name in QUERIES:
            line = {number: ms for (query, number, size), ms in found.items() if (query, size) == (name, rows)}
            panel.plot(list(line), [ms / 1000 for ms in line.values()], marker="o", label=name)
        panel.set(xscale="log", yscale="log", xlabel="keys in the state", title=f"micro-batches of {rows:,} rows")
        panel.set_xticks(KEYS, ["10k", "100k", "1M", "5M"])
        panel.set_yticks(_SECONDS, list(map(str, _SECONDS)))
        panel.minorticks_off()
        panel.grid(visible=True, which="major", alpha=0.3)
    panels[0].set_ylabel("seconds a micro-batch")
    panels[0].legend(frameon=False)
    figure.suptitle(f"Cost against the size of the state, 2 cores, {date.today().isoformat()}", fontsize=11)
    figure.savefig(PICTURE, metadata={"Date": None})
