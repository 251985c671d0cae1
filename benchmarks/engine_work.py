"""``python -m benchmarks.engine_work WORK``: runs it, with the code that this process finds first; prints its batches.

It uses only what 1.5 has, so that a release can be put beside today's code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from benchmarks import aggregate, join
from benchmarks.aggregate import data
from benchmarks.common import PARALLELISM, Batches
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.batch_job import job_of
from rekindle.spark.session import session

_EVENTS = """
    CREATE TABLE events (k BIGINT, v BIGINT)
      WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet');
"""


def five_stages() -> str:
    """Five keyed aggregations, one above the other."""
    query = "SELECT k, COUNT(*) AS v FROM events GROUP BY k"
    for modulus in (5_000, 2_000, 1_000, 500):
        query = f"SELECT MOD(k, {modulus}) AS k, SUM(v) AS v FROM ({query}) GROUP BY MOD(k, {modulus})"
    sink = "CREATE TABLE o (k BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');"
    return f"{_EVENTS.format(folder=data(10_000))} {sink} INSERT INTO o {query};"


def ten_sinks() -> str:
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
    return f"{_EVENTS.format(folder=data(10_000))} {' '.join(sinks)} {whole}"


WORK: dict[str, Callable[[], str]] = {
    "10,000 keys": lambda: aggregate.script(data(10_000)),
    "1,000,000 keys": lambda: aggregate.script(data(1_000_000)),
    "inner join": lambda: join.script(join.data("a"), join.data("b")),
    "five keyed stages": five_stages,
    "ten sinks": ten_sinks,
}


def run(text: str) -> Batches:
    """Run a script's statements to their end."""
    settings = {"execution.micro-batch.max-files": "1", "parallelism.default": str(PARALLELISM)}
    environment = TableEnvironment.create(settings, spark=session(PARALLELISM, {"spark.driver.memory": "6g"}))
    plan = environment.compile_script(text)
    job = job_of(plan.graph, plan.as_json_string(), environment.configuration, spark=environment.spark)
    job.start().wait()
    return job.batches()


if __name__ == "__main__":
    script = WORK[sys.argv[1]]()
    run(script)
    print(json.dumps(run(script)))
