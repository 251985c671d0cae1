"""A job goes on from a migrated savepoint with the rows of a job that was never cut."""

from __future__ import annotations

import json
import os
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.collect import clear, results
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.contents import read
from rekindle.savepoints.manifest import PLAN
from rekindle.savepoints.writer import SavepointWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE t (k STRING, v INT, d DECIMAL(10, 2))
  WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'json');
CREATE TABLE totals (k STRING, s INT, d DECIMAL(38, 2), n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'collect', 'name' = '{name}-totals');
CREATE TABLE counts (v INT, c BIGINT, PRIMARY KEY (v) NOT ENFORCED)
  WITH ('connector' = 'collect', 'name' = '{name}-counts');
CREATE TABLE copies (v INT) WITH ('connector' = 'collect', 'name' = '{name}-copies');
"""
TOTALS = "INSERT INTO totals SELECT k, SUM(v), SUM(d), COUNT(DISTINCT v) FROM t GROUP BY k;"
COUNTS = "INSERT INTO counts SELECT v, COUNT(*) FROM t GROUP BY v;"
COPIES = "INSERT INTO copies SELECT v + 1 FROM t WHERE v < 0;"
ROWS: list[tuple[str, int | None, str | None]] = [
    ("a", 1, "0.50"),
    ("b", 2, "1.25"),
    ("e", 3, "-7.00"),
    ("a", 1, "0.25"),
    ("c", 5, None),
]
MORE = [("a", 1, "1.00"), ("b", 4, "2.00"), ("e", None, "1.00"), ("d", 9, "0.01"), ("a", 2, None)]


@dataclass
class Runs:
    """A pipeline and the tables it fills."""

    spark: SparkSession
    folder: Path
    name: str

    def plan(self, inserts: str) -> CompiledPlan:
        environment = TableEnvironment.create({"table.optimizer.agg-phase-strategy": "ONE_PHASE"}, spark=self.spark)
        tables = TABLES.format(folder=self.folder, name=self.name)
        return environment.compile_script(f"{tables} EXECUTE STATEMENT SET BEGIN {inserts} END;")

    def run(self, plan: CompiledPlan, job: str, savepoint: Path | None = None, target: Path | None = None) -> StreamJob:
        options = {
            "execution.job-dir": str(self.folder / job),
            "execution.state-recovery.path": str(savepoint or ""),
            "parallelism.default": "2",
        }
        environment = TableEnvironment.create(options, spark=self.spark)
        text, configuration = plan.as_json_string(), environment.configuration
        started = StreamJob(plan.graph, text, configuration, spark=self.spark, savepoint_at_end=target).start()
        assert started.wait(120)
        return started

    def put(self, number: int, rows: list[tuple[str, int | None, str | None]]) -> None:
        file = self.folder / "t" / f"{number}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(json.dumps({"k": k, "v": v, "d": d}) + "\n" for k, v, d in rows))
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))

    def table(self, table: str) -> Mapping[object, tuple[object, ...]]:
        return {row[0]: row for kind, row in results(f"{self.name}-{table}") if kind in (0, 2)}


def _rewritten(rows: pd.DataFrame) -> pd.DataFrame:
    return rows


@pytest.mark.spark
def test_another_plan_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    runs = Runs(spark, tmp_path, uuid.uuid4().hex)
    runs.put(0, ROWS)
    old, new = runs.plan(COUNTS + TOTALS), runs.plan(COPIES + TOTALS)
    runs.run(old, "first", target=tmp_path / "old")
    saved = read(tmp_path / "old")
    counts, totals = dict.fromkeys(each.uid for each in saved.states)
    fresh = next(uid for node in new.graph.nodes for uid in node.uids() if uid.endswith("group-aggregate"))
    assert fresh != totals
    writer = SavepointWriter.from_existing_savepoint(tmp_path / "old").remove_operator(counts)
    writer.change_operator_identifier({totals: fresh})
    for state in saved.states:
        if state.uid == totals:
            writer.transform_state(f"{fresh}:{state.name}", _rewritten)
    edited = f"""UPDATE "{fresh}"."groupAggregateState" SET "EXPR$1$sum" = 100 WHERE k0 = 'a'"""
    writer.edit(edited).with_plan(new).with_max_parallelism(3).write(tmp_path / "there")
    (tmp_path / "there").rename(tmp_path / "new")
    runs.put(1, MORE)
    job = runs.run(CompiledPlan.from_file(tmp_path / "new" / PLAN), "second", savepoint=tmp_path / "new")
    assert {fate.fate for fate in job.fates} == {"restored"}
    rows = [*ROWS, *MORE]
    expected = {}
    for key in Counter(k for k, _, _ in rows):
        values = [v for k, v, _ in rows if k == key and v is not None]
        expected[key] = (key, sum(values), len(set(values)))
    found = runs.table("totals")
    assert {key: (row[0], row[1], row[3]) for key, row in found.items()} == expected
    assert {key: str(row[2]) for key, row in found.items()} == {
        "a": "101.00", "b": "3.25", "e": "-6.00", "c": "None", "d": "0.01",
    }  # fmt: skip
    for table in ("totals", "counts", "copies"):
        clear(f"{runs.name}-{table}")
