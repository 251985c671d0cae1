"""Random queries over random changelogs: DuckDB's rows, from streams cut by savepoints and in batch mode.

``REKINDLE_DIFFERENTIAL`` says how many long runs try, ``REKINDLE_DIFFERENTIAL_SEED`` which; many run in one program.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.results.json_values import row_to_json
from rekindle.testing.programs import Program
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.differential.queries import Query, query
from tests.differential.tables import TABLES, judge, rows, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_ONCE = 6
"""Queries of a program; 25 take as long as four times six."""
QUERIES = int(os.environ.get("REKINDLE_DIFFERENTIAL", "5000"))
FIRST = int(os.environ.get("REKINDLE_DIFFERENTIAL_SEED", "100"))
BATCH = {"execution.runtime-mode": "batch"}
PARTS = {"table.optimizer.distinct-agg.split.enabled": "true", "table.optimizer.distinct-agg.split.bucket-num": "2"}
LEVELS = {**PARTS, "table.optimizer.incremental-agg-enabled": "false"}


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(5))
def test_streams_in_two_pieces(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """Every second time with groups in parts."""
    check(spark, tmp_path, seed, Settings(PARTS if seed % 2 else {}, parallel=1, cut=2))


@pytest.mark.spark
@pytest.mark.parametrize(
    "seed", [*range(5, 17), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(17, 53))]
)
def test_batch_mode(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    check(spark, tmp_path, seed, Settings(BATCH, parallel=1))


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (QUERIES + AT_ONCE - 1) // AT_ONCE))
def test_many(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    pieces = 2 + seed % 4
    ways = (
        Settings(parallel=1), Settings(parallel=1, cut=pieces), Settings(BATCH, parallel=1),
        Settings(PARTS, parallel=1, cut=pieces), Settings(LEVELS, parallel=1, cut=pieces),
    )  # fmt: skip
    check(spark, tmp_path, seed, ways[seed % len(ways)])


def check(spark: SparkSession, folder: Path, seed: int, settings: Settings) -> None:
    """Run a program of random queries."""
    random = Random(seed)
    queries: list[Query] = []
    while len(queries) < AT_ONCE:
        found = query(random)
        if settings.configuration != BATCH or (found.append and "DISTINCT v) OVER" not in found.sql):
            queries.append(found)
    tables = rows(random, random.randint(20, 60))
    write(folder, tables)
    session = TableEnvironment.create(settings.configuration)
    session.execute_script(TABLES)
    known, sinks, inserts = judge(tables), [], []
    for at, each in enumerate(queries):
        (root,) = session.compile_plan_sql(each.sql).graph.roots()
        types = [field.type.regular() for field in root.output_type.fields]
        columns = ", ".join(f"c{place} {type}" for place, type in enumerate(types))
        sinks.append(f"CREATE TABLE o{at} ({columns}) WITH ('connector' = 'print');")
        inserts.append(f"INSERT INTO o{at} {each.sql};")
        right = (json.dumps(row_to_json(row, types)) for row in known.execute(each.judge).fetchall())
        (folder / f"expected.o{at}.jsonl").write_text("".join(f"{row}\n" for row in right), encoding="utf-8")
    program = [TABLES, *sinks, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"]
    (folder / "program.sql").write_text("\n".join(program), encoding="utf-8")
    (result,) = run_programs([Program(folder, f"seed {seed}")], settings, spark=spark)
    wrong = [line for line in lines_of(result) if line]
    asked = [f"o{at}: {each.sql}" for at, each in enumerate(queries) if f"o{at}:" in "\n".join(wrong)]
    assert result.verdict.outcome is Outcome.PASSED, "\n".join([*wrong, *asked])
