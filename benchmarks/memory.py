"""What the driver holds while a job of 150 micro-batches runs: the JVM's heap after a collection, and this process."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence

import numpy as np
import polars as pl

from benchmarks.common import files, spark
from rekindle.api.table_environment import TableEnvironment

BATCHES, ROWS, KEYS, EVERY = 150, 2_000, 100_000, 10


def script(folder: str) -> str:
    return f"""
        CREATE TABLE events (k BIGINT, v BIGINT)
          WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'parquet');
        CREATE TABLE totals (k BIGINT, s BIGINT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED)
          WITH ('connector' = 'blackhole');
        INSERT INTO totals SELECT k, SUM(v), COUNT(*) FROM events GROUP BY k;
    """


def data() -> str:
    def frames(rng: np.random.Generator) -> Sequence[pl.DataFrame]:
        return [
            pl.DataFrame({"k": rng.integers(0, KEYS, ROWS), "v": rng.integers(0, 100, ROWS)}) for _ in range(BATCHES)
        ]

    return str(files("memory", frames))


def figures() -> dict[str, float]:
    """Megabytes: the least held in the last third of the job, less the least held in the first third.

    The least of several: what waits for its finalizer is still counted after one collection.
    """
    environment = TableEnvironment.create({"execution.micro-batch.max-files": "1"}, spark=spark())
    result = environment.execute_plan(environment.compile_script(script(data())))
    job = result.job
    assert job is not None
    held: list[tuple[float, float]] = []
    looked = -1
    while not job.wait(0.05):
        progress = job.progress()
        if progress is not None and progress.batch_id >= looked + EVERY:
            looked = progress.batch_id
            held.append(_held())
    third = len(held) // 3
    assert third >= 3, "the job has ended before it was looked at often enough"
    jvm, python = (
        min(column[-third:]) - min(column[:third]) for column in ([each[i] for each in held] for i in (0, 1))
    )
    return {"JVM heap, MB more": jvm, "driver process, MB more": python}


def _held() -> tuple[float, float]:
    jvm = spark().sparkContext._jvm
    assert jvm is not None
    jvm.System.gc()
    gc.collect()
    runtime = jvm.Runtime.getRuntime()
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return (runtime.totalMemory() - runtime.freeMemory()) / 2**20, pages * os.sysconf("SC_PAGE_SIZE") / 2**20
