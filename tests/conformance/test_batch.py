"""Batch mode gives the rows that streams have at their end; a file `nobatch` says where it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.testing.programs import Program, discover, in_batch
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAMS = discover([Path(__file__).parent / "programs"])
# A few rows a program: compiling Java for them would take longer than anything else.
QUICK = {
    "execution.runtime-mode": "batch",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.mark.spark
def test_batch_gives_the_final_rows_of_the_stream(spark: SparkSession) -> None:
    results = run_programs(in_batch(PROGRAMS), Settings(QUICK, parallel=2, round_trip=True), spark=spark)
    failed = [line for each in results if each.verdict.outcome is Outcome.FAILED for line in lines_of(each)]
    assert not failed, "\n".join(failed)
    assert sum(each.verdict.outcome is Outcome.PASSED for each in results) >= 100


@pytest.mark.spark
@pytest.mark.long
def test_batch_cannot_where_a_program_says_so(spark: SparkSession) -> None:
    named = [each for each in PROGRAMS if each.not_in_batch is not None]
    results = run_programs(named, Settings(QUICK, parallel=2), spark=spark)
    assert [each.program.name for each in results if each.verdict.outcome is Outcome.PASSED] == []


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.not_in_batch is not None], ids=lambda p: p.name)
def test_reasons_are_sentences(program: Program) -> None:
    assert program.not_in_batch is not None
    assert program.not_in_batch.endswith(".")
    assert "\n" not in program.not_in_batch
