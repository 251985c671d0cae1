"""Plans of fifty operators, in a row or side by side, beside such of five; 500,000- and 2,000-row batches."""

from __future__ import annotations

from functools import partial

from benchmarks.aggregate import LARGE, SMALL, data
from benchmarks.common import batch_ms, in_turns, run_rekindle

FEW, MANY = 5, 50


def deep(operators: int) -> str:
    """Keyed aggregations, one above the other; each halves the keys, down to ten."""
    query = "SELECT k, COUNT(*) AS v FROM events GROUP BY k"
    keys = 10_000
    for _ in range(operators - 1):
        keys = max(keys // 2, 10)
        query = f"SELECT MOD(k, {keys}) AS k, SUM(v) AS v FROM ({query}) GROUP BY MOD(k, {keys})"
    sink = "CREATE TABLE o (k BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');"
    return f"{_events()} {sink} INSERT INTO o {query};"


def wide(operators: int) -> str:
    """Keyed aggregations of one source, each with a sink."""
    sinks = (
        f"CREATE TABLE o{n} (k BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');"
        for n in range(operators)
    )
    inserts = (
        f"INSERT INTO o{n} SELECT MOD(k, {n + 100}), SUM(v) FROM events GROUP BY MOD(k, {n + 100});"
        for n in range(operators)
    )
    return f"{_events()} {' '.join(sinks)} EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END;"


def _events() -> str:
    return f"""CREATE TABLE events (k BIGINT, v BIGINT)
      WITH ('connector' = 'filesystem', 'path' = '{data(10_000)}', 'format' = 'parquet');"""


def figures(rounds: int = 3) -> dict[str, float]:
    """Time of a micro-batch with many operators as a multiple of one with few; in turns, in both orders."""
    result: dict[str, float] = {}
    for name, script in (("deep", deep), ("wide", wide)):
        took = in_turns(rounds, {str(each): partial(run_rekindle, script(each)) for each in (FEW, MANY)})
        for rows in (LARGE, SMALL):
            few, many = (batch_ms(runs, rows) for runs in took.values())
            result[f"{name}, {rows:,}-row batches, ms with {MANY} operators"] = many
            result[f"{name}, {rows:,}-row batches, time of {MANY} operators against {FEW}"] = many / few
    return result
