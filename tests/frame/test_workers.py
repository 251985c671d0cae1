"""Spark's Python workers: what they need is loaded before they are forked, and works in the forks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="workers of other systems load by themselves")
_FORKS = """
import os, sys
from rekindle.spark.workers import load_ahead
load_ahead()
for _ in range(8):
    if not os.fork():
        import numpy as np, polars as pl, pyarrow as pa
        rows = pl.DataFrame({"k": np.arange(9_999) % 7, "v": np.arange(9_999)})
        sums = rows.group_by("k").agg(pl.col("v").sum()).join(rows, on="k").lazy().filter(pl.col("v") > 0).collect()
        groups = pa.table({"k": [1, 2, 1]}).group_by("k").aggregate([("k", "count")])
        square = np.ones((300, 300)) @ np.ones((300, 300))
        os._exit(0 if (sums.height, groups.num_rows, square[0, 0]) == (9_999, 2, 300) else 1)
sys.exit(sum(os.wait()[1] for _ in range(8)))
"""


def test_what_is_loaded_ahead_works_in_forks() -> None:
    """A library that has locks, or threads, when it is loaded would stand still here."""
    ended = subprocess.run([sys.executable, "-W", "error", "-c", _FORKS], timeout=120, check=False)
    assert ended.returncode == 0


_RANDOM = """
import os, sys
from rekindle.spark.workers import load_ahead
load_ahead()
import random
import numpy as np
np.random.rand(), random.random()
for _ in range(3):
    if not os.fork():
        print(np.random.rand(), random.random(), flush=True)
        os._exit(0)
    os.wait()
"""


@LINUX
def test_each_fork_has_random_numbers_of_its_own() -> None:
    ended = subprocess.run([sys.executable, "-c", _RANDOM], capture_output=True, text=True, timeout=120, check=True)
    rows = [line.split() for line in ended.stdout.splitlines()]
    assert [len(set(column)) for column in zip(*rows, strict=True)] == [3, 3]


@pytest.mark.spark
@LINUX
def test_workers_share_what_they_need(spark: SparkSession) -> None:
    def loaded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for _ in batches:
            with open(f"/proc/{os.getppid()}/maps") as parent:
                maps = parent.read()
            names = [each for each in ("polars", "arrow", "pandas") if each in maps]
            yield pa.RecordBatch.from_pydict({"names": names})

    rows = spark.range(0, 1, 1, 1).mapInArrow(loaded, "names STRING").collect()
    assert [name for (name,) in rows] == ["polars", "arrow", "pandas"]
