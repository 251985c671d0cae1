"""What the driver holds while a job runs: the JVM's heap after a collection, and this process, early and at the end."""

from __future__ import annotations

import gc
import os
import time

from benchmarks.aggregate import data, script
from benchmarks.common import spark
from rekindle.table_environment import TableEnvironment

KEYS = 1_000_000


def figures() -> dict[str, float]:
    """Megabytes at the end of the job less those after a third of its micro-batches."""
    environment = TableEnvironment.create({"execution.micro-batch.max-files": "1"}, spark=spark())
    result = environment.execute_plan(environment.compile_script(script(data(KEYS))))
    job = result.job
    assert job is not None
    early, late = None, (0.0, 0.0)
    while not job.wait(0.1):
        progress = job.progress()
        if progress is not None and progress.batch_id >= 4:
            late = _held()
            early = early or late
            time.sleep(0.5)
    assert early is not None, "the job has ended before it was looked at"
    return {"JVM heap, MB more": late[0] - early[0], "driver process, MB more": late[1] - early[1]}


def _held() -> tuple[float, float]:
    jvm = spark().sparkContext._jvm
    assert jvm is not None
    jvm.System.gc()
    gc.collect()
    runtime = jvm.Runtime.getRuntime()
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return (runtime.totalMemory() - runtime.freeMemory()) / 2**20, pages * os.sysconf("SC_PAGE_SIZE") / 2**20
