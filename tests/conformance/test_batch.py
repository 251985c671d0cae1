"""Batch mode gives the rows that streams have at their end; a file `nobatch` says where it cannot.

Programs without options and functions of their own run together, a group a test. Of each group it is drawn how its
nodes call their columns, and whether Spark generates code.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest

from rekindle.testing.programs import Mode, Program, in_batch
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.conformance.matrix import PLAIN, SEED, SUPPORTED, Case, can_share_options, draw, group
from tests.conformance.runs import problems
from tests.conformance.unsupported import PROGRAMS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUPS = group(in_batch(SUPPORTED), can_share_options)


def case(programs: tuple[Program, ...]) -> Case:
    """In what way a group runs."""
    random = Random(f"{SEED} {programs[0].name} batch")
    return Case(programs, {**PLAIN, "mode": Mode.BATCH.value, **draw(random, ("names", "code"))})


CASES = list(map(case, GROUPS))


def test_most_programs_run_in_batch() -> None:
    assert sum(len(each.programs) for each in CASES) >= 180


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_batch_gives_the_final_rows_of_the_stream(
    case: Case, spark: SparkSession, record_property: Callable[[str, object], None]
) -> None:
    record_property("programs in batch", [each.name for each in case.programs])
    assert problems(case, spark) == []


@pytest.mark.spark
@pytest.mark.long
def test_batch_cannot_where_a_program_says_so(spark: SparkSession) -> None:
    named = [each for each in PROGRAMS if each.not_in_batch is not None]
    results = run_programs(named, Settings(mode=Mode.BATCH, parallel=2), spark=spark)
    assert [each.program.name for each in results if each.verdict.outcome is Outcome.PASSED] == []


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.not_in_batch is not None], ids=lambda p: p.name)
def test_reasons_are_sentences(program: Program) -> None:
    assert program.not_in_batch is not None
    assert program.not_in_batch.endswith(".")
    assert "\n" not in program.not_in_batch
