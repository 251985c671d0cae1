"""Programs that Flink has answered: Rekindle gives the same rows, refuses them too, or is listed as not able to yet.

Each runs once, in a way that is drawn (`matrix`). ``REKINDLE_SEED`` draws others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from rekindle.testing.programs import Program
from tests.conformance.matrix import SEED, SUPPORTED, Case, all_pairs, cases, covering, pairs
from tests.conformance.runs import problems
from tests.conformance.unsupported import PROGRAMS, listed, unsupported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = cases()


def test_the_list_of_unsupported_programs_is_right() -> None:
    """No program that once compiled may stop to; one that compiles now leaves the list (`make goldens`)."""
    assert {each.name for each in PROGRAMS if unsupported(each)} == listed()


def test_every_program_runs_once_and_every_two_properties_meet() -> None:
    assert sorted(each.name for case in CASES for each in case.programs) == sorted(each.name for each in SUPPORTED)
    assert all_pairs() - {pair for case in CASES for pair in pairs(case.way)} == set()


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_program(case: Case, spark: SparkSession, record_property: Callable[[str, object], None]) -> None:
    print(f"REKINDLE_SEED={SEED}: {case}")
    record_property("programs", [each.name for each in case.programs])
    assert problems(case, spark) == []


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("program", SUPPORTED, ids=lambda program: program.name)
def test_program_in_all_ways(program: Program, spark: SparkSession) -> None:
    """Every two properties meet in each program."""
    assert [line for case in covering(program) for line in problems(case, spark)] == []
