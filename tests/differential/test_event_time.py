"""Random queries by event time: the default mode, the mode by rows and batch mode give the same rows.

Input falls into micro-batches at random. ``REKINDLE_DIFFERENTIAL`` says how many queries long runs try,
``REKINDLE_DIFFERENTIAL_SEED`` which.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import SqlError
from rekindle.api.table_environment import TableEnvironment
from rekindle.testing.compare import compare
from rekindle.testing.cut import MicroBatches, cut_program
from rekindle.testing.programs import Mode, Program
from rekindle.testing.runner import MODES, QUICK, SinkRows, execute
from tests.differential.timed_queries import TABLES, query, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_ONCE = 5
"""Queries of a statement set."""
QUERIES = int(os.environ.get("REKINDLE_DIFFERENTIAL", "300"))
FIRST = int(os.environ.get("REKINDLE_DIFFERENTIAL_SEED", "100"))


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(4))
def test_modes_agree(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """The last ones as statements of their own: what is shared cannot be filtered for one of its readers."""
    check(spark, tmp_path, seed, AT_ONCE if seed < 2 else 1)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("seed", range(FIRST, FIRST + (QUERIES + AT_ONCE - 1) // AT_ONCE))
def test_modes_agree_in_many(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    check(spark, tmp_path, seed, 1 if seed % 2 else AT_ONCE)


def check(spark: SparkSession, folder: Path, seed: int, queries: int) -> None:
    """Run a program of random queries in all modes."""
    random = Random(seed)
    write(random, folder)
    asked = {f"o{at}": query(random) for at in range(queries)}
    (folder / "program.sql").write_text(script(asked), encoding="utf-8")
    program = Program(folder, f"seed {seed}")
    expected = run(spark, program, Mode.BATCH)
    for mode in (Mode.DEFAULT, Mode.ROW):
        found = run(spark, program, mode, MicroBatches(seed))
        for sink, sql in asked.items():
            given = found[sink].materialized()
            difference = compare(expected[sink].materialized().rows, given.rows)
            told = "\n".join([f"seed {seed}, {mode} mode: {sql}", *difference.lines()])
            assert not given.missing, told
            assert not difference, told


def run(
    spark: SparkSession, program: Program, mode: Mode, micro_batches: MicroBatches | None = None
) -> Mapping[str, SinkRows]:
    """What reaches the sinks."""
    environment = TableEnvironment.create({**QUICK, **MODES[mode]}, spark=spark)
    pieces = cut_program(program, 1, micro_batches)
    if pieces is None:
        return execute(environment.compile_script(program.sql), environment, spark, 120)
    with pieces:
        return execute(environment.compile_script(pieces.sql), environment, spark, 120, pieces)


def script(queries: Mapping[str, str]) -> str:
    """Tables, sinks of the queries' types and a statement set."""
    session = TableEnvironment.create()
    session.execute_script(TABLES)
    sinks = []
    for name, sql in queries.items():
        try:
            (root,) = session.compile_plan_sql(sql).graph.roots()
        except SqlError as error:
            raise AssertionError(f"{sql}: {error}") from error
        columns = ", ".join(f"c{at} {field.type.regular()}" for at, field in enumerate(root.output_type.fields))
        sinks.append(f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'print');")
    inserts = (f"INSERT INTO {name} {sql};" for name, sql in queries.items())
    return "\n".join([TABLES, *sinks, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"])


def test_random_queries_are_queries(tmp_path: Path) -> None:
    """Both planners take them all."""
    session = {mode: TableEnvironment.create(MODES[mode]) for mode in (Mode.DEFAULT, Mode.BATCH)}
    for each in session.values():
        each.execute_script(TABLES)
    for seed in range(60):
        for each in session.values():
            each.compile_plan_sql(query(Random(seed)))
