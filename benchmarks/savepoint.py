"""A savepoint of an aggregate's state while its job goes on, and a restore: a million keys, and five million."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.common import PARALLELISM, files
from plans.format.codec import encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.manifest import Manifest
from rekindle.spark.session import session

FILE_ROWS = 500_000
SIZES = tuple(int(each) for each in os.environ.get("REKINDLE_BENCH_KEYS", "1000000,5000000").split(","))
SCRIPT = """
    CREATE TABLE events (k BIGINT, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '{folder}',
      'format' = 'parquet', 'source.monitor-interval' = '1 s');
    CREATE TABLE totals (k BIGINT, s BIGINT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
    INSERT INTO totals SELECT k, SUM(v), COUNT(*) FROM events GROUP BY k;
"""


def figures() -> dict[str, float]:
    """Seconds, and growth of the driver's Python process in MB."""
    found: dict[str, float] = {}
    for keys in SIZES:
        found |= _measured(keys)
    return found


def _measured(keys: int) -> dict[str, float]:
    folder = Path(tempfile.mkdtemp(prefix="bench-savepoint-"))
    try:
        shutil.copytree(_input(keys), folder / "in")
        job = _start(folder, "first", "")
        _wait(job, keys // FILE_ROWS)
        memory = _memory()
        feeding = _Feed(folder / "in", keys)
        began, batches = time.perf_counter(), job.folder.committed_batch() or 0
        manifest = job.savepoint(folder / "savepoint")
        taken = time.perf_counter() - began
        went_on = (job.folder.committed_batch() or 0) - batches
        memory = _memory() - memory
        feeding.end()
        job.stop()
        assert _rows(manifest) == keys
        began = time.perf_counter()
        again = _start(folder, "second", str(folder / "savepoint"))
        _wait(again, 1)
        restored = time.perf_counter() - began
        again.stop()
    finally:
        shutil.rmtree(folder)
    size = sum(each.bytes for each in manifest.states) / 1e6
    return {
        f"{keys} keys, savepoint, s": taken,
        f"{keys} keys, batches meanwhile": went_on,
        f"{keys} keys, savepoint, MB": size,
        f"{keys} keys, growth of the driver, MB": memory,
        f"{keys} keys, restore and first batch, s": restored,
    }


def _input(keys: int) -> Path:
    def frames(rng: np.random.Generator) -> Sequence[pl.DataFrame]:
        return [_frame(part, rng) for part in np.array_split(rng.permutation(keys), keys // FILE_ROWS)]

    return files(f"savepoint-{keys}", frames)


def _frame(keys: np.ndarray[tuple[int], np.dtype[np.int64]], rng: np.random.Generator) -> pl.DataFrame:
    return pl.DataFrame({"k": keys.astype(np.int64), "v": rng.integers(0, 100, len(keys))})


def _start(folder: Path, name: str, savepoint: str) -> StreamJob:
    settings = {
        "execution.job-dir": str(folder / name),
        "execution.micro-batch.max-files": "1",
        "execution.state-recovery.path": savepoint,
        "parallelism.default": str(PARALLELISM),
    }
    spark = session(PARALLELISM, {"spark.driver.memory": "6g"})
    environment = TableEnvironment.create(settings, spark=spark)
    graph = environment.compile_script(SCRIPT.format(folder=folder / "in")).graph
    return StreamJob(graph, encode(graph), environment.configuration, spark=spark).start()


def _wait(job: StreamJob, batches: int) -> None:
    while (committed := job.folder.committed_batch()) is None or committed + 1 < batches:
        if job.wait(0.05):
            raise RuntimeError("the job has ended")


class _Feed:
    """A small file of known keys every second, until it is told to end."""

    def __init__(self, folder: Path, keys: int) -> None:
        self._folder, self._keys = folder, keys
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        rng, number = np.random.default_rng(2), 0
        while not self._ended.is_set():
            hidden = self._folder / f".{number}.parquet"
            _frame(rng.integers(0, self._keys, 2_000), rng).write_parquet(hidden)
            hidden.rename(self._folder / f"small-{number:04d}.parquet")
            number += 1
            self._ended.wait(1)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


def _rows(manifest: Manifest) -> int:
    (state,) = manifest.states
    return state.rows


def _memory() -> float:
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise RuntimeError("the kernel does not say how much memory the process has")
