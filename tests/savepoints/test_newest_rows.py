"""Batches of few keys over sections of many: what a savepoint sees of them, and a job that goes on from it."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from plans.format.codec import encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.collect import clear, results
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.reader import SavepointReader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYS, FEW = 40_000, 120
SCRIPT = """
CREATE TABLE events (k BIGINT, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'parquet');
CREATE TABLE totals (k BIGINT, s BIGINT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'collect', 'name' = '{name}');
INSERT INTO totals SELECT k, SUM(v), COUNT(*) FROM events GROUP BY k;
"""


def put(folder: Path, number: int, frame: pl.DataFrame) -> pl.DataFrame:
    folder.mkdir(exist_ok=True)
    path = folder / f"{number:02d}.parquet"
    frame.write_parquet(path)
    os.utime(path, (1e9 + number, 1e9 + number))
    return frame


def few(random: Random) -> pl.DataFrame:
    return pl.DataFrame({"k": random.sample(range(KEYS), FEW), "v": [random.randint(0, 99) for _ in range(FEW)]})


def totals(frames: list[pl.DataFrame]) -> dict[int, tuple[int, int]]:
    found = pl.concat(frames).group_by("k").agg(pl.col("v").sum(), pl.len())
    return {k: (s, c) for k, s, c in found.iter_rows()}


@pytest.mark.spark
def test_a_savepoint_has_the_newest_rows(spark: SparkSession, tmp_path: Path) -> None:
    random, events, name = Random(5), tmp_path / "events", uuid.uuid4().hex
    frames = [put(events, 0, pl.DataFrame({"k": range(KEYS), "v": [1] * KEYS}))]
    frames += [put(events, number, few(random)) for number in range(1, 4)]
    environment = TableEnvironment.create({}, spark=spark)
    plan = environment.compile_script(SCRIPT.format(path=events, name=name))

    def start(job: str, savepoint: Path | str, parallelism: int) -> StreamJob:
        options = {
            "execution.job-dir": str(tmp_path / job),
            "execution.micro-batch.max-files": "1",
            "execution.state-recovery.path": str(savepoint),
            "parallelism.default": str(parallelism),
        }
        configuration = TableEnvironment.create(options, spark=spark).configuration
        return StreamJob(plan.graph, encode(plan.graph), configuration, spark=spark).start()

    job = start("first", "", 2)
    job.wait()
    job.savepoint(tmp_path / "savepoint")
    (state,) = SavepointReader.read(tmp_path / "savepoint").manifest.states
    table = SavepointReader.read(tmp_path / "savepoint").table(state.title)
    keys, sums, counts = (table[column].to_pylist() for column in table.column_names)
    assert len(keys) == KEYS
    assert dict(zip(keys, zip(sums, counts, strict=True), strict=True)) == totals(frames)

    frames += [put(events, number, few(random)) for number in range(4, 6)]
    start("second", tmp_path / "savepoint", 3).wait()
    upserted = {row[0]: (row[1], row[2]) for kind, row in results(name) if kind in (0, 2)}
    assert upserted == totals(frames)
    clear(name)
