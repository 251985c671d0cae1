"""TPC-H at scale 1: compiled plans against Spark's own SQL, in one session with the same settings."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.common import DATA, PARALLELISM
from examples.tpch.data import generate
from examples.tpch.run import QUERIES, compile_query, register, run_plan, run_spark
from rekindle.runtime.batch_job import BATCH_SETTINGS
from rekindle.spark.session import prepare, session

Side = tuple[dict[str, list[float]], Callable[[], object]]
"""Times by query, and what is timed."""


def figures(rounds: int = 2) -> dict[str, float]:
    """Time of the 22 queries over all rounds, in each of which the other side goes first, as a multiple of Spark's."""
    data = generate(float(os.environ.get("REKINDLE_BENCH_TPCH_SCALE", "1")), DATA)
    spark = prepare(session(PARALLELISM, {"spark.driver.memory": "6g"}), PARALLELISM, BATCH_SETTINGS)
    register(data, spark)
    ours: dict[str, list[float]] = {query: [] for query in QUERIES}
    theirs: dict[str, list[float]] = {query: [] for query in QUERIES}
    # The first query of a process pays for its start, whoever runs it.
    run_spark(QUERIES[0], spark)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for query in QUERIES:
                plan = Path(folder, f"{query}.json")
                compile_query(query, data).write_to_file(plan, force=True)
                sides: list[Side] = [(ours, lambda: run_plan(plan, spark)), (theirs, lambda: run_spark(query, spark))]  # noqa: B023
                # Who comes second finds the files in memory and the same operators compiled: that is worth a third.
                for times, run in sides if number % 2 else reversed(sides):
                    started = time.perf_counter()
                    run()
                    times[query].append(time.perf_counter() - started)
                print(f"tpch: {query}: {ours[query][-1]:.2f} s, Spark {theirs[query][-1]:.2f} s", flush=True)
    total, spark_total = (sum(map(sum, side.values())) / rounds for side in (ours, theirs))
    return {"seconds a round": total, "Spark's seconds a round": spark_total, "time": total / spark_total}
