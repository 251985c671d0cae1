"""The engine of micro-batches over segments beside today's and plain Spark's, in one process: SUM and COUNT by key."""

from __future__ import annotations

from benchmarks.aggregate import LARGE, SMALL, data, plain, script
from benchmarks.common import PARALLELISM, Batches, median
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.job import Job
from rekindle.runtime.micro_batch_job import MicroBatchJob
from rekindle.runtime.stream_job import StreamJob
from rekindle.spark.session import session

ENGINES: dict[str, type[Job]] = {"today": StreamJob, "segments": MicroBatchJob}


def run(engine: str, text: str) -> Batches:
    """Run a script's one INSERT to its end."""
    settings = {"execution.micro-batch.max-files": "1", "parallelism.default": str(PARALLELISM)}
    environment = TableEnvironment.create(settings, spark=session(PARALLELISM, {"spark.driver.memory": "6g"}))
    plan = environment.compile_script(text)
    job = ENGINES[engine](plan.graph, plan.as_json_string(), environment.configuration, spark=environment.spark)
    job.start().wait()
    return job.batches()


def figures(rounds: int = 3) -> dict[str, float]:
    """Milliseconds of a micro-batch as multiples of plain Spark's."""
    result = {}
    for keys in (10_000, 1_000_000):
        folder = data(keys)
        took: dict[str, Batches] = {"plain": [], "today": [], "segments": []}
        for number in range(rounds):
            order = list(took) if number % 2 == 0 else list(reversed(took))
            for engine in order:
                took[engine] += plain(folder) if engine == "plain" else run(engine, script(folder))
        for rows in (LARGE, SMALL):
            ms = {engine: median([each for n, each in batches if n == rows]) for engine, batches in took.items()}
            for engine in ENGINES:
                result[f"{keys:,} keys, {rows:,}-row batches, {engine}, time"] = ms[engine] / ms["plain"]
    return result
