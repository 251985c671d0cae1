"""Data, runs and figures that the benchmarks share."""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from rekindle.api.table_environment import TableEnvironment
from rekindle.spark.session import prepare, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_T = TypeVar("_T")

PARALLELISM = 2
DATA = Path(os.environ.get("REKINDLE_BENCH_DATA", Path(tempfile.gettempdir()) / "rekindle-bench"))
Batches = list[tuple[int, int]]
"""(rows, milliseconds) of each micro-batch that had rows."""


_STATE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def spark() -> SparkSession:
    """A session with the settings both sides run under, and what plain Spark should have for large state."""
    prepared = prepare(session(PARALLELISM, {"spark.driver.memory": "6g"}), PARALLELISM, {})
    prepared.conf.set("spark.sql.streaming.stateStore.providerClass", _STATE)
    prepared.conf.set("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    return prepared


def files(
    name: str,
    frames: Callable[[np.random.Generator], Sequence[pl.DataFrame]],
    write: Callable[[pl.DataFrame, Path], object] = pl.DataFrame.write_parquet,
) -> Path:
    """A folder of files (of Parquet, unless told), one micro-batch each, in modification-time order; made once."""
    folder = DATA / name
    if folder.exists():
        return folder
    hidden = folder.with_name(f".{name}")
    shutil.rmtree(hidden, ignore_errors=True)
    hidden.mkdir(parents=True)
    for number, frame in enumerate(frames(np.random.default_rng(1))):
        path = hidden / f"{number:03d}"
        write(frame, path)
        os.utime(path, (1e9 + number, 1e9 + number))
    hidden.rename(folder)
    return folder


def run_spark(query: DataFrame, mode: str) -> Batches:
    """Run plain Spark's query over all files."""
    checkpoint = tempfile.mkdtemp(prefix="bench-spark-")
    started = (
        query.writeStream.outputMode(mode)
        .format("noop")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    started.awaitTermination()
    shutil.rmtree(checkpoint, ignore_errors=True)
    return [(p.numInputRows, p.batchDuration) for p in started.recentProgress if p.numInputRows]


def run_rekindle(script: str, options: dict[str, str] | None = None) -> Batches:
    """Run a script's one INSERT to its end."""
    settings = {"execution.micro-batch.max-files": "1", "parallelism.default": str(PARALLELISM), **(options or {})}
    environment = TableEnvironment.create(settings, spark=session(PARALLELISM, {"spark.driver.memory": "6g"}))
    plan = environment.compile_script(script)
    result = environment.execute_plan(plan)
    result.await_()
    assert result.job is not None
    return result.job.batches()


def in_turns(rounds: int, sides: Mapping[str, Callable[[], _T]]) -> dict[str, list[_T]]:
    """What each side gives in each round; every other round they run in the opposite order."""
    given: dict[str, list[_T]] = {each: [] for each in sides}
    for number in range(rounds):
        for side in list(sides)[:: -1 if number % 2 else 1]:
            given[side].append(sides[side]())
    return given


def median(values: Sequence[float]) -> float:
    """Median, for figures of few runs on a noisy machine."""
    return statistics.median(values)


def batch_ms(runs: Sequence[Batches], rows: int) -> float:
    """Median milliseconds of the micro-batches with so many rows."""
    return median([ms for batches in runs for n, ms in batches if n == rows])


def machine() -> str:
    """What the figures were measured on."""
    return (
        f"{date.today().isoformat()}, {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    )
