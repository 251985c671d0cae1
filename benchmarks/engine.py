"""Micro-batches over segments beside the engine of today and plain Spark, in one process: keys, joins, wide plans."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks import aggregate, join
from benchmarks.aggregate import LARGE, SMALL, data
from benchmarks.common import PARALLELISM, Batches, median
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.job import Job
from rekindle.runtime.stream_job import StreamJob
from rekindle.spark.session import session

ENGINES: dict[str, type[Job]] = {"today": StreamJob, "segments": StreamJob}
_EVENTS = """
    CREATE TABLE events (k BIGINT, v BIGINT)
      WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet');
"""


def run(engine: str, text: str) -> Batches:
    """Run a script's statements to their end."""
    settings = {"execution.micro-batch.max-files": "1", "parallelism.default": str(PARALLELISM)}
    environment = TableEnvironment.create(settings, spark=session(PARALLELISM, {"spark.driver.memory": "6g"}))
    plan = environment.compile_script(text)
    job = ENGINES[engine](plan.graph, plan.as_json_string(), environment.configuration, spark=environment.spark)
    job.start().wait()
    return job.batches()


def five_stages(folder: str) -> str:
    """Five keyed aggregations, one above the other."""
    query = "SELECT k, COUNT(*) AS v FROM events GROUP BY k"
    for modulus in (5_000, 2_000, 1_000, 500):
        query = f"SELECT MOD(k, {modulus}) AS k, SUM(v) AS v FROM ({query}) GROUP BY MOD(k, {modulus})"
    sink = "CREATE TABLE o (k BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');"
    return f"{_EVENTS.format(folder=folder)} {sink} INSERT INTO o {query};"


def ten_sinks(folder: str) -> str:
    """Ten aggregations of one source into ten sinks."""
    sinks = (
        f"CREATE TABLE o{n} (k BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');"
        for n in range(10)
    )
    inserts = (
        f"INSERT INTO o{n} SELECT MOD(k, {1000 * n + 1000}), SUM(v) FROM events GROUP BY MOD(k, {1000 * n + 1000});"
        for n in range(10)
    )
    whole = f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END;"
    return f"{_EVENTS.format(folder=folder)} {' '.join(sinks)} {whole}"


def figures(rounds: int = 3) -> dict[str, float]:
    """Milliseconds of a micro-batch as multiples of plain Spark's or, where that has no such query, of today's."""
    result: dict[str, float] = {}
    for keys in (10_000, 1_000_000):
        folder = data(keys)
        name = f"{keys:,} keys"
        result |= _beside(name, aggregate.script(folder), (LARGE, SMALL), rounds, partial(aggregate.plain, folder))
    sides = join.data("a"), join.data("b")
    sizes = 2 * join.LARGE, 2 * join.SMALL
    result |= _beside("inner join", join.script(*sides), sizes, rounds, lambda: join.plain(*sides))
    folder = data(10_000)
    result |= _beside("five keyed stages", five_stages(folder), (LARGE, SMALL), rounds, None)
    return result | _beside("ten sinks", ten_sinks(folder), (LARGE, SMALL), rounds, None)


def _beside(
    name: str, text: str, sizes: tuple[int, ...], rounds: int, plain: Callable[[], Batches] | None
) -> dict[str, float]:
    """Median times by rows of a micro-batch; engines take turns."""
    took: dict[str, Batches] = {each: [] for each in ("plain", *ENGINES) if each != "plain" or plain is not None}
    for number in range(rounds):
        for engine in list(took) if number % 2 == 0 else list(reversed(took)):
            took[engine] += plain() if engine == "plain" and plain is not None else run(engine, text)
    base, *others = took
    result = {}
    for rows in sizes:
        ms = {engine: median([each for n, each in batches if n == rows]) for engine, batches in took.items()}
        for engine in others:
            result[f"{name}, {rows:,}-row batches, {engine}, time against {base}"] = ms[engine] / ms[base]
    return result
